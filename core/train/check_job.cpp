// SPDX-License-Identifier: Apache-2.0
#include "core/train/check_job.h"

#include <filesystem>

#include "core/model/adapter_files.h"
#include "core/model/adapter_start.h"
#include "core/model/check_model.h"
#include "core/model/compute_choice.h"
#include "core/model/weight_source.h"
#include "core/train/adapter_settings.h"
#include "core/train/epoch_batches.h"
#include "core/train/plan.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

void require_data(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(ErrorCode::not_found, "There is no such data set", path, "Check the path");
}

}  // namespace

CheckedJob check_job(const Job& job, const std::string& adapter_folder) {
  const Settings& settings = job.settings;
  require_settings_that_agree(settings);
  require_data(job.data_path);
  if (!settings.eval_data.empty()) require_data(settings.eval_data);
  CheckedJob checked;
  checked.spec = read_model_spec(job.model_path);
  const auto source = open_weight_source(job.model_path);
  require_complete_model(checked.spec, *source);
  if (!adapter_folder.empty()) {
    check_carried(checked.spec, adapter_folder, settings);
    adapter_weights_path(adapter_folder);
    require_fitting_base(read_adapter_notes(adapter_folder), settings.quantization, adapter_folder);
  } else {
    require_loftq(*source, checked.spec, settings);
  }
  adapted_modules(checked.spec, settings.targets);
  choose_format(checked.spec, settings, adapter_folder, load_tokenizer(job.model_path));
  checked.backend = make_backend_for(settings);
  require_model(checked.spec, *checked.backend);
  checked.compute = resolved_compute(settings, *checked.backend);
  return checked;
}

}  // namespace lorikeet

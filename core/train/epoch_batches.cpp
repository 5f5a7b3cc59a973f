// SPDX-License-Identifier: Apache-2.0
#include "core/train/epoch_batches.h"

#include "core/data/known_columns.h"
#include "core/data/length_groups.h"
#include "kernels/base/error.h"

namespace lorikeet {

BatchPlan epoch_batches(const std::vector<TokenRow>& rows, const Settings& settings, std::int64_t epoch,
                        std::int64_t max_length) {
  auto order = epoch_order(std::ssize(rows), settings.seed, epoch, settings.shuffle);
  if (settings.group_by_length)
    order = grouped_by_length(rows, order, settings.batch_size * settings.accumulation);
  return plan_batches(rows, order, settings.batch_size, max_length, settings.packing);
}

void require_settings_that_agree(const Settings& settings) {
  if (settings.group_by_length && settings.packing) {
    throw Error(ErrorCode::invalid_argument,
                "Packing lays rows of any length together: there is nothing to group", "group-by-length",
                "Set packing to false, or leave group-by-length away");
  }
  if (settings.early_stop > 0 && settings.eval_fraction == 0 && settings.eval_data.empty()) {
    throw Error(ErrorCode::invalid_argument, "Without evaluation nothing tells when to stop early",
                "early-stop", "Set eval-fraction or eval-data, or leave early-stop away");
  }
  parse_columns(settings.columns);
}

}  // namespace lorikeet

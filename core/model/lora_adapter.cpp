// SPDX-License-Identifier: Apache-2.0
#include "core/model/lora_adapter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/atomic_folder.h"
#include "core/base/files.h"
#include "core/model/adapter_tensors.h"
#include "core/model/safetensors.h"
#include "core/train/plan.h"
#include "core/train/settings.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

/// Lays the modules out one after the other, A before B before m, in one block.
std::vector<LoraModule> place_modules(const std::vector<AdapterModule>& modules, bool dora, Backend& backend,
                                      Tensor& block) {
  std::int64_t count = 0;
  for (const AdapterModule& module : modules)
    count += module.rank * (module.in + module.out) + (dora ? module.out : 0);
  block = backend.allocate({count}, DType::f32);
  float* next = block.view().as<float>();
  std::vector<LoraModule> placed;
  for (const AdapterModule& module : modules) {
    LoraModule lora{module.layer, module.name, module.rank, module.in, module.out,
                    module.scale, {},          {},          {},        module.rows};
    lora.a = {next, DType::f32, {module.rank, module.in}};
    next += module.rank * module.in;
    lora.b = {next, DType::f32, {module.out, module.rank}};
    next += module.out * module.rank;
    if (dora) {
      lora.m = {next, DType::f32, {module.out}};
      next += module.out;
    }
    placed.push_back(std::move(lora));
  }
  return placed;
}

std::string tensor_name(const LoraModule& module, char part) {
  return AdapterModule{module.layer, module.name, 0, 0, 0, 0, {}}.tensor_name(part);
}

}  // namespace

LoraAdapter LoraAdapter::create(Backend& backend, const ModelSpec& spec, const Settings& settings) {
  LoraAdapter adapter;
  adapter.config_.rank = settings.rank;
  adapter.config_.alpha = settings.alpha;
  adapter.config_.dropout = settings.dropout;
  adapter.config_.rslora = settings.rslora;
  adapter.config_.dora = settings.dora;
  adapter.config_.base_name = spec.name;
  for (const LinearModule& module : adapted_modules(spec, settings.targets)) {
    adapter.config_.targets.names.push_back(module.name.substr(module.name.rfind('.') + 1));
  }
  adapter.modules_ =
      place_modules(adapter_modules(spec, adapter.config_), settings.dora, backend, adapter.parameters_);
  backend.fill_zero(adapter.parameters_);
  for (std::size_t i = 0; i < adapter.modules_.size(); ++i) {
    const LoraModule& module = adapter.modules_[i];
    RandomStream random({.seed = settings.seed, .row = i, .use = RandomUse::lora_init});
    const double bound = 1.0 / std::sqrt(static_cast<double>(module.in));
    std::vector<float> values(static_cast<std::size_t>(module.rank * module.in));
    for (float& value : values) value = static_cast<float>((2 * random.next_uniform() - 1) * bound);
    backend.upload(module.a, values.data());
  }
  return adapter;
}

LoraAdapter LoraAdapter::load(Backend& backend, const ModelSpec& spec, const std::string& folder) {
  LoraAdapter adapter;
  adapter.config_ = read_adapter_config(folder);
  adapter.notes_ = read_adapter_notes(folder);
  const AdapterTensors tensors(folder, spec, adapter.config_);
  adapter.modules_ = place_modules(tensors.modules(), adapter.config_.dora, backend, adapter.parameters_);
  for (std::size_t i = 0; i < adapter.modules_.size(); ++i) {
    backend.upload(adapter.modules_[i].a, tensors.read(tensors.modules()[i], 'A').data());
    backend.upload(adapter.modules_[i].b, tensors.read(tensors.modules()[i], 'B').data());
    if (adapter.config_.dora)
      backend.upload(adapter.modules_[i].m, tensors.read(tensors.modules()[i], 'M').data());
  }
  return adapter;
}

void LoraAdapter::save(Backend& backend, const std::string& folder, const AdapterNotes& notes) const {
  AtomicFolder target(folder);
  std::map<std::string, TensorView> tensors;
  std::vector<SafetensorsPlan> plan;
  for (const LoraModule& module : modules_) {
    for (const auto& [part, view] : {std::pair{'A', module.a}, {'B', module.b}, {'M', module.m}}) {
      if (!view) continue;
      std::vector<std::int64_t> shape = {view.shape[0]};
      if (view.shape.rank() == 2) shape.push_back(view.shape[1]);
      tensors[tensor_name(module, part)] = view;
      plan.push_back({tensor_name(module, part), "F32", std::move(shape)});
    }
  }
  const std::string weights = target.folder() + "/adapter_model.safetensors";
  SafetensorsWriter writer(weights, plan_safetensors(std::move(plan)));
  std::vector<float> values;
  for (const SafetensorsEntry& entry : writer.layout().tensors) {
    const TensorView view = tensors.at(entry.name);
    values.resize(static_cast<std::size_t>(view.elements()));
    backend.download(values.data(), view);
    writer.write(std::as_bytes(std::span(values)));
  }
  writer.commit();
  write_file_atomically(target.folder() + "/adapter_config.json", adapter_config_text(config_));
  write_file_atomically(target.folder() + "/lorikeet.json", adapter_notes_text(notes));
  write_file_atomically(target.folder() + "/README.md", adapter_card_text(config_, notes));
  // Read back what was written: an adapter without its tensors is worse than an error now.
  if (SafetensorsFile(weights).tensors().size() != tensors.size()) {
    throw Error(ErrorCode::io, "The adapter was not written completely", weights);
  }
  target.commit(true);
}

const LoraModule* LoraAdapter::find(std::int64_t layer, const std::string& name) const {
  const auto found = std::find_if(modules_.begin(), modules_.end(), [&](const LoraModule& module) {
    return module.layer == layer && module.name == name;
  });
  return found == modules_.end() ? nullptr : &*found;
}

LoraBranch LoraAdapter::branch(std::int64_t layer, std::size_t role) const {
  for (const LoraModule& module : modules_) {
    if (module.layer != layer) continue;
    for (const LinearRows& rows : module.rows) {
      if (rows.role != role) continue;
      return {&module, rows.first, module.a, module.b.row_range(rows.first, rows.count),
              module.m ? module.m.row_range(rows.first, rows.count) : TensorView{}};
    }
  }
  return {};
}

std::int64_t LoraAdapter::largest_rank(std::size_t role) const {
  std::int64_t largest = 0;
  for (const LoraModule& module : modules_) {
    for (const LinearRows& rows : module.rows) {
      if (rows.role == role) largest = std::max(largest, module.rank);
    }
  }
  return largest;
}

std::int64_t LoraAdapter::parameter_count() const {
  return parameters_.view().elements();
}

}  // namespace lorikeet

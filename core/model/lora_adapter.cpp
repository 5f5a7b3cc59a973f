// SPDX-License-Identifier: Apache-2.0
#include "core/model/lora_adapter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/atomic_folder.h"
#include "core/base/files.h"
#include "core/model/safetensors.h"
#include "core/model/storage.h"
#include "core/train/plan.h"
#include "core/train/settings.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

/// Lays the modules out one after the other, A before B, in one block.
std::vector<LoraModule> place_modules(const std::vector<AdapterModule>& modules, Backend& backend,
                                      Tensor& block) {
  std::int64_t count = 0;
  for (const AdapterModule& module : modules) count += module.rank * (module.in + module.out);
  block = backend.allocate({count}, DType::f32);
  float* next = block.view().as<float>();
  std::vector<LoraModule> placed;
  for (const AdapterModule& module : modules) {
    LoraModule lora{module.layer, module.name, module.rank, module.in, module.out, module.scale, {}, {}};
    lora.a = {next, DType::f32, {module.rank, module.in}};
    next += module.rank * module.in;
    lora.b = {next, DType::f32, {module.out, module.rank}};
    next += module.out * module.rank;
    placed.push_back(std::move(lora));
  }
  return placed;
}

std::string tensor_name(const LoraModule& module, char half) {
  return AdapterModule{module.layer, module.name, 0, 0, 0, 0}.tensor_name(half);
}

StorageType storage_type(const SafetensorsEntry& entry, const std::string& where) {
  const std::string_view name = entry.dtype->name;
  if (name == "F32") return StorageType::f32;
  if (name == "F16") return StorageType::f16;
  if (name == "BF16") return StorageType::bf16;
  throw Error(ErrorCode::unsupported, "Adapter tensors stored as " + std::string(name) + " cannot be read",
              where);
}

void load_tensor(Backend& backend, const SafetensorsFile& file, const std::string& name, TensorView to) {
  const std::string where = file.path() + ": " + name;
  const SafetensorsEntry* entry = file.find(name);
  if (!entry)
    throw Error(ErrorCode::bad_format, "The adapter lacks a tensor that its configuration asks for", where);
  if (entry->shape != std::vector<std::int64_t>{to.shape[0], to.shape[1]}) {
    const auto text = [](std::int64_t a, std::int64_t b) {
      return std::to_string(a) + " x " + std::to_string(b);
    };
    const bool matrix = entry->shape.size() == 2;
    throw Error(ErrorCode::bad_format,
                "The tensor is " +
                    (matrix ? text(entry->shape[0], entry->shape[1]) : std::string("no matrix")) +
                    ", this base model and rank need " + text(to.shape[0], to.shape[1]),
                where, "Check that the adapter was made for this base model");
  }
  std::vector<float> values(static_cast<std::size_t>(to.elements()));
  read_elements(storage_type(*entry, where), file.bytes(*entry), 0, values);
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw Error(ErrorCode::numeric, "The adapter holds a value that is not finite", where);
  }
  backend.upload(to, values.data());
  file.forget(*entry);
}

/// A tensor that belongs to no module would change the model in a way that is not honoured.
void refuse_other_tensors(const SafetensorsFile& file, const std::set<std::string>& used,
                          std::int64_t layers) {
  for (const SafetensorsEntry& entry : file.tensors()) {
    if (used.count(entry.name) || entry.name.find(".base_layer.") != std::string::npos) continue;
    const auto has = [&](const char* part) { return entry.name.find(part) != std::string::npos; };
    const std::string where = file.path() + ": " + entry.name;
    if (has("lora_magnitude_vector"))
      throw Error(ErrorCode::unsupported, "DoRA adapters cannot be used yet", where);
    if (has("lora_embedding_"))
      throw Error(ErrorCode::unsupported, "An adapted embedding cannot be used yet", where);
    if (has("lora_B.bias")) throw Error(ErrorCode::unsupported, "Trained biases cannot be used yet", where);
    if (has(".lora_A.") || has(".lora_B.")) {
      throw Error(ErrorCode::bad_format,
                  "The adapter changes a layer that this base model (" + std::to_string(layers) +
                      " layers) or the configuration lacks",
                  where, "Check that the adapter was made for this base model");
    }
    throw Error(ErrorCode::unsupported, "A module trained as a whole cannot be used yet", where,
                "Merge it into the base model with PEFT and use the merged model");
  }
}

}  // namespace

LoraAdapter LoraAdapter::create(Backend& backend, const ModelSpec& spec, const Settings& settings) {
  LoraAdapter adapter;
  adapter.config_.rank = settings.rank;
  adapter.config_.alpha = settings.alpha;
  adapter.config_.dropout = settings.dropout;
  adapter.config_.rslora = settings.rslora;
  adapter.config_.base_name = spec.name;
  for (const LinearModule& module : adapted_modules(spec, settings.targets)) {
    adapter.config_.targets.names.push_back(module.name.substr(module.name.rfind('.') + 1));
  }
  adapter.modules_ = place_modules(adapter_modules(spec, adapter.config_), backend, adapter.parameters_);
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
  const std::vector<AdapterModule> modules = adapter_modules(spec, adapter.config_);
  const SafetensorsFile file(adapter_weights_path(folder));
  std::set<std::string> used;
  for (const AdapterModule& module : modules) {
    used.insert(module.tensor_name('A'));
    used.insert(module.tensor_name('B'));
  }
  refuse_other_tensors(file, used, spec.layers);
  adapter.modules_ = place_modules(modules, backend, adapter.parameters_);
  for (const LoraModule& module : adapter.modules_) {
    load_tensor(backend, file, tensor_name(module, 'A'), module.a);
    load_tensor(backend, file, tensor_name(module, 'B'), module.b);
  }
  return adapter;
}

void LoraAdapter::save(Backend& backend, const std::string& folder, const AdapterNotes& notes) const {
  AtomicFolder target(folder);
  std::map<std::string, TensorView> tensors;
  std::vector<SafetensorsPlan> plan;
  for (const LoraModule& module : modules_) {
    for (const char half : {'A', 'B'}) {
      const TensorView view = half == 'A' ? module.a : module.b;
      tensors[tensor_name(module, half)] = view;
      plan.push_back({tensor_name(module, half), "F32", {view.shape[0], view.shape[1]}});
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
  write_file_atomically(target.folder() + "/README.md", adapter_card_text(config_));
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

std::int64_t LoraAdapter::parameter_count() const {
  return parameters_.view().elements();
}

}  // namespace lorikeet

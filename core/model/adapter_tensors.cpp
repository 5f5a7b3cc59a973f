// SPDX-License-Identifier: Apache-2.0
#include "core/model/adapter_tensors.h"

#include <algorithm>
#include <cmath>

#include "core/model/storage.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr const char* other_base = "Check that the adapter was made for this base model";

}  // namespace

AdapterTensors::AdapterTensors(const std::string& folder, const ModelSpec& spec, const AdapterConfig& config)
    : modules_(adapter_modules(spec, config)), file_(adapter_weights_path(folder)) {
  const std::string_view parts = config.dora ? "ABM" : "AB";
  std::set<std::string> used;
  for (const AdapterModule& module : modules_) {
    for (const char part : parts) used.insert(name_of(module, part));
  }
  refuse_others(used, spec.layers);
  for (const AdapterModule& module : modules_) {
    for (const char part : parts) check(module, part);
  }
}

std::string AdapterTensors::name_of(const AdapterModule& module, char part) const {
  const std::string name = module.tensor_name(part);
  for (const char* ending : {"", ".weight", ".default.weight", ".default"}) {
    if (file_.find(name + ending)) return name + ending;
    if (part != 'M') break;
  }
  return {};
}

void AdapterTensors::check(const AdapterModule& module, char part) const {
  const std::string name = name_of(module, part), where = file_.path() + ": " + module.tensor_name(part);
  if (name.empty())
    throw Error(ErrorCode::bad_format, "The adapter lacks a tensor that its configuration asks for", where);
  const SafetensorsEntry* entry = file_.find(name);
  const std::vector<std::int64_t> wanted = part == 'A'   ? std::vector{module.rank, module.in}
                                           : part == 'B' ? std::vector{module.out, module.rank}
                                                         : std::vector{module.out};
  if (entry->shape != wanted) {
    throw Error(
        ErrorCode::bad_format,
        "The tensor is " + shape_text(entry->shape) + ", this base model and rank need " + shape_text(wanted),
        where, other_base);
  }
  if (storage_type_of(entry->dtype->name) == StorageType::other) {
    throw Error(ErrorCode::unsupported,
                "Adapter tensors stored as " + std::string(entry->dtype->name) + " cannot be read", where);
  }
}

/// A tensor that belongs to no module would change the model in a way that is not honoured.
void AdapterTensors::refuse_others(const std::set<std::string>& used, std::int64_t layers) const {
  for (const SafetensorsEntry& entry : file_.tensors()) {
    if (used.count(entry.name) || entry.name.find(".base_layer.") != std::string::npos) continue;
    const auto has = [&](const char* part) { return entry.name.find(part) != std::string::npos; };
    const std::string where = file_.path() + ": " + entry.name;
    if (has("lora_magnitude_vector"))
      throw Error(
          ErrorCode::bad_format,
          "The adapter has a magnitude (DoRA) of a layer that this base model or the configuration lacks",
          where, "use_dora in adapter_config.json says whether magnitudes are used");
    if (has("lora_embedding_"))
      throw Error(ErrorCode::unsupported, "An adapted embedding cannot be used yet", where);
    if (has("lora_B.bias")) throw Error(ErrorCode::unsupported, "Trained biases cannot be used yet", where);
    if (has(".lora_A.") || has(".lora_B.")) {
      throw Error(ErrorCode::bad_format,
                  "The adapter changes a layer that this base model (" + std::to_string(layers) +
                      " layers) or the configuration lacks",
                  where, other_base);
    }
    throw Error(ErrorCode::unsupported, "A module trained as a whole cannot be used yet", where,
                "Merge it into the base model with PEFT and use the merged model");
  }
}

std::vector<float> AdapterTensors::read(const AdapterModule& module, char part) const {
  const std::string name = name_of(module, part), where = file_.path() + ": " + name;
  const SafetensorsEntry& entry = *file_.find(name);
  const StorageType type = storage_type_of(entry.dtype->name);
  std::vector<float> values(entry.bytes() / static_cast<std::uint64_t>(block_bytes(type)));
  read_elements(type, file_.bytes(entry), 0, values);
  if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); })) {
    throw Error(ErrorCode::numeric, "The adapter holds a value that is not finite", where);
  }
  file_.forget(entry);
  return values;
}

}  // namespace lorikeet

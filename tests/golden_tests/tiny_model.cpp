// SPDX-License-Identifier: Apache-2.0
#include "tests/golden_tests/tiny_model.h"

#include <algorithm>
#include <stdexcept>

#include "core/model/weight_source.h"
#include "tests/support/golden.h"

namespace lorikeet::golden {

namespace {

std::string whole_path(const std::string& folder) {
  return folder.starts_with('/') ? folder : path(folder);
}

}  // namespace

TinyModel::TinyModel(const std::string& folder, int threads, WeightFormat format, std::int64_t positions)
    : backend_(make_backend({.device = "cpu", .threads = threads})),
      spec_(read_model_spec(whole_path(folder))) {
  const auto source = open_weight_source(whole_path(folder));
  base_ = std::make_unique<BaseModel>(BaseModel::load(*backend_, spec_, *source, format, WeightFormat::f32));
  base_->prepare_positions(positions > 0 ? positions : spec_.context);
}

Transformer TinyModel::transformer(const LoraAdapter* adapter, std::int64_t max_tokens, bool keep) {
  Transformer::Options options;
  options.compute = DType::f32;
  options.max_tokens = max_tokens;
  options.keep.assign(static_cast<std::size_t>(spec_.layers), keep);
  return Transformer(*base_, adapter, options);
}

std::vector<float> TinyModel::logits(const LoraAdapter* adapter, const std::vector<TokenId>& ids,
                                     const std::vector<std::int32_t>& positions) {
  Transformer model = transformer(adapter, static_cast<std::int64_t>(ids.size()));
  return picked_rows(model.logits(make_batch({plain_row(ids)}, {0})), spec_.vocab_size, positions);
}

TokenRow plain_row(const std::vector<TokenId>& ids) {
  TokenRow row;
  row.ids = ids;
  row.targets.assign(ids.size(), -1);
  return row;
}

std::vector<float> picked_rows(const std::vector<float>& all, std::int64_t width,
                               const std::vector<std::int32_t>& rows) {
  std::vector<float> picked;
  for (const std::int32_t row : rows) {
    const auto first = all.begin() + row * width;
    picked.insert(picked.end(), first, first + width);
  }
  return picked;
}

std::string peft_name(const LoraModule& module, char part) {
  const std::string layer =
      "base_model.model.model.layers." + std::to_string(module.layer) + "." + module.name;
  return part == 'M' ? layer + ".lora_magnitude_vector" : layer + ".lora_" + part + ".weight";
}

std::string parts_of(const LoraModule& module) {
  return module.m ? "ABM" : "AB";
}

std::vector<float> module_values(Backend& backend, const LoraAdapter& adapter, TensorView block,
                                 const LoraModule& module, char part) {
  const TensorView& view = part == 'A' ? module.a : part == 'B' ? module.b : module.m;
  const auto offset = view.as<float>() - adapter.parameters().as<float>();
  TensorView here = view;
  here.data = block.as<float>() + offset;
  std::vector<float> host(static_cast<std::size_t>(view.elements()));
  backend.download(host.data(), here);
  return host;
}

}  // namespace lorikeet::golden

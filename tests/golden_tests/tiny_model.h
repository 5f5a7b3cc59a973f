// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/data/packing.h"
#include "core/model/base_model.h"
#include "core/model/lora_adapter.h"
#include "core/model/transformer.h"

namespace lorikeet::golden {

/// A model folder, of tests/golden unless the path is absolute, resident on the CPU, linear layers in
/// `format`, everything else in f32. Tables of positions reach the model's context, or `positions`.
class TinyModel {
 public:
  explicit TinyModel(const std::string& folder, int threads = 1, WeightFormat format = WeightFormat::f32,
                     std::int64_t positions = 0);

  Backend& backend() { return *backend_; }
  const ModelSpec& spec() const { return spec_; }
  BaseModel& base() { return *base_; }
  /// A Transformer in f32 for up to `max_tokens`; all layers kept or all recomputed.
  Transformer transformer(const LoraAdapter* adapter, std::int64_t max_tokens, bool keep = true);
  /// Logits of the positions, (positions, V) row-major, of one sequence.
  std::vector<float> logits(const LoraAdapter* adapter, const std::vector<TokenId>& ids,
                            const std::vector<std::int32_t>& positions);

 private:
  std::unique_ptr<Backend> backend_;
  ModelSpec spec_;
  std::unique_ptr<BaseModel> base_;
};

/// A row that trains nothing.
TokenRow plain_row(const std::vector<TokenId>& ids);

/// Rows [first, first + count) of `all`, (?, width) row-major.
std::vector<float> picked_rows(const std::vector<float>& all, std::int64_t width,
                               const std::vector<std::int32_t>& rows);

/// The name PEFT gives to a tensor of a module: part is 'A', 'B' or 'M' (DoRA's magnitude).
std::string peft_name(const LoraModule& module, char part);

/// The parts a module has: "AB", or "ABM" with DoRA.
std::string parts_of(const LoraModule& module);

/// A module's part out of a block laid out as adapter.parameters() (parameters or gradients), downloaded.
std::vector<float> module_values(Backend& backend, const LoraAdapter& adapter, TensorView block,
                                 const LoraModule& module, char part);

}  // namespace lorikeet::golden

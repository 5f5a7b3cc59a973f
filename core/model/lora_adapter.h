// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/adapter_files.h"
#include "core/model/model_spec.h"
#include "kernels/tensor.h"

namespace lorikeet {

class Backend;
struct Settings;

/// The low-rank pair of one linear layer, with DoRA also its magnitudes.
struct LoraModule {
  std::int64_t layer = 0;
  std::string name;                        ///< "self_attn.q_proj"
  std::int64_t rank = 0, in = 0, out = 0;
  double scale = 1;                        ///< alpha/r, or alpha/sqrt(r) with rslora, after patterns
  TensorView a, b;                         ///< f32 (r,in), (out,r); inside the adapter's parameter block
  TensorView m;                            ///< f32 [out], there too; empty without DoRA
  std::vector<LinearRows> rows;            ///< what its rows are for
};

/// What a module does to one role: all of it, or of a fused layer the rows of that role. Parts of a fused layer share A
/// and what is dropped of the input.
struct LoraBranch {
  const LoraModule* module = nullptr;
  std::int64_t first = 0;                  ///< row of the module where the role begins
  TensorView a, b, m;                      ///< f32 (r,in), (rows,r), [rows]

  explicit operator bool() const { return module != nullptr; }
};

/// A LoRA adapter on one device: all parameters in one block, so the optimiser walks it in one pass.
class LoraAdapter {
 public:
  /// A fresh one: A uniform in (-1/sqrt(in), 1/sqrt(in)) by the seed's stream, B zero (PEFT's default). Magnitudes
  /// are zero until start_magnitudes (dora.h) takes them from the base.
  static LoraAdapter create(Backend& backend, const ModelSpec& spec, const Settings& settings);
  /// From a PEFT folder: safetensors F32/F16/BF16, rslora, rank_pattern, alpha_pattern, target lists, "all-linear" or regex.
  /// What cannot be honoured (modules_to_save, bias, embeddings) is refused by name; pickle is refused.
  static LoraAdapter load(Backend& backend, const ModelSpec& spec, const std::string& folder);

  /// PEFT layout: adapter_config.json, adapter_model.safetensors (F32), README.md, lorikeet.json; written atomically.
  void save(Backend& backend, const std::string& folder, const AdapterNotes& notes) const;

  const AdapterConfig& config() const { return config_; }
  const AdapterNotes& notes() const { return notes_; }
  /// The dropout of the training that goes on from this adapter, which save() writes.
  void set_dropout(double dropout) { config_.dropout = dropout; }
  const std::vector<LoraModule>& modules() const { return modules_; }
  /// The module of a linear layer or nullptr.
  const LoraModule* find(std::int64_t layer, const std::string& name) const;
  /// What changes the layer's weight of this role; empty when nothing does.
  LoraBranch branch(std::int64_t layer, std::size_t role) const;
  /// The largest rank of the role's branches in all layers, 0 without any.
  std::int64_t largest_rank(std::size_t role) const;
  TensorView parameters() const { return parameters_; }          ///< f32 [n], A, B (and m) of every module one after the other
  std::int64_t parameter_count() const;

 private:
  AdapterConfig config_;
  AdapterNotes notes_;
  std::vector<LoraModule> modules_;
  Tensor parameters_;
};

}  // namespace lorikeet

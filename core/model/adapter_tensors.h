// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/model/adapter_files.h"
#include "core/model/safetensors.h"

namespace lorikeet {

/// The weights of an adapter folder, checked against a base model: every module the configuration names has
/// its tensors in the right shape, and nothing else is there that would have to be honoured.
class AdapterTensors {
 public:
  /// Throws Error naming file and tensor: bad_format (missing, of another shape, of another base model),
  /// unsupported (biases, embeddings, whole modules, pickle).
  AdapterTensors(const std::string& folder, const ModelSpec& spec, const AdapterConfig& config);

  const std::vector<AdapterModule>& modules() const { return modules_; }
  /// The numbers of one part as f32, 'A' (r,in), 'B' (out,r) or 'M' [out]. Throws Error(numeric) when one is not
  /// finite.
  std::vector<float> read(const AdapterModule& module, char part) const;

 private:
  /// Name of the tensor in this file: magnitudes have several (formats.md §3.4). "" where it is not there.
  std::string name_of(const AdapterModule& module, char part) const;
  void check(const AdapterModule& module, char part) const;
  void refuse_others(const std::set<std::string>& used, std::int64_t layers) const;

  std::vector<AdapterModule> modules_;
  SafetensorsFile file_;
};

}  // namespace lorikeet

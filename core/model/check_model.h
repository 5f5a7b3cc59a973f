// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

class WeightSource;
struct ModelSpec;

/// A tensor that a spec asks for, under its Hugging Face name.
struct ExpectedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// Every tensor of a model of this spec, in the order of the forward pass: embedding, layers, norm, head
/// (when not tied).
std::vector<ExpectedTensor> expected_tensors(const ModelSpec& spec);

/// Something about a model that a person should know; `fatal` ones keep it from loading.
struct ModelFinding {
  bool fatal = true;
  std::string what;
  std::string where;  ///< file or tensor
};

/// Compares a source with its spec without reading any weight: tensors missing, of a wrong shape, stored in a
/// type that cannot be read; tensors that are not used. Long lists are cut after 20 with their number said.
std::vector<ModelFinding> check_model(const ModelSpec& spec, const WeightSource& source);

/// Throws Error(bad_format) with the first fatal finding and how many more there are.
void require_complete_model(const ModelSpec& spec, const WeightSource& source);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

namespace lorikeet::golden {

/// Absolute path of a file or folder of tests/golden.
std::string path(const std::string& name);

/// A JSON file of tests/golden; member order is kept.
nlohmann::ordered_json read_json(const std::string& name);

/// One tensor of a golden file.
struct GoldenTensor {
  std::string dtype;  ///< safetensors' name: "F32", "F16", "BF16", "I32", "U8", "I8"
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  ///< little-endian, row-major

  std::vector<float> floats() const;           ///< of F32, F16 or BF16
  std::vector<std::int32_t> integers() const;  ///< of I32, U8 or I8
};

/// Reads a whole safetensors file of tests/golden. A reader of the tests' own, so that golden values do not
/// pass through the code that is tested. Throws std::runtime_error naming the file.
std::map<std::string, GoldenTensor> read_tensors(const std::string& name);

/// Largest |a - b|; infinite when the sizes differ or a value is not a number.
double largest_difference(std::span<const float> a, std::span<const float> b);

/// Norm of a - b over the norm of b (or the norm of a when b is 0); infinite as above.
double relative_difference(std::span<const float> a, std::span<const float> b);

}  // namespace lorikeet::golden

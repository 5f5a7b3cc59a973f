// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace lorikeet {

struct ModelSpec;

/// Largest values taken from a file; far above any model, and small enough that no product of a spec
/// overflows.
struct SpecLimits {
  static constexpr std::int64_t vocab = 1 << 24;
  static constexpr std::int64_t hidden = 1 << 18;
  static constexpr std::int64_t intermediate = 1 << 20;
  static constexpr std::int64_t layers = 1 << 12;
  static constexpr std::int64_t heads = 1 << 12;
  static constexpr std::int64_t head_dim = 1 << 12;
  static constexpr std::int64_t context = 1 << 30;
};

/// What has to hold between the numbers of a spec (heads, extents, RoPE, epsilon, ids). Throws
/// Error(bad_format) with where = `name` and the field.
void check_spec(const ModelSpec& spec, const std::string& name);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lorikeet {

/// How a kind of device wants activations to lie: what Backend::fuses_parts, token_multiple and tail_columns answer there.
/// It stands here because the plan counts bytes for devices that this machine may not have.
struct DeviceLayout {
  bool fuses_parts = false;
  std::int64_t token_multiple = 1;
  std::int64_t (*tail_columns)(std::int64_t width, std::int64_t ranks) = nullptr;   ///< nullptr: none
};

/// On CUDA the branches' X A^T (or dY B) lie behind the row they belong to, so that one product gives base and branches;
/// rows then start at multiples of 64 elements, which keeps vector loads and tensor-core tiles aligned.
constexpr std::int64_t cuda_tail_columns(std::int64_t width, std::int64_t ranks) {
  constexpr std::int64_t multiple = 64;
  return ranks == 0 ? 0 : (width + ranks + multiple - 1) / multiple * multiple - width;
}
inline constexpr std::int64_t cuda_token_multiple = 64;

inline constexpr DeviceLayout cuda_layout{true, cuda_token_multiple, cuda_tail_columns};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// The numbers of kernels/base/random.h on the device: Philox 4x32-10 (Salmon et al. 2011), keyed by the
// token.
#pragma once

#include <cstdint>

namespace lorikeet::cuda {

/// Four words of one counter.
struct Words {
  std::uint32_t value[4];
};

/// drawn_word(key, use, place, 4 * group + i) for i = 0..3; `key` is the token's, in two halves.
__device__ __forceinline__ Words drawn_words(uint2 key, std::uint32_t use, std::uint32_t place,
                                             std::uint32_t group) {
  std::uint32_t c0 = group, c1 = 0, c2 = place, c3 = use;
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xD2511F53u} * c0;
    const std::uint64_t product_1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(product_1 >> 32) ^ c1 ^ key.x;
    c2 = static_cast<std::uint32_t>(product_0 >> 32) ^ c3 ^ key.y;
    c1 = static_cast<std::uint32_t>(product_1);
    c3 = static_cast<std::uint32_t>(product_0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

/// body(i, word) for N columns from `column` on; N is 1 or `column` a multiple of N, and N one of 4.
template <int N, typename Body>
__device__ __forceinline__ void for_words(uint2 key, std::uint32_t use, std::uint32_t place,
                                          std::int64_t column, const Body& body) {
  if constexpr (N < 4) {
    const Words words = drawn_words(key, use, place, static_cast<std::uint32_t>(column / 4));
    const int first = static_cast<int>(column % 4);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      // A chain of choices: an index that is not known would send the words to local memory.
      const int at = first + i;
      const std::uint32_t low = at & 1 ? words.value[1] : words.value[0];
      const std::uint32_t high = at & 1 ? words.value[3] : words.value[2];
      body(i, at & 2 ? high : low);
    }
  } else {
#pragma unroll
    for (int group = 0; group < N / 4; ++group) {
      const Words words = drawn_words(key, use, place, static_cast<std::uint32_t>(column / 4 + group));
#pragma unroll
      for (int i = 0; i < 4; ++i) body(4 * group + i, words.value[i]);
    }
  }
}

}  // namespace lorikeet::cuda

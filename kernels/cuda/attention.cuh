// SPDX-License-Identifier: Apache-2.0
// What all attention kernels share: where rows lie, which tile a block works on, which keys a query sees, how a score
// becomes a power of two. The queries of one kv head are "packed rows": row r is the query of token r / group in its
// sequence for query head r % group of the group, so that a tile of rows reads the keys of its kv head once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backend.h"
#include "kernels/cuda/device.cuh"

namespace lorikeet::cuda {

/// Division by a number known at run time: exact for dividends below 2^32 / value.
struct Divisor {
  unsigned value = 1, factor = 0;
  explicit Divisor(std::int64_t divisor)
      : value(static_cast<unsigned>(divisor)), factor(static_cast<unsigned>((std::int64_t{1} << 32) / divisor + 1)) {}
};
__device__ __forceinline__ int quotient(int n, const Divisor& d) {
  return d.value == 1 ? n : static_cast<int>(__umulhi(static_cast<unsigned>(n), d.factor));
}

/// Numbers of one call. A score s (query times key) becomes the exponent multiplier * s of a power of two; with a cap
/// first cap * tanh(narrowing * s). natural * s (capped s) is the score that lse speaks of.
struct AttentionNumbers {
  int heads, kv_heads, head_dim, window;
  Divisor group;
  float scale, cap, narrowing, natural, multiplier;
  bool vectors;  ///< all rows start at multiples of 16 bytes and are whole multiples of them

  AttentionNumbers(const AttentionShape& shape, bool vectors_)
      : heads(static_cast<int>(shape.heads)),
        kv_heads(static_cast<int>(shape.kv_heads)),
        head_dim(static_cast<int>(shape.head_dim)),
        window(static_cast<int>(std::min<std::int64_t>(shape.window, INT32_MAX))),
        group(shape.heads / shape.kv_heads),
        scale(shape.scale),
        cap(shape.soft_cap),
        narrowing(shape.soft_cap > 0 ? shape.scale / shape.soft_cap : 0),
        natural(shape.soft_cap > 0 ? 1 : shape.scale),
        multiplier(natural * 1.44269504f),
        vectors(vectors_) {}
};

constexpr float minus_huge = -1e30f;  ///< largest score of no key at all; finite, so that differences stay numbers

/// The rows of one kv head in a matrix (tokens, heads * head_dim): packed rows, or (group 1) those of the keys.
template <typename T>
struct HeadRows {
  T* first;  ///< row 0
  std::int64_t stride;
  int head_dim;
  Divisor group;
  __device__ __forceinline__ T* row(int r) const {
    const int token = quotient(r, group);
    return first + token * stride + (r - token * static_cast<int>(group.value)) * head_dim;
  }
};
template <typename T>
__device__ __forceinline__ HeadRows<T> query_rows(T* data, std::int64_t stride, std::int64_t token, int kv_head,
                                                  const AttentionNumbers& n) {
  const std::int64_t column = static_cast<std::int64_t>(kv_head) * n.group.value * n.head_dim;
  return {data + token * stride + column, stride, n.head_dim, n.group};
}
/// Rows of keys or values: no division.
template <typename T>
struct KeyRows {
  T* first;
  std::int64_t stride;
  __device__ __forceinline__ T* row(int r) const { return first + r * stride; }
};
template <typename T>
__device__ __forceinline__ KeyRows<T> key_rows(T* data, std::int64_t stride, std::int64_t token, int kv_head,
                                               const AttentionNumbers& n) {
  return {data + token * stride + static_cast<std::int64_t>(kv_head) * n.head_dim, stride};
}

/// One tile of one sequence: tokens [begin, begin + length) of the batch, rows from first_row on.
struct Place {
  int begin, length, first_row;
};

/// Tiles of sequence i take the slots from cu[i] * group / tile_rows + i on, which leaves room enough for every
/// packing: a slot without a tile gets first_row >= length * group. `backwards`: the last tile, of the queries that see
/// most keys, comes first. Wrong starts are brought into [0, tokens]. All lanes of a warp call it together.
__device__ __forceinline__ Place place_of_slot(const int* cu, int sequences, int tokens, int slot, int group,
                                               int tile_rows, bool backwards) {
  const auto start = [&](int i) { return min(max(cu[i], 0), tokens); };
  const auto first_slot = [&](int at, int i) {
    return static_cast<int>(static_cast<std::int64_t>(at) * group / tile_rows) + i;
  };
  const int lane = static_cast<int>(threadIdx.x % 32);
  int low = 0;
  for (int count = sequences; count > 1;) {  // the last of `count` sequences whose slots start at or before `slot`
    const int step = (count + 31) / 32;
    const int i = low + lane * step;
    const bool before = lane * step < count && first_slot(start(i), i) <= slot;
    const int last = max(__popc(__ballot_sync(full_warp, before)) - 1, 0);
    low += last * step;
    count = min(step, count - last * step);
  }
  const int begin = start(low);
  const int length = max(start(low + 1) - begin, 0);
  const int tiles = static_cast<int>((static_cast<std::int64_t>(length) * group + tile_rows - 1) / tile_rows);
  const int tile = slot - first_slot(begin, low);
  return {begin, length, (backwards && tile < tiles ? tiles - 1 - tile : tile) * tile_rows};
}
/// Slots for every packing of `tokens` tokens into `sequences`.
inline std::int64_t slots_for(std::int64_t tokens, std::int64_t sequences, std::int64_t group,
                              std::int64_t tile_rows) {
  return tokens * group / tile_rows + sequences;
}

/// Whether the query at `query` sees the key at `key`, both in [0, length).
__device__ __forceinline__ bool sees(int query, int key, int window) {
  return key <= query && (window == 0 || query - key < window);
}
/// Whether every query in [first_query, last_query] sees every key in [first_key, last_key].
__device__ __forceinline__ bool all_see(int first_query, int last_query, int first_key, int last_key, int window) {
  return last_key <= first_query && (window == 0 || last_query - first_key < window);
}

}  // namespace lorikeet::cuda

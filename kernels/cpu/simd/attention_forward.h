// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/simd/attention_operands.h"

// Forward attention of one tile of queries, with the softmax taken along (Dao et al. 2022): for each tile of
// keys the scores of four queries at a time, their new maximum, exp, and out = alpha * out + p v. f32 between
// the products.
namespace {

using lorikeet::simd::AttentionKeys;
using lorikeet::simd::AttentionTile;

constexpr float minus_huge = -1e30f;  ///< score of what is not seen; finite, so that differences stay numbers

/// Keys [low, high) of a tile that one query sees, relative to the tile's first key.
struct Span {
  std::int64_t low, high;
};
LORIKEET_INLINE Span visible_keys(const AttentionTile& t, std::int64_t query, std::int64_t first_key) {
  const std::int64_t end = query + 1 < t.length ? query + 1 : t.length;
  const std::int64_t begin = t.window > 0 && query + 1 > t.window ? query + 1 - t.window : 0;
  return {begin - first_key, end - first_key};
}

LORIKEET_INLINE IntVec inside(Span span, std::int64_t at) {
  const IntVec place = lane_numbers() + static_cast<std::int32_t>(at);
  return (place >= static_cast<std::int32_t>(span.low)) & (place < static_cast<std::int32_t>(span.high));
}

/// Buffers of a tile inside the workspace.
struct ForwardBuffers {
  float* queries;  ///< (64, padded / per_unit) units
  float* out;      ///< (64, padded)
  float* scores;   ///< (4, 64)
  float* p;        ///< (4, 64 / per_unit) units
  float* sums;     ///< (64, lanes)
  float* largest;  ///< (64)
  ForwardBuffers(void* workspace, std::int64_t padded) {
    queries = static_cast<float*>(workspace);
    out = queries + tile * padded;
    scores = out + tile * padded;
    p = scores + group * tile;
    sums = p + group * tile;
    largest = sums + tile * lanes;
  }
  static std::int64_t bytes(std::int64_t padded) {
    return (2 * tile * padded + 2 * group * tile + tile * lanes + tile) * 4;
  }
};

/// Scores of four queries (before the scale) become what the scale turns into cap * tanh(scale * s / cap).
LORIKEET_INLINE void cap_scores(const AttentionTile& t, float* scores, std::int64_t vectors) {
  const float narrowing = t.scale / t.soft_cap;
  const float widening = t.soft_cap / t.scale;
  for (int r = 0; r < group; ++r) {
    for (std::int64_t v = 0; v < vectors; ++v) {
      float* at = scores + r * tile + v * lanes;
      store(at, vec_tanh(load(at) * narrowing) * widening);
    }
  }
}

/// Softmax of four queries over one tile of keys: p from the scores, sums and maxima brought up to date;
/// alpha is what the earlier part of each row shrinks by. Maxima are of the scores before the scale; exp
/// becomes a power of two.
/// `all`: every query sees all 64 keys.
template <typename Unit, bool all>
LORIKEET_INLINE void soften(const AttentionTile& t, const ForwardBuffers& b, std::int64_t row,
                            std::int64_t first_key, std::int64_t some_vectors, float* alpha) {
  const std::int64_t vectors = all ? tile / lanes : some_vectors;
  const float scale = t.scale * log2_of_e;
  Vec top[group];
  Span span[group];
  bool whole[group];
  for (int r = 0; r < group; ++r) {
    span[r] = visible_keys(t, t.first + row + r, first_key);
    whole[r] = all || (span[r].low <= 0 && span[r].high >= vectors * lanes);
    top[r] = splat(minus_huge);
    for (std::int64_t v = 0; v < vectors; ++v) {
      const Vec s = load(b.scores + r * tile + v * lanes);
      top[r] = vec_max(top[r], whole[r] ? s : inside(span[r], v * lanes) ? s : splat(minus_huge));
    }
  }
  Four before;
  __builtin_memcpy(&before, b.largest + row, sizeof before);
  const Four now = _mm_max_ps(before, largest_of_each(top));
  __builtin_memcpy(b.largest + row, &now, sizeof now);
  const Four change = native_lowest_four(vec_exp2(native_extend((before - now) * scale)));
  __builtin_memcpy(alpha, &change, sizeof change);
  const Four shift = now * scale;
  for (int r = 0; r < group; ++r) {
    const Vec largest = splat(shift[r]);
    Vec sum = load(b.sums + (row + r) * lanes) * change[r];
    for (std::int64_t v = 0; v < vectors; ++v) {
      Vec p = vec_exp2(load(b.scores + r * tile + v * lanes) * scale - largest);
      if (!whole[r]) p = inside(span[r], v * lanes) ? p : Vec{};
      sum += p;
      Unit::store_row(b.p + (r * tile + v * lanes) / Unit::per_unit, p);
    }
    store(b.sums + (row + r) * lanes, sum);
  }
}

template <typename T>
void forward_tile(const AttentionTile& t, const void* q, const float* keys, const float* values, void* out,
                  float* lse) {
  using Unit = typename UnitFor<T>::Type;
  const std::int64_t padded = round_up(t.head_dim, lanes);
  const std::int64_t units = padded / Unit::per_unit;
  const std::int64_t sum_units = (t.head_dim + Unit::per_unit - 1) / Unit::per_unit;
  const ForwardBuffers b(t.workspace, padded);
  const std::int64_t rows = round_up(t.rows, group);
  copy_rows<Unit>(static_cast<const T*>(q), t.stride, t.rows, rows, t.head_dim, padded, b.queries);
  prefetch_rows(static_cast<const T*>(q) + t.head_dim, t.stride, t.rows, t.head_dim);  // the next head's
  __builtin_memset(b.out, 0, static_cast<std::size_t>(rows * padded) * sizeof(float));
  __builtin_memset(b.sums, 0, static_cast<std::size_t>(rows * lanes) * sizeof(float));
  for (std::int64_t r = 0; r < rows; ++r) b.largest[r] = minus_huge;

  const std::int64_t length_padded = round_up(t.length, attention_row_multiple);
  const std::int64_t seen_from = visible_keys(t, t.first, 0).low;
  const std::int64_t seen_to = visible_keys(t, t.first + t.rows - 1, 0).high;
  for (std::int64_t first_key = seen_from / tile * tile; first_key < seen_to; first_key += tile) {
    const std::int64_t width = length_padded - first_key < tile ? length_padded - first_key : tile;
    for (std::int64_t row = 0; row < rows; row += group) {
      const std::int64_t high = visible_keys(t, t.first + row + group - 1, first_key).high;
      const std::int64_t count = high < width ? high : width;
      if (count <= 0 || visible_keys(t, t.first + row, first_key).low >= width) continue;
      const std::int64_t vectors = (count + lanes - 1) / lanes;
      multiply<Unit, Mode::overwrite>(b.scores, tile, {b.queries + row * units, units, 1},
                                      keys + first_key * units, width, sum_units, vectors);
      if (t.soft_cap > 0) cap_scores(t, b.scores, vectors);
      float alpha[group];
      const bool all = visible_keys(t, t.first + row, first_key).high >= tile &&
                       visible_keys(t, t.first + row + group - 1, first_key).low <= 0;
      if (all) {
        soften<Unit, true>(t, b, row, first_key, vectors, alpha);
      } else {
        soften<Unit, false>(t, b, row, first_key, vectors, alpha);
      }
      multiply<Unit, Mode::scale_and_add>(
          b.out + row * padded, padded, {b.p, tile / Unit::per_unit, 1}, values + first_key * units, padded,
          (count + Unit::per_unit - 1) / Unit::per_unit, padded / lanes, alpha);
    }
  }
  for (std::int64_t r = 0; r < t.rows; ++r) {
    const float sum = sum_of_lanes(load(b.sums + r * lanes));
    T* to = static_cast<T*>(out) + r * t.stride;
    for_each_vector(t.head_dim, [&](auto i) { i.store(to, load(b.out + r * padded + i.at) / sum); });
    if (lse != nullptr) lse[r * t.lse_stride] = b.largest[r] * t.scale + __builtin_logf(sum);
  }
}

/// Tiles of keys turned over: (head_dim units, keys of the tile) one after the other; values as pairs of
/// rows.
template <typename T>
void forward_pack(const AttentionKeys& from, float* keys, float* values, void* workspace) {
  using Unit = typename UnitFor<T>::Type;
  const std::int64_t padded = round_up(from.head_dim, lanes);
  const std::int64_t units = padded / Unit::per_unit;
  float* rows = static_cast<float*>(workspace);
  for (std::int64_t first = 0; first < from.length; first += tile) {
    const std::int64_t count = from.length - first < tile ? from.length - first : tile;
    const std::int64_t width = round_up(count, attention_row_multiple);
    copy_rows<Unit>(static_cast<const T*>(from.k) + first * from.stride, from.stride, count, width,
                    from.head_dim, padded, rows);
    transpose(rows, units, keys + first * units, width, width, units);
    copy_rows<Unit>(static_cast<const T*>(from.v) + first * from.stride, from.stride, count, width,
                    from.head_dim, padded, rows);
    pair_rows<Unit>(rows, width, padded, values + first * units);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/simd/attention_forward.h"

// Backward attention of one tile of queries. Everything is turned over, so that lanes are queries and the
// products' left sides lie as they are needed: s^T = k q^T, p^T = exp(scale s^T - lse), dp^T = v dout^T, ds^T
// = p^T (dp^T - delta), dv += p^T dout, dk += ds^T q, dq^T += k^T ds^T. Four keys at a time. With a soft cap,
// scale s^T becomes cap tanh(scale s^T / cap), and ds^T gets the factor 1 - tanh^2.
namespace {

struct BackwardBuffers {
  float *q_across, *dout_across;  ///< (padded / per_unit, 64) units
  float *q_pairs, *dout_pairs;    ///< (64 / per_unit, padded) units
  float* rows;                    ///< (64, padded / per_unit) units
  float* dq;                      ///< (padded, 64)
  float* ds_pairs;                ///< (64 / per_unit, 64) units
  float *p, *dp;                  ///< (4, 64)
  float *p_units, *ds_units;      ///< (4, 64 / per_unit)
  float *lse, *delta;             ///< (64), lse to the base 2
  BackwardBuffers(void* workspace, std::int64_t padded) {
    float* next = static_cast<float*>(workspace);
    const auto take = [&](std::int64_t count) {
      float* start = next;
      next += count;
      return start;
    };
    q_across = take(tile * padded);
    dout_across = take(tile * padded);
    q_pairs = take(tile * padded);
    dout_pairs = take(tile * padded);
    rows = take(tile * padded);
    dq = take(tile * padded);
    ds_pairs = take(tile * tile);
    p = take(group * tile);
    dp = take(group * tile);
    p_units = take(group * tile);
    ds_units = take(group * tile);
    lse = take(tile);
    delta = take(tile);
  }
  static std::int64_t bytes(std::int64_t padded) {
    return (6 * tile * padded + tile * tile + 4 * group * tile + 2 * tile) * 4;
  }
};

template <typename T>
void fill_buffers(const AttentionTile& t, const BackwardBuffers& b, std::int64_t padded, const T* dout,
                  const T* q, const T* out, const float* lse) {
  using Unit = typename UnitFor<T>::Type;
  const std::int64_t units = padded / Unit::per_unit;
  copy_rows<Unit>(q, t.stride, t.rows, tile, t.head_dim, padded, b.rows);
  transpose(b.rows, units, b.q_across, tile, tile, units);
  pair_rows<Unit>(b.rows, tile, padded, b.q_pairs);
  copy_rows<Unit>(dout, t.stride, t.rows, tile, t.head_dim, padded, b.rows);
  transpose(b.rows, units, b.dout_across, tile, tile, units);
  pair_rows<Unit>(b.rows, tile, padded, b.dout_pairs);
  __builtin_memset(b.dq, 0, static_cast<std::size_t>(tile * padded) * sizeof(float));
  for (std::int64_t r = 0; r < tile; ++r) {
    b.lse[r] = -minus_huge;  // rows past the end: exp gives 0
    b.delta[r] = 0;
    if (r >= t.rows) continue;
    b.lse[r] = lse[r * t.lse_stride] * log2_of_e;
    Vec sum{};
    for_each_vector(t.head_dim,
                    [&](auto i) { sum += i.load(dout + r * t.stride) * i.load(out + r * t.stride); });
    b.delta[r] = sum_of_lanes(sum);
  }
  // The next tile's.
  prefetch_rows(q + tile * t.stride, t.stride, tile, t.head_dim);
  prefetch_rows(dout + tile * t.stride, t.stride, tile, t.head_dim);
  prefetch_rows(out + tile * t.stride, t.stride, tile, t.head_dim);
}

/// Queries [low, high) of the tile that see key `key`.
LORIKEET_INLINE Span seeing_queries(const AttentionTile& t, std::int64_t key) {
  return {key - t.first, t.window > 0 ? key + t.window - t.first : tile};
}

/// p^T and ds^T of four keys from the products in b.p and b.dp, over query vectors [from, to); zeros
/// elsewhere in pairs.
template <typename Unit, bool capped>
LORIKEET_INLINE void soften_backward(const AttentionTile& t, const BackwardBuffers& b, std::int64_t key,
                                     std::int64_t from, std::int64_t to, float* pairs) {
  const float scale = (capped ? t.soft_cap : t.scale) * log2_of_e;
  const float narrowing = capped ? t.scale / t.soft_cap : 0;
  for (std::int64_t v = 0; v < tile / lanes; ++v) {
    Vec ds[group] = {};
    if (v >= from && v < to) {
      const Vec lse = load(b.lse + v * lanes);
      const Vec delta = load(b.delta + v * lanes);
      for (int r = 0; r < group; ++r) {
        const Span span = seeing_queries(t, key + r);
        Vec score = load(b.p + r * tile + v * lanes);
        if (capped) score = vec_tanh(score * narrowing);
        Vec p = vec_exp2(score * scale - lse);
        if (span.low > v * lanes || span.high < (v + 1) * lanes) p = inside(span, v * lanes) ? p : Vec{};
        ds[r] = p * (load(b.dp + r * tile + v * lanes) - delta);
        if (capped) ds[r] *= 1.0f - score * score;
        Unit::store_row(b.p_units + (r * tile + v * lanes) / Unit::per_unit, p);
        Unit::store_row(b.ds_units + (r * tile + v * lanes) / Unit::per_unit, ds[r]);
      }
    }
    Unit::store_pair(pairs + v * lanes, tile, ds[0], ds[1]);
    Unit::store_pair(pairs + 2 / Unit::per_unit * tile + v * lanes, tile, ds[2], ds[3]);
  }
}

template <typename T>
void store_dq(const AttentionTile& t, const BackwardBuffers& b, std::int64_t padded, T* dq) {
  float* rows = b.q_across;  // no longer needed
  transpose(b.dq, tile, rows, padded, padded, tile);
  for (std::int64_t r = 0; r < t.rows; ++r) {
    for_each_vector(t.head_dim,
                    [&](auto i) { i.store(dq + r * t.stride, load(rows + r * padded + i.at) * t.scale); });
  }
}

template <typename T>
void backward_tile(const AttentionTile& t, const void* dout, const void* q, const void* out, const float* lse,
                   const float* key_rows, const float* value_rows, const float* key_pairs, void* dq,
                   float* dk, float* dv) {
  using Unit = typename UnitFor<T>::Type;
  const std::int64_t padded = round_up(t.head_dim, lanes);
  const std::int64_t units = padded / Unit::per_unit;
  const std::int64_t sum_units = (t.head_dim + Unit::per_unit - 1) / Unit::per_unit;
  const BackwardBuffers b(t.workspace, padded);
  fill_buffers(t, b, padded, static_cast<const T*>(dout), static_cast<const T*>(q),
               static_cast<const T*>(out), lse);

  const std::int64_t query_vectors = (t.rows + lanes - 1) / lanes;
  const std::int64_t seen_from = visible_keys(t, t.first, 0).low;
  const std::int64_t seen_to = visible_keys(t, t.first + t.rows - 1, 0).high;
  for (std::int64_t first_key = seen_from / tile * tile; first_key < seen_to; first_key += tile) {
    const std::int64_t left = round_up(seen_to - first_key, group);
    const std::int64_t count = left < tile ? left : tile;
    for (std::int64_t j = 0; j < count; j += group) {
      const std::int64_t key = first_key + j;
      const std::int64_t low = seeing_queries(t, key).low;
      const std::int64_t high = seeing_queries(t, key + group - 1).high;
      const std::int64_t from = low > 0 ? low / lanes : 0;
      const std::int64_t to_window = high > 0 ? (high + lanes - 1) / lanes : 0;
      const std::int64_t to = to_window < query_vectors ? to_window : query_vectors;
      if (from < to) {
        multiply<Unit, Mode::overwrite>(b.p + from * lanes, tile, {key_rows + key * units, units, 1},
                                        b.q_across + from * lanes, tile, sum_units, to - from);
        multiply<Unit, Mode::overwrite>(b.dp + from * lanes, tile, {value_rows + key * units, units, 1},
                                        b.dout_across + from * lanes, tile, sum_units, to - from);
      }
      float* ds_pairs = b.ds_pairs + j / Unit::per_unit * tile;
      if (t.soft_cap > 0) {
        soften_backward<Unit, true>(t, b, key, from, to, ds_pairs);
      } else {
        soften_backward<Unit, false>(t, b, key, from, to, ds_pairs);
      }
      if (from >= to) continue;
      const std::int64_t skip = from * lanes / Unit::per_unit;
      const std::int64_t sum = (to - from) * lanes / Unit::per_unit;
      multiply<Unit, Mode::add>(dv + key * padded, padded, {b.p_units + skip, tile / Unit::per_unit, 1},
                                b.dout_pairs + skip * padded, padded, sum, padded / lanes);
      multiply<Unit, Mode::add>(dk + key * padded, padded, {b.ds_units + skip, tile / Unit::per_unit, 1},
                                b.q_pairs + skip * padded, padded, sum, padded / lanes);
    }
    for (std::int64_t c = 0; c < padded; c += group) {
      multiply<Unit, Mode::add>(b.dq + c * tile, tile,
                                {key_pairs + first_key / Unit::per_unit * padded + c, 1, padded}, b.ds_pairs,
                                tile, count / Unit::per_unit, query_vectors);
    }
  }
  store_dq(t, b, padded, static_cast<T*>(dq));
}

template <typename T>
void backward_pack(const AttentionKeys& from, float* key_rows, float* value_rows, float* key_pairs) {
  using Unit = typename UnitFor<T>::Type;
  const std::int64_t padded = round_up(from.head_dim, lanes);
  const std::int64_t rows = round_up(from.length, attention_row_multiple);
  copy_rows<Unit>(static_cast<const T*>(from.k), from.stride, from.length, rows, from.head_dim, padded,
                  key_rows);
  copy_rows<Unit>(static_cast<const T*>(from.v), from.stride, from.length, rows, from.head_dim, padded,
                  value_rows);
  pair_rows<Unit>(key_rows, rows, padded, key_pairs);
}

template <typename T>
void store_rows(const float* from, std::int64_t parts, std::int64_t part_stride, std::int64_t rows,
                std::int64_t head_dim, float scale, void* to, std::int64_t stride) {
  const std::int64_t padded = round_up(head_dim, lanes);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = from + r * padded;
    for_each_vector(head_dim, [&](auto i) {
      Vec sum = load(row + i.at);
      for (std::int64_t part = 1; part < parts; ++part) sum += load(row + part * part_stride + i.at);
      i.store(static_cast<T*>(to) + r * stride, sum * scale);
    });
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Causal attention with grouped keys over packed rows: p = softmax(scale * q k^T) within each sequence, out =
// p v; with a soft cap the scores s = scale * q k^T become cap * tanh(s / cap) first. Backward: delta =
// rowsum(dout * out), dS = p * (dout v^T - delta), dq = scale * dS k, dk = scale * dS^T q, dv = p^T dout (Dao
// et al. 2022, "FlashAttention"). Nothing of size T x T is kept: keys and queries meet in tiles of 64.
// Operands are packed first; then the forward shares out (sequence, head, tile of queries), the backward
// (sequence, head). The heads that share a kv head add to dk and dv in buffers of their own, summed in order
// at the end, so the result is the same with any number of threads. Accumulates in f32.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention_shapes.h"
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

using simd::attention_row_multiple;
using simd::attention_tile;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// The sequences of a batch.
struct Batch {
  const std::int32_t* cu;
  std::int64_t sequences;
  std::int64_t tiles = 0;
  std::int64_t padded_rows = 0;

  Batch(const PackedRows& rows, std::int64_t tokens, const char* name)
      : cu(rows.cu_seqlens.as<std::int32_t>()), sequences(rows.sequences) {
    check(sequences >= 0, name, "sequences is negative");
    check_tensor(rows.cu_seqlens, DType::i32, {sequences + 1}, name, "cu_seqlens");
    check(cu[0] == 0 && cu[sequences] == tokens, name, "cu_seqlens does not cover all tokens");
    for (std::int64_t i = 0; i < sequences; ++i) {
      const std::int64_t length = cu[i + 1] - cu[i];
      check(length >= 0, name, "cu_seqlens falls");
      tiles += (length + attention_tile - 1) / attention_tile;
      padded_rows += round_up(length, attention_row_multiple);
    }
  }

  /// All tiles of queries, longest work first within a sequence.
  void fill_tiles(AttentionPlace* place) const {
    std::int64_t padded_begin = 0;
    for (std::int64_t i = 0; i < sequences; ++i) {
      const std::int64_t length = cu[i + 1] - cu[i];
      for (std::int64_t first = round_up(length, attention_tile) - attention_tile; first >= 0;
           first -= attention_tile) {
        *place++ = {cu[i], length, padded_begin, first, std::min(attention_tile, length - first)};
      }
      padded_begin += round_up(length, attention_row_multiple);
    }
  }
  void fill_sequences(AttentionPlace* place) const {
    std::int64_t padded_begin = 0;
    for (std::int64_t i = 0; i < sequences; ++i) {
      const std::int64_t length = cu[i + 1] - cu[i];
      *place++ = {cu[i], length, padded_begin, 0, length};
      padded_begin += round_up(length, attention_row_multiple);
    }
  }
};

simd::AttentionTile tile_at(const AttentionPlace& place, const AttentionShape& shape, void* workspace) {
  return {place.first,  place.rows,  place.length,   shape.head_dim,
          shape.window, shape.scale, shape.soft_cap, shape.heads * shape.head_dim,
          shape.heads,  workspace};
}

simd::AttentionKeys keys_at(const TensorView& k, const TensorView& v, const AttentionPlace& place,
                            const AttentionShape& shape, std::int64_t kv_head) {
  const std::int64_t stride = shape.kv_heads * shape.head_dim;
  const std::int64_t at = place.begin * stride + kv_head * shape.head_dim;
  return {element_at(k, at), element_at(v, at), stride, place.length, shape.head_dim};
}

struct ForwardScratch {
  AttentionPlace *tiles, *sequences;
  float *keys, *values;
  char* workspaces;
  std::int64_t head_units;  ///< units of keys (or values) of one kv head

  ForwardScratch(ScratchPieces& pieces, const Batch& batch, const AttentionShape& shape,
                 const simd::AttentionLayout& layout, int threads)
      : tiles(pieces.take<AttentionPlace>(batch.tiles)),
        sequences(pieces.take<AttentionPlace>(batch.sequences)),
        head_units(round_up(batch.padded_rows * layout.padded / layout.per_unit, 16)) {
    keys = pieces.take<float>(head_units * shape.kv_heads);
    values = pieces.take<float>(head_units * shape.kv_heads);
    workspaces = pieces.take<char>(layout.workspace_bytes * threads);
  }
};

struct BackwardScratch {
  AttentionPlace *tiles, *sequences;
  float *key_rows, *value_rows, *key_pairs;
  float *dk, *dv;  ///< (heads, padded rows, padded head_dim)
  char* workspaces;
  std::int64_t head_units;

  BackwardScratch(ScratchPieces& pieces, const Batch& batch, const AttentionShape& shape,
                  const simd::AttentionLayout& layout, int threads)
      : tiles(pieces.take<AttentionPlace>(batch.tiles)),
        sequences(pieces.take<AttentionPlace>(batch.sequences)),
        head_units(round_up(batch.padded_rows * layout.padded / layout.per_unit, 16)) {
    key_rows = pieces.take<float>(head_units * shape.kv_heads);
    value_rows = pieces.take<float>(head_units * shape.kv_heads);
    key_pairs = pieces.take<float>(head_units * shape.kv_heads);
    dk = pieces.take<float>(batch.padded_rows * layout.padded * shape.heads);
    dv = pieces.take<float>(batch.padded_rows * layout.padded * shape.heads);
    workspaces = pieces.take<char>(layout.workspace_bytes * threads);
  }
};

template <typename Pieces>
Pieces lay_out(Scratch& scratch, const Batch& batch, const AttentionShape& shape,
               const simd::AttentionLayout& layout, int threads) {
  ScratchPieces counting;
  Pieces(counting, batch, shape, layout, threads);
  ScratchPieces pieces(scratch.get(counting.bytes()));
  Pieces result(pieces, batch, shape, layout, threads);
  batch.fill_tiles(result.tiles);
  batch.fill_sequences(result.sequences);
  return result;
}

}  // namespace

void check_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                     const AttentionShape& shape, const char* operation) {
  check(shape.heads > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, operation,
        "heads is no multiple of kv_heads");
  check(shape.head_dim > 0, operation, "head_dim is not positive");
  check(shape.window >= 0, operation, "window is negative");
  check(shape.soft_cap >= 0 && std::isfinite(shape.soft_cap), operation, "the soft cap is not a number >= 0");
  check(shape.scale > 0 && std::isfinite(shape.scale), operation, "scale is not a positive number");
  check(q.shape.rank() == 2 && k.shape.rank() == 2, operation, "q is (T,q), k and v are (T,kv)");
  check_compute(q, operation, "q");
  check_tensor(q, q.dtype, {q.shape[0], shape.heads * shape.head_dim}, operation, "q");
  check_tensor(k, q.dtype, {k.shape[0], shape.kv_heads * shape.head_dim}, operation, "k");
  check_tensor(v, q.dtype, k.shape, operation, "v");
}

void CpuBackend::attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                                   const AttentionShape& shape, TensorView out, TensorView lse) {
  constexpr const char* name = "attention_forward";
  check_attention(q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_tensor(out, q.dtype, q.shape, name, "out");
  check_tensor(lse, DType::f32, {q.shape[0], shape.heads}, name, "lse");
  const Batch batch(rows, q.shape[0], name);
  const simd::AttentionKernels& kernels = *simd_.attention;
  const int type = type_index(q.dtype);
  const simd::AttentionLayout layout = kernels.layout[type](shape.head_dim);
  const auto s = lay_out<ForwardScratch>(scratch_, batch, shape, layout, threads_);
  const auto workspace = [&] { return s.workspaces + omp_get_thread_num() * layout.workspace_bytes; };
  const auto packed_at = [&](const AttentionPlace& place, std::int64_t kv_head) {
    return kv_head * s.head_units + place.padded_begin * layout.padded / layout.per_unit;
  };
  for_tasks(threads_, batch.sequences * shape.kv_heads, [&](std::int64_t task) {
    const AttentionPlace& place = s.sequences[task / shape.kv_heads];
    const std::int64_t at = packed_at(place, task % shape.kv_heads);
    kernels.forward_pack[type](keys_at(k, v, place, shape, task % shape.kv_heads), s.keys + at, s.values + at,
                               workspace());
  });
  const std::int64_t group = shape.heads / shape.kv_heads;
  for_tasks(threads_, batch.tiles * shape.heads, [&](std::int64_t task) {
    const AttentionPlace& place = s.tiles[task / shape.heads];
    const std::int64_t head = task % shape.heads;
    const std::int64_t row = place.begin + place.first;
    const std::int64_t at = (row * shape.heads + head) * shape.head_dim;
    const std::int64_t packed = packed_at(place, head / group);
    kernels.forward_tile[type](tile_at(place, shape, workspace()), element_at(q, at), s.keys + packed,
                               s.values + packed, element_at(out, at),
                               lse.as<float>() + row * shape.heads + head);
  });
}

void CpuBackend::attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v, TensorView out,
                                    TensorView lse, const PackedRows& rows, const AttentionShape& shape,
                                    TensorView dq, TensorView dk, TensorView dv) {
  constexpr const char* name = "attention_backward";
  check_attention(q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_tensor(out, q.dtype, q.shape, name, "out");
  check_tensor(dout, q.dtype, q.shape, name, "dout");
  check_tensor(dq, q.dtype, q.shape, name, "dq");
  check_tensor(dk, q.dtype, k.shape, name, "dk");
  check_tensor(dv, q.dtype, k.shape, name, "dv");
  check_tensor(lse, DType::f32, {q.shape[0], shape.heads}, name, "lse");
  const Batch batch(rows, q.shape[0], name);
  const simd::AttentionKernels& kernels = *simd_.attention;
  const int type = type_index(q.dtype);
  const simd::AttentionLayout layout = kernels.layout[type](shape.head_dim);
  const auto s = lay_out<BackwardScratch>(scratch_, batch, shape, layout, threads_);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const auto packed_at = [&](const AttentionPlace& place, std::int64_t kv_head) {
    return kv_head * s.head_units + place.padded_begin * layout.padded / layout.per_unit;
  };
  const std::int64_t part_stride = batch.padded_rows * layout.padded;

  for_tasks(threads_, batch.sequences * shape.kv_heads, [&](std::int64_t task) {
    const AttentionPlace& place = s.sequences[task / shape.kv_heads];
    const std::int64_t at = packed_at(place, task % shape.kv_heads);
    kernels.backward_pack[type](keys_at(k, v, place, shape, task % shape.kv_heads), s.key_rows + at,
                                s.value_rows + at, s.key_pairs + at);
  });
  for_tasks(threads_, batch.sequences * shape.heads, [&](std::int64_t task) {
    const AttentionPlace& sequence = s.sequences[task / shape.heads];
    const std::int64_t head = task % shape.heads;
    const std::int64_t packed = packed_at(sequence, head / group);
    const std::int64_t sums = head * part_stride + sequence.padded_begin * layout.padded;
    const std::int64_t count = round_up(sequence.length, attention_row_multiple) * layout.padded;
    std::fill_n(s.dk + sums, count, 0.0f);
    std::fill_n(s.dv + sums, count, 0.0f);
    for (std::int64_t first = 0; first < sequence.length; first += attention_tile) {
      const AttentionPlace place{sequence.begin, sequence.length, sequence.padded_begin, first,
                                 std::min(attention_tile, sequence.length - first)};
      const std::int64_t row = place.begin + first;
      const std::int64_t at = (row * shape.heads + head) * shape.head_dim;
      kernels.backward_tile[type](
          tile_at(place, shape, s.workspaces + omp_get_thread_num() * layout.workspace_bytes),
          element_at(dout, at), element_at(q, at), element_at(out, at),
          lse.as<float>() + row * shape.heads + head, s.key_rows + packed, s.value_rows + packed,
          s.key_pairs + packed, element_at(dq, at), s.dk + sums, s.dv + sums);
    }
  });
  for_tasks(threads_, batch.tiles * shape.kv_heads, [&](std::int64_t task) {
    const AttentionPlace& place = s.tiles[task / shape.kv_heads];
    const std::int64_t kv_head = task % shape.kv_heads;
    const std::int64_t from =
        kv_head * group * part_stride + (place.padded_begin + place.first) * layout.padded;
    const std::int64_t stride = shape.kv_heads * shape.head_dim;
    const std::int64_t at = (place.begin + place.first) * stride + kv_head * shape.head_dim;
    kernels.store_rows[type](s.dk + from, group, part_stride, place.rows, shape.head_dim, shape.scale,
                             element_at(dk, at), stride);
    kernels.store_rows[type](s.dv + from, group, part_stride, place.rows, shape.head_dim, 1.0f,
                             element_at(dv, at), stride);
  });
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// Attention of new queries over a cache. A few queries (chat): each (query, kv head, 256 keys) is a task with
// a softmax of its own, and the pieces are put together in order: out = sum exp(m_i - m) sums_i / sum exp(m_i
// - m) l_i. More of them (a prompt): tiles as in attention.cpp. Accumulates in f32.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention_shapes.h"
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

constexpr std::int64_t few_queries = 8;

struct PromptScratch {
  float *keys, *values;
  char* workspaces;
  PromptScratch(ScratchPieces& pieces, std::int64_t head_units, std::int64_t kv_heads,
                std::int64_t workspace_bytes, int threads)
      : keys(pieces.take<float>(head_units * kv_heads)),
        values(pieces.take<float>(head_units * kv_heads)),
        workspaces(pieces.take<char>(workspace_bytes * threads)) {}
};

struct PieceScratch {
  float *statistics, *sums;  ///< (pieces, group, 2), (pieces, group, head_dim)
  PieceScratch(ScratchPieces& pieces, std::int64_t count, std::int64_t group, std::int64_t head_dim)
      : statistics(pieces.take<float>(count * group * 2)),
        sums(pieces.take<float>(count * group * head_dim)) {}
};

/// Puts the pieces of one head together; piece i's numbers lie `stride` times their size further on.
/// Overwrites the statistics: the largest score of a piece becomes the piece's weight.
template <typename T>
void merge(float* statistics, const float* sums, std::int64_t pieces, std::int64_t stride,
           std::int64_t head_dim, T* out) {
  float largest = statistics[0];
  for (std::int64_t i = 1; i < pieces; ++i) largest = std::max(largest, statistics[i * stride * 2]);
  float total = 0;
  for (std::int64_t i = 0; i < pieces; ++i) {
    float* piece = statistics + i * stride * 2;
    piece[0] = std::exp(piece[0] - largest);
    total += piece[0] * piece[1];
  }
  for (std::int64_t c = 0; c < head_dim; ++c) {
    float value = 0;
    for (std::int64_t i = 0; i < pieces; ++i)
      value += statistics[i * stride * 2] * sums[i * stride * head_dim + c];
    store(out[c], value / total);
  }
}

}  // namespace

void CpuBackend::attention_prompt(TensorView q, TensorView k_cache, TensorView v_cache, std::int64_t position,
                                  const AttentionShape& shape, TensorView out) {
  using simd::attention_tile;
  const simd::AttentionKernels& kernels = *simd_.attention;
  const int type = type_index(q.dtype);
  const simd::AttentionLayout layout = kernels.layout[type](shape.head_dim);
  const std::int64_t length = position + q.shape[0];
  const std::int64_t rows = (length + simd::attention_row_multiple - 1) / simd::attention_row_multiple *
                            simd::attention_row_multiple;
  const std::int64_t head_units = rows * layout.padded / layout.per_unit;
  ScratchPieces counting;
  PromptScratch(counting, head_units, shape.kv_heads, layout.workspace_bytes, threads_);
  ScratchPieces pieces(scratch_.get(counting.bytes()));
  const PromptScratch s(pieces, head_units, shape.kv_heads, layout.workspace_bytes, threads_);
  const auto workspace = [&] { return s.workspaces + omp_get_thread_num() * layout.workspace_bytes; };
  for_tasks(threads_, shape.kv_heads, [&](std::int64_t kv_head) {
    const std::int64_t at = kv_head * shape.head_dim;
    kernels.forward_pack[type]({element_at(k_cache, at), element_at(v_cache, at),
                                shape.kv_heads * shape.head_dim, length, shape.head_dim},
                               s.keys + kv_head * head_units, s.values + kv_head * head_units, workspace());
  });
  const std::int64_t tiles = (q.shape[0] + attention_tile - 1) / attention_tile;
  for_tasks(threads_, tiles * shape.heads, [&](std::int64_t task) {
    const std::int64_t first = task / shape.heads * attention_tile;
    const std::int64_t head = task % shape.heads;
    const std::int64_t stride = shape.heads * shape.head_dim;
    const std::int64_t at = first * stride + head * shape.head_dim;
    const std::int64_t packed = head / (shape.heads / shape.kv_heads) * head_units;
    simd::AttentionTile tile{};
    tile.first = position + first;
    tile.rows = std::min(attention_tile, q.shape[0] - first);
    tile.length = length;
    tile.head_dim = shape.head_dim;
    tile.window = shape.window;
    tile.scale = shape.scale;
    tile.soft_cap = shape.soft_cap;
    tile.stride = stride;
    tile.workspace = workspace();
    kernels.forward_tile[type](tile, element_at(q, at), s.keys + packed, s.values + packed,
                               element_at(out, at), nullptr);
  });
}

void CpuBackend::attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, TensorView positions,
                                  std::int64_t limit, const AttentionShape& shape, TensorView out) {
  constexpr const char* name = "attention_cached";
  check_attention(q, k_cache, v_cache, shape, name);
  check_tensor(out, q.dtype, q.shape, name, "out");
  const std::int64_t queries = q.shape[0];
  check_tensor(positions, DType::i32, {queries}, name, "positions");
  check(limit <= k_cache.shape[0], name, "limit is beyond the cache");
  check_indices(positions, limit, name, "position");
  if (queries == 0) return;
  const std::int64_t position = positions.as<std::int32_t>()[0];
  for (std::int64_t i = 0; i < queries; ++i)
    check(positions.as<std::int32_t>()[i] == position + i, name, "positions are not consecutive");
  if (queries > few_queries) return attention_prompt(q, k_cache, v_cache, position, shape, out);

  constexpr std::int64_t piece = simd::attention_cached_keys;
  const int type = type_index(q.dtype);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t width = shape.head_dim;
  const std::int64_t kv_stride = shape.kv_heads * width;
  // Keys that query i sees start here; pieces are counted from there.
  const auto first_key = [&](std::int64_t i) {
    return shape.window > 0 ? std::max<std::int64_t>(0, position + i + 1 - shape.window) : 0;
  };
  const std::int64_t pieces = (position + queries + piece - 1) / piece;
  ScratchPieces counting;
  PieceScratch(counting, queries * pieces * shape.kv_heads, group, width);
  ScratchPieces handing(scratch_.get(counting.bytes()));
  const PieceScratch s(handing, queries * pieces * shape.kv_heads, group, width);
  for_tasks(threads_, queries * pieces * shape.kv_heads, [&](std::int64_t task) {
    const std::int64_t kv_head = task % shape.kv_heads;
    const std::int64_t query = task / shape.kv_heads % queries;
    const std::int64_t begin = first_key(query) + task / shape.kv_heads / queries * piece;
    const std::int64_t count = std::min(piece, position + query + 1 - begin);
    if (count <= 0) return;
    const std::int64_t at = begin * kv_stride + kv_head * width;
    simd_.attention->cached_part[type](
        element_at(q, (query * shape.heads + kv_head * group) * width), group,
        {element_at(k_cache, at), element_at(v_cache, at), kv_stride, count, width}, shape.scale,
        shape.soft_cap, s.statistics + task * group * 2, s.sums + task * group * width);
  });
  for (std::int64_t i = 0; i < queries * shape.heads; ++i) {
    const std::int64_t query = i / shape.heads;
    const std::int64_t head = i % shape.heads;
    const std::int64_t used = (position + query + 1 - first_key(query) + piece - 1) / piece;
    const std::int64_t at = (query * shape.kv_heads + head / group) * group + head % group;
    const std::int64_t stride = queries * shape.kv_heads * group;
    if (q.dtype == DType::f32) {
      merge(s.statistics + at * 2, s.sums + at * width, used, stride, width, out.as<float>() + i * width);
    } else {
      merge(s.statistics + at * 2, s.sums + at * width, used, stride, width, out.as<Bf16>() + i * width);
    }
  }
}

}  // namespace lorikeet

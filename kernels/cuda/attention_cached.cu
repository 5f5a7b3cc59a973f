// SPDX-License-Identifier: Apache-2.0
// Attention of new queries over a cache: the tiles of attention_forward.cu, whose packed rows are all queries of a kv
// head, so each key and value is read once. Where these alone would not fill the device (chat: one query), the keys are
// shared out over blocks and the parts put together in order: out = sum 2^(e_i - e) sums_i / sum 2^(e_i - e) total_i
// with e_i the exponent of a part's largest score, e the largest of them. Accumulates in f32. The positions are read on
// the device; the grid depends on the number of queries and on `limit` only.
// Bytes at least: keys and values seen, (used rows) 2 kv 2; q and out. The parts add splits * heads (head_dim + 2) 8.
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 128;

/// One block a (query, head): out of the parts' statistics (splits, rows, 2) and sums (splits, rows, head_dim).
template <typename T>
__global__ void __launch_bounds__(threads) combine(const float* statistics, const float* sums, int splits, int rows,
                                                   int heads, int head_dim, T* out, std::int64_t out_stride) {
  const int row = static_cast<int>(blockIdx.x);
  const auto part = [&](int split) { return static_cast<std::int64_t>(split) * rows + row; };
  float largest = statistics[2 * part(0)];
  for (int i = 1; i < splits; ++i) largest = fmaxf(largest, statistics[2 * part(i)]);
  float total = 0;
  for (int i = 0; i < splits; ++i) total += exp2f(statistics[2 * part(i)] - largest) * statistics[2 * part(i) + 1];
  T* to = out + row / heads * out_stride + static_cast<std::int64_t>(row % heads) * head_dim;
  for (int column = static_cast<int>(threadIdx.x); column < head_dim; column += threads) {
    float value = 0;
    for (int i = 0; i < splits; ++i)
      value += exp2f(statistics[2 * part(i)] - largest) * sums[part(i) * head_dim + column];
    to[column] = from_float<T>(value / total);
  }
}

/// Into how many parts the keys are shared out: two blocks a multiprocessor, no part below two tiles.
std::int64_t splits_for(std::int64_t blocks, std::int64_t tiles, int multiprocessors) {
  const std::int64_t wanted = 2 * multiprocessors / std::max<std::int64_t>(blocks, 1);
  return std::max<std::int64_t>(1, std::min(wanted, tiles / 2));
}

}  // namespace

void CudaBackend::attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, TensorView positions,
                                   std::int64_t limit, const AttentionShape& shape, TensorView out) {
  constexpr const char* name = "attention_cached";
  check_attention_rows(*this, q, k_cache, v_cache, shape, name);
  check_rows(out, q.dtype, q.shape, name, "out");
  const std::int64_t queries = q.shape[0];
  check_tensor(positions, DType::i32, {queries}, name, "positions");
  check(limit <= k_cache.shape[0], name, "limit is beyond the cache");
  check(limit >= queries, name, "there are more queries than positions");
  if (queries == 0) return;

  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t at_once = attention_rows_at_once(q.dtype);
  const std::int64_t keys = attention_keys_at_once(q.dtype, shape.head_dim);
  const std::int64_t seen = shape.window > 0 ? std::min(limit, shape.window + at_once / group) : limit;
  const std::int64_t blocks = (queries * group + at_once - 1) / at_once * shape.kv_heads;
  AttentionRows work{q, k_cache, v_cache, out};
  work.positions = positions.as<std::int32_t>();
  work.limit = limit;
  work.splits = static_cast<int>(splits_for(blocks, (seen + keys - 1) / keys, multiprocessors()));
  if (work.splits == 1) return attention_rows(*this, work, shape, name);

  const std::int64_t rows = queries * shape.heads;
  work.statistics = static_cast<float*>(scratch().get(work.splits * rows * (shape.head_dim + 2) * 4));
  work.sums = work.statistics + work.splits * rows * 2;
  attention_rows(*this, work, shape, name);
  const auto put_together = [&]<typename T>(T* to) {
    launch(stream(), "attention_cached (parts)", combine<T>, dim3(static_cast<unsigned>(rows)), threads, 0,
           work.statistics, work.sums, work.splits, rows, shape.heads, shape.head_dim, to, out.stride());
  };
  if (q.dtype == DType::f32) {
    put_together(out.as<float>());
  } else if (q.dtype == DType::bf16) {
    put_together(out.as<bf16>());
  } else {
    put_together(out.as<f16>());
  }
}

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
// Causal attention with grouped keys: p = softmax(scale q k^T), out = p v, over packed sequences or over a cache, the
// softmax taken along with the tiles of keys (Dao et al. 2022, "FlashAttention"; Dao 2023, "FlashAttention-2"). With a
// soft cap the scores s become cap tanh(s / cap) first. Tiles that no query of a block sees are not visited.
// A block: 64 packed rows (attention.cuh) of one kv head over tiles of 64 keys (32 above head_dim 128, 16 above 192);
// each of four warps has 16 rows; the next values are loaded during q k^T, the next keys during p v. f32: 16 and 32.
// Shared memory: (64 + 2 keys) * 2 bytes * head_dim padded to 32, 64, 96, 128, 192 or 256: at most 48 KiB.
// Accumulates in f32; p is rounded to the compute type for p v, its sum is not.
// Bytes at least: q, k, v, out once, T heads 4 of lse: 2 T (2 q + 2 kv) + 4 T heads; flops 4 head_dim heads T S / 2 for
// sequences of S.
#include "kernels/checks.h"
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/attention_single.cuh"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 128;

struct Arguments {
  const void *q, *k, *v;
  void* out;
  float* lse;
  std::int64_t q_stride, k_stride, v_stride, out_stride;
  AttentionNumbers n;
  const std::int32_t* cu;
  int sequences, tokens;
  const std::int32_t* positions;
  int limit, splits;
  float *statistics, *sums;
};

/// What one block does: packed rows [first_row, rows) at most, whose queries lie `offset` behind the keys' start.
struct Work {
  int kv_head, begin, offset, rows, first_row;
  int keys, first_key, end_key;  ///< keys there are; those to visit, from a multiple of the tile on
};

template <int Rows, int Keys>
__device__ __forceinline__ Work work_of_block(const Arguments& a) {
  const int group = static_cast<int>(a.n.group.value);
  const int slot = static_cast<int>(blockIdx.x) / a.n.kv_heads;
  Work w{};
  w.kv_head = static_cast<int>(blockIdx.x) % a.n.kv_heads;
  if (a.positions == nullptr) {
    const Place place = place_of_slot(a.cu, a.sequences, a.tokens, slot, group, Rows, true);
    w.begin = place.begin;
    w.keys = place.length;
    w.rows = place.length * group;
    w.first_row = place.first_row;
  } else {
    const int position = a.positions[0];
    const bool inside = position >= 0 && position <= a.limit - a.tokens;  // else no keys: the results are NaN
    w.offset = inside ? position : 0;
    w.keys = inside ? position + a.tokens : 0;
    w.rows = a.tokens * group;
    w.first_row = slot * Rows;
  }
  const int first_query = w.offset + quotient(w.first_row, a.n.group);
  const int last_query = w.offset + quotient(min(w.first_row + Rows, w.rows) - 1, a.n.group);
  const int first = a.n.window > 0 ? max(first_query + 1 - a.n.window, 0) / Keys : 0;
  const int tiles = max((min(last_query + 1, w.keys) + Keys - 1) / Keys - first, 0);
  const int share = (tiles + a.splits - 1) / a.splits;
  const int split = static_cast<int>(blockIdx.y);
  w.first_key = (first + min(split * share, tiles)) * Keys;
  w.end_key = (first + min((split + 1) * share, tiles)) * Keys;
  return w;
}

/// Number of packed row `r` among (T, heads).
__device__ __forceinline__ std::int64_t index_of_row(const Work& w, const AttentionNumbers& n, int r) {
  const int token = quotient(r, n.group);
  const int group = static_cast<int>(n.group.value);
  return static_cast<std::int64_t>(w.begin + token) * n.heads + w.kv_head * group + (r - token * group);
}

/// Of the two rows of a thread.
template <int D>
struct Softmax {
  float sums[D / 8][4];
  float largest[2], total[2];
  __device__ Softmax() : largest{minus_huge, minus_huge}, total{0, 0} {
#pragma unroll
    for (int i = 0; i < D / 8; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
  }

  /// Scores of a tile of N keys from `key` on become p; what is there shrinks to the new largest score.
  template <int N>
  __device__ __forceinline__ void take(float (&s)[N / 8][4], const int (&query)[2], int key, bool whole,
                                       const AttentionNumbers& n) {
    const int column = key + static_cast<int>(threadIdx.x % 4) * 2;
    if (n.cap > 0) {
#pragma unroll
      for (int i = 0; i < N / 2; ++i) s[i / 4][i % 4] = n.cap * tanhf(n.narrowing * s[i / 4][i % 4]);
    }
    if (!whole) {
#pragma unroll
      for (int i = 0; i < N / 2; ++i) {
        if (!sees(query[i % 4 / 2], column + i / 4 * 8 + i % 2, n.window)) s[i / 4][i % 4] = -INFINITY;
      }
    }
    float top[2] = {largest[0], largest[1]};
#pragma unroll
    for (int i = 0; i < N / 2; ++i) top[i % 4 / 2] = fmaxf(top[i % 4 / 2], s[i / 4][i % 4]);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      top[half] = fmaxf(top[half], __shfl_xor_sync(full_warp, top[half], 1));
      top[half] = fmaxf(top[half], __shfl_xor_sync(full_warp, top[half], 2));
      const float shrink = exp2f((largest[half] - top[half]) * n.multiplier);
      const float shift = top[half] * n.multiplier;
      largest[half] = top[half];
      total[half] *= shrink;
#pragma unroll
      for (int i = 0; i < D / 8; ++i) {
        sums[i][2 * half] *= shrink;
        sums[i][2 * half + 1] *= shrink;
      }
#pragma unroll
      for (int i = 0; i < N / 8; ++i) {
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          s[i][e] = exp2f(s[i][e] * n.multiplier - shift);
          total[half] += s[i][e];
        }
      }
    }
  }
};

/// What is left of the block's work once the keys are visited: out and lse, or the part's statistics and sums.
template <typename T, int D>
__device__ __forceinline__ void finish(Softmax<D>& state, T* tile, int row, const Work& w, const Arguments& a) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  float factors[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    state.total[half] += __shfl_xor_sync(full_warp, state.total[half], 1);
    state.total[half] += __shfl_xor_sync(full_warp, state.total[half], 2);
    factors[half] = 1 / state.total[half];
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float total = state.total[half];
    const int r = w.first_row + row + lane / 4 + 8 * half;
    if (r >= w.rows) continue;
    const std::int64_t index = index_of_row(w, a.n, r);
    if (a.splits == 1) {
      if (a.lse != nullptr && lane % 4 == 0) a.lse[index] = state.largest[half] * a.n.natural + logf(total);
      continue;
    }
    const std::int64_t part = static_cast<std::int64_t>(blockIdx.y) * a.tokens * a.n.heads + index;
    if (lane % 4 == 0) {
      a.statistics[2 * part] = state.largest[half] * a.n.multiplier;
      a.statistics[2 * part + 1] = total;
    }
    float* to = a.sums + part * a.n.head_dim;
#pragma unroll
    for (int i = 0; i < D / 8; ++i) {
      const int column = i * 8 + lane % 4 * 2;
      if (column < a.n.head_dim) to[column] = state.sums[i][2 * half];
      if (column + 1 < a.n.head_dim) to[column + 1] = state.sums[i][2 * half + 1];
    }
  }
  if (a.splits > 1) return;
  const auto out = query_rows(static_cast<T*>(a.out), a.out_stride, w.begin, w.kv_head, a.n);
  store_rows<D>(state.sums, factors, tile, row, out, w.first_row + row, w.rows, a.n);
}

template <int D>
constexpr int keys_of = D <= 128 ? 64 : D <= 192 ? 32 : 16;
template <int D>
constexpr int shared_of = (64 + 2 * keys_of<D>) * D * 2;

template <typename T, int D>
__global__ void __launch_bounds__(threads, D <= 96 ? 3 : 2) forward_tiles(const Arguments a) {
  constexpr int keys = keys_of<D>;
  extern __shared__ __align__(128) unsigned char shared[];
  T* const q_tile = reinterpret_cast<T*>(shared);
  T* const k_tile = q_tile + 64 * D;
  T* const v_tile = k_tile + keys * D;
  const Work w = work_of_block<64, keys>(a);
  if (w.first_row >= w.rows) return;
  const auto q = query_rows(static_cast<const T*>(a.q), a.q_stride, w.begin, w.kv_head, a.n);
  const auto k = key_rows(static_cast<const T*>(a.k), a.k_stride, w.begin, w.kv_head, a.n);
  const auto v = key_rows(static_cast<const T*>(a.v), a.v_stride, w.begin, w.kv_head, a.n);
  if (w.first_key < w.end_key) {
    load_tile<D, 64, threads>(q_tile, q, w.first_row, w.rows, a.n);
    load_tile<D, keys, threads>(k_tile, k, w.first_key, w.keys, a.n);
    cp_async_commit();
  }
  const int row = static_cast<int>(threadIdx.x / 32) * 16;
  const bool any = w.first_row + row < w.rows;
  const int lane_row = w.first_row + row + static_cast<int>(threadIdx.x % 32) / 4;
  const int query[2] = {w.offset + quotient(lane_row, a.n.group), w.offset + quotient(lane_row + 8, a.n.group)};
  const int first_query = w.offset + quotient(w.first_row + row, a.n.group);
  const int last_query = w.offset + quotient(w.first_row + row + 15, a.n.group);
  Softmax<D> state;
  for (int key = w.first_key; key < w.end_key; key += keys) {
    const bool seen = any && key <= last_query && (a.n.window == 0 || first_query - (key + keys - 1) < a.n.window);
    float s[keys / 8][4];
    cp_async_wait<0>();
    __syncthreads();  // keys are there, values no longer read
    load_tile<D, keys, threads>(v_tile, v, key, w.keys, a.n);
    cp_async_commit();
    if (seen) multiply_rows<D, keys>(s, q_tile, row, k_tile);
    cp_async_wait<0>();
    __syncthreads();  // values are there, keys no longer read
    if (key + keys < w.end_key) load_tile<D, keys, threads>(k_tile, k, key + keys, w.keys, a.n);
    cp_async_commit();
    if (seen) {
      state.template take<keys>(s, query, key, all_see(first_query, last_query, key, key + keys - 1, a.n.window), a.n);
      accumulate_rows<D, keys>(state.sums, s, v_tile);
    }
  }
  if (any) finish<T, D>(state, q_tile, row, w, a);
}

// --- f32: exact products, eight threads a row ---

constexpr int single_rows = 16;
constexpr int single_keys = 32;

constexpr int single_shared(int head_dim) {
  return ((single_rows + single_keys) * single_pitch(head_dim) + single_rows * (single_keys + 4)) * 4;
}

/// Scores of one row with keys thread % 8 + 8 m of the tile.
__device__ __forceinline__ void single_scores(float (&s)[4], const float* q, const float* keys, int pitch) {
  const int place = static_cast<int>(threadIdx.x % 8);
#pragma unroll 1
  for (int c = 0; c < pitch - 4; c += 4) {
    const float4 left = *reinterpret_cast<const float4*>(q + c);
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const float4 right = *reinterpret_cast<const float4*>(keys + (place + 8 * m) * pitch + c);
      s[m] += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
    }
  }
}

struct SingleSoftmax {
  SingleSums sums;
  float largest, total;
};

/// p of the row's four keys a thread, into p[thread % 8 + 8 m].
__device__ __forceinline__ void single_take(SingleSoftmax& state, float (&s)[4], int query, int key, float* p,
                                            const AttentionNumbers& n) {
  const int place = static_cast<int>(threadIdx.x % 8);
  float top = state.largest;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (n.cap > 0) s[m] = n.cap * tanhf(n.narrowing * s[m]);
    if (!sees(query, key + place + 8 * m, n.window)) s[m] = -INFINITY;
    top = fmaxf(top, s[m]);
  }
  top = eight_max(top);
  const float shrink = exp2f((state.largest - top) * n.multiplier);
  state.largest = top;
  state.total *= shrink;
  state.sums.scale(shrink);
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    const float value = exp2f((s[m] - top) * n.multiplier);
    state.total += value;
    p[place + 8 * m] = value;
  }
}

__device__ __forceinline__ void single_finish(SingleSoftmax& state, int r, const Work& w, const Arguments& a) {
  const float total = eight_sum(state.total);
  if (r >= w.rows) return;
  const std::int64_t index = index_of_row(w, a.n, r);
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.y) * a.tokens * a.n.heads + index;
  const int place = static_cast<int>(threadIdx.x % 8);
  if (place == 0 && a.splits > 1) {
    a.statistics[2 * part] = state.largest * a.n.multiplier;
    a.statistics[2 * part + 1] = total;
  } else if (place == 0 && a.lse != nullptr) {
    a.lse[index] = state.largest * a.n.natural + logf(total);
  }
  if (a.splits == 1) state.sums.scale(1 / total);
  const auto out = query_rows(static_cast<float*>(a.out), a.out_stride, w.begin, w.kv_head, a.n);
  state.sums.store(a.splits > 1 ? a.sums + part * a.n.head_dim : out.row(r), a.n.head_dim);
}

__global__ void __launch_bounds__(threads, 4) forward_single(const Arguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int pitch = single_pitch(a.n.head_dim);
  float* const q_tile = reinterpret_cast<float*>(shared);
  float* const kv_tile = q_tile + single_rows * pitch;
  const int row = static_cast<int>(threadIdx.x / 8);
  float* const p = kv_tile + single_keys * pitch + row * (single_keys + 4);
  const Work w = work_of_block<single_rows, single_keys>(a);
  if (w.first_row >= w.rows) return;
  const auto q = query_rows(static_cast<const float*>(a.q), a.q_stride, w.begin, w.kv_head, a.n);
  const auto k = key_rows(static_cast<const float*>(a.k), a.k_stride, w.begin, w.kv_head, a.n);
  const auto v = key_rows(static_cast<const float*>(a.v), a.v_stride, w.begin, w.kv_head, a.n);
  single_load<threads>(q_tile, q, w.first_row, single_rows, w.rows, pitch, a.n.head_dim);
  const int query = w.offset + quotient(w.first_row + row, a.n.group);
  SingleSoftmax state{{}, minus_huge, 0};
  for (int key = w.first_key; key < w.end_key; key += single_keys) {
    __syncthreads();  // the last tile's values are no longer read
    single_load<threads>(kv_tile, k, key, single_keys, w.keys, pitch, a.n.head_dim);
    __syncthreads();
    float s[4] = {};
    single_scores(s, q_tile + row * pitch, kv_tile, pitch);
    single_take(state, s, query, key, p, a.n);
    __syncthreads();  // keys no longer read
    single_load<threads>(kv_tile, v, key, single_keys, w.keys, pitch, a.n.head_dim);
    __syncthreads();
    state.sums.add(p, kv_tile, single_keys, pitch);
  }
  single_finish(state, w.first_row + row, w, a);
}

template <typename T>
void launch_tiles(CudaBackend& backend, const Arguments& a, dim3 grid, const char* name) {
  with_tile_width(a.n.head_dim, [&](auto width) {
    launch(backend.stream(), name, forward_tiles<T, width()>, grid, threads, shared_of<width()>, a);
  });
}

}  // namespace

std::int64_t attention_keys_at_once(DType dtype, std::int64_t head_dim) {
  std::int64_t keys = single_keys;
  if (dtype != DType::f32) with_tile_width(head_dim, [&](auto width) { keys = keys_of<width()>; });
  return keys;
}

std::int64_t attention_rows_at_once(DType dtype) { return dtype == DType::f32 ? single_rows : 64; }

void attention_rows(CudaBackend& backend, const AttentionRows& rows, const AttentionShape& shape, const char* name) {
  const std::int64_t tokens = rows.q.shape[0];
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t tile_rows = attention_rows_at_once(rows.q.dtype);
  const Arguments a{rows.q.data, rows.k.data, rows.v.data, rows.out.data, rows.lse,
                    rows.q.stride(), rows.k.stride(), rows.v.stride(), rows.out.stride(),
                    AttentionNumbers(shape, rows_in_vectors({rows.q, rows.k, rows.v, rows.out}, shape.head_dim)),
                    rows.cu, static_cast<int>(rows.sequences), static_cast<int>(tokens),
                    rows.positions, static_cast<int>(rows.limit), rows.splits, rows.statistics, rows.sums};
  const std::int64_t slots = rows.cu != nullptr ? slots_for(tokens, rows.sequences, group, tile_rows)
                                                : (tokens * group + tile_rows - 1) / tile_rows;
  const dim3 grid(static_cast<unsigned>(slots * shape.kv_heads), static_cast<unsigned>(rows.splits));
  if (tokens == 0) return;
  if (rows.q.dtype == DType::f32) {
    launch(backend.stream(), name, forward_single, grid, threads, single_shared(a.n.head_dim), a);
  } else if (rows.q.dtype == DType::bf16) {
    launch_tiles<bf16>(backend, a, grid, name);
  } else {
    launch_tiles<f16>(backend, a, grid, name);
  }
}

void CudaBackend::attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                                    const AttentionShape& shape, TensorView out, TensorView lse) {
  constexpr const char* name = "attention_forward";
  check_attention_rows(*this, q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_rows(out, q.dtype, q.shape, name, "out");
  check_tensor(lse, DType::f32, {q.shape[0], shape.heads}, name, "lse");
  check_packed_rows(rows, q.shape[0], shape, name);
  AttentionRows work{q, k, v, out};
  work.lse = lse.as<float>();
  work.cu = rows.cu_seqlens.as<std::int32_t>();
  work.sequences = rows.sequences;
  attention_rows(*this, work, shape, name);
}

}  // namespace lorikeet::cuda

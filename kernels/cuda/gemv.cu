// SPDX-License-Identifier: Apache-2.0
// y (M,N) = x (M,K) W^T [+ bias] + sum over branches of xa (scale B)^T [+ residual] for M <= 3, straight from
// the stored weights of all parts of a group. W is decoded in f32 and rounded to the compute type as it is
// read (design.md §10); products, branches, bias and residual are one f32 sum in a fixed order, rounded once.
// With soft_cap the sum z becomes cap tanh(z / cap) (head logits).
//
// A warp makes two rows of W, with 16 bytes a lane and row in one step and the next step's already asked for;
// where rows are few and long, 2, 4 or 8 warps share K and their sums meet in shared memory. 4-bit codes
// become values by a shuffle: lane i holds code i % 16. Bytes: the stored weights and factors B once, x from
// cache, y: 0.516 N K (NF4) + 4 N r + 2 M (K + N).
#include <algorithm>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/small_operands.cuh"
#include "kernels/cuda/small_steps.h"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int rows_of_warp = 2;

enum class Kind { four_bit, int8, bf16, f16, f32 };

__device__ __forceinline__ bool has_nf4_codes(WeightFormat format) {
  return format == WeightFormat::nf4 || format == WeightFormat::nf4_single;
}

/// absmax of a block without tables in shared memory.
__device__ __forceinline__ float read_absmax(const StoredWeight& weight, std::int64_t block) {
  if (!is_nested_format(weight.format)) return static_cast<const float*>(weight.absmax)[block];
  const int code = static_cast<const std::uint8_t*>(weight.absmax)[block];
  return __fadd_rn(__fmul_rn(device_signed_map.values[code], weight.nested_absmax[block / 256]),
                   weight.nested_offset);
}

/// What a lane reads of one row of W in one step: `count` elements from (row, column); 8 of them at a time
/// become f32.
template <Kind kind>
struct Chunk;

template <>
struct Chunk<Kind::four_bit> {
  static constexpr int count = gemv_four_bit_step;
  uint4 words;
  float absmax;
  __device__ __forceinline__ void read(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                       std::int64_t width) {
    const std::int64_t element = row * width + column;
    words = *reinterpret_cast<const uint4*>(static_cast<const char*>(weight.values) + element / 2);
    absmax = read_absmax(weight, element / 64);
  }
  /// By all lanes of the warp.
  __device__ __forceinline__ void eight(int part, float code, float (&values)[8]) const {
    const std::uint32_t word = part == 0 ? words.x : part == 1 ? words.y : part == 2 ? words.z : words.w;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int nibble =
          static_cast<int>(word >> (i % 2 == 0 ? 4 * i + 4 : 4 * i - 4)) & 15;  // the high one first
      values[i] = __fmul_rn(__shfl_sync(full_warp, code, nibble), absmax);
    }
  }
};

template <>
struct Chunk<Kind::int8> {
  static constexpr int count = gemv_int8_step;
  uint4 words;
  float absmax;
  __device__ __forceinline__ void read(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                       std::int64_t width) {
    words = *reinterpret_cast<const uint4*>(static_cast<const char*>(weight.values) + row * width + column);
    absmax = static_cast<const float*>(weight.absmax)[row];
  }
  __device__ __forceinline__ void eight(int part, float, float (&values)[8]) const {
    const std::uint32_t pair[2] = {part == 0 ? words.x : words.z, part == 0 ? words.y : words.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const auto value = static_cast<std::int8_t>(pair[i / 4] >> (i % 4 * 8));
      values[i] = int8_value(value, absmax);
    }
  }
};

template <typename Stored>
struct DenseChunk {
  static constexpr int count = gemv_dense_step;
  Pack<Stored, pack_size<Stored, 8>> packs[8 / pack_size<Stored, 8>];
  __device__ __forceinline__ void read(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                       std::int64_t width) {
    const auto* from = reinterpret_cast<const Pack<Stored, pack_size<Stored, 8>>*>(
        static_cast<const Stored*>(weight.values) + row * width + column);
#pragma unroll
    for (int i = 0; i < 8 / pack_size<Stored, 8>; ++i) packs[i] = from[i];
  }
  __device__ __forceinline__ void eight(int, float, float (&values)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      values[i] = to_float(packs[i / pack_size<Stored, 8>].values[i % pack_size<Stored, 8>]);
  }
};
template <>
struct Chunk<Kind::bf16> : DenseChunk<bf16> {};
template <>
struct Chunk<Kind::f16> : DenseChunk<f16> {};
template <>
struct Chunk<Kind::f32> : DenseChunk<float> {};

/// Adds the branches' share of rows [row, row + Rows) of W; `lane` of `lanes` threads.
template <typename T, int Rows, int M>
__device__ __forceinline__ void add_branches(const SmallOperands& operands, const SmallPart& part,
                                             std::int64_t row, int lane, int lanes, float (&sums)[Rows][M]) {
  for (int i = part.first_branch; i < part.last_branch; ++i) {
    const SmallBranch& branch = operands.branches[i];
    const T* xa = static_cast<const T*>(branch.xa);
    for (int j = lane; j < branch.rank; j += lanes) {
      float left[M];
#pragma unroll
      for (int m = 0; m < M; ++m) left[m] = m < operands.rows ? to_float(xa[m * branch.xa_stride + j]) : 0.0f;
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        const std::int64_t at = min(row + r, part.out - 1) * branch.rank + j;
        const float factor = rounded_factor<T>(branch.b[at], branch.scale);
#pragma unroll
        for (int m = 0; m < M; ++m) sums[r][m] = fmaf(factor, left[m], sums[r][m]);
      }
    }
  }
}

/// sums += one chunk of two rows times x.
template <typename T, Kind kind, int M>
__device__ __forceinline__ void multiply_chunk(const Chunk<kind> (&chunks)[rows_of_warp], const T* x,
                                               std::int64_t stride, bool valid, float code,
                                               float (&sums)[rows_of_warp][M]) {
#pragma unroll
  for (int part = 0; part < Chunk<kind>::count / 8; ++part) {
    float left[M][8];
#pragma unroll
    for (int m = 0; m < M; ++m) {
      if (valid) {
        load<8>(x + m * stride + part * 8, left[m]);
      } else {
#pragma unroll
        for (int i = 0; i < 8; ++i) left[m][i] = 0;
      }
    }
#pragma unroll
    for (int r = 0; r < rows_of_warp; ++r) {
      float right[8];
      chunks[r].eight(part, code, right);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float value = rounded<T>(right[i]);
#pragma unroll
        for (int m = 0; m < M; ++m) sums[r][m] = fmaf(value, left[m][i], sums[r][m]);
      }
    }
  }
}

/// `split` warps of the block share K of one tile of two rows; M is exact.
template <typename T, Kind kind, int M>
__global__ void __launch_bounds__(threads, 1)
    gemv_kernel(const __grid_constant__ SmallOperands operands, int split) {
  __shared__ float partial[warps][rows_of_warp][M];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int share = warp % split;
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * (warps / split) + warp / split;
  const bool busy = tile < operands.tiles;
  const SmallPart& part = part_of_tile(operands, busy ? tile : 0);
  const std::int64_t row = busy ? (tile - part.first_tile) * rows_of_warp : 0;
  float sums[rows_of_warp][M] = {};
  if (busy) {
    const T* x = static_cast<const T*>(operands.x);
    const float* codes = has_nf4_codes(part.weight.format) ? device_nf4_code.values : device_fp4_code.values;
    const float code = kind == Kind::four_bit ? codes[lane % 16] : 0;
    constexpr std::int64_t width_of_warp = 32 * Chunk<kind>::count;
    const std::int64_t last = part.out - 1;
    Chunk<kind> next[rows_of_warp] = {};
    const auto read = [&](std::int64_t column) {
      if (column >= operands.width) return;
#pragma unroll
      for (int r = 0; r < rows_of_warp; ++r)
        next[r].read(part.weight, min(row + r, last), column, operands.width);
    };
    std::int64_t column = share * width_of_warp + lane * Chunk<kind>::count;
    read(column);
    for (std::int64_t begin = share * width_of_warp; begin < operands.width; begin += split * width_of_warp) {
      Chunk<kind> chunks[rows_of_warp];
#pragma unroll
      for (int r = 0; r < rows_of_warp; ++r) chunks[r] = next[r];
      read(column + split * width_of_warp);
      multiply_chunk<T, kind, M>(chunks, x + column, operands.x_stride, column < operands.width, code, sums);
      column += split * width_of_warp;
    }
    add_branches<T, rows_of_warp, M>(operands, part, row, share * 32 + lane, split * 32, sums);
  }
#pragma unroll
  for (int r = 0; r < rows_of_warp; ++r) {
#pragma unroll
    for (int m = 0; m < M; ++m) {
      sums[r][m] = warp_sum(sums[r][m]);
      if (lane == 0) partial[warp][r][m] = sums[r][m];
    }
  }
  __syncthreads();
  if (!busy || share != 0 || lane >= rows_of_warp * M) return;
  const int r = lane / M, m = lane % M;
  float sum = 0;
  for (int i = 0; i < split; ++i) sum += partial[warp + i][r][m];
  if (row + r < part.out) finish_small<T>(operands, part, m, row + r, sum);
}

/// One element of a weight of any format, without tables in shared memory.
__device__ __forceinline__ float any_value(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                           std::int64_t width) {
  const std::int64_t at = row * width + column;
  switch (weight.format) {
    case WeightFormat::f32:
      return static_cast<const float*>(weight.values)[at];
    case WeightFormat::bf16:
      return to_float(static_cast<const bf16*>(weight.values)[at]);
    case WeightFormat::f16:
      return to_float(static_cast<const f16*>(weight.values)[at]);
    case WeightFormat::int8:
      return int8_value(static_cast<const std::int8_t*>(weight.values)[at],
                        static_cast<const float*>(weight.absmax)[row]);
    default: {
      const int byte = static_cast<const std::uint8_t*>(weight.values)[at / 2];
      const int code = at % 2 == 0 ? byte >> 4 : byte & 15;
      const float* codes = has_nf4_codes(weight.format) ? device_nf4_code.values : device_fp4_code.values;
      return __fmul_rn(codes[code], read_absmax(weight, at / 64));
    }
  }
}

/// Any shape: one warp a row of W, element by element.
template <typename T>
__global__ void __launch_bounds__(threads, 1)
    gemv_any_kernel(const __grid_constant__ SmallOperands operands) {
  constexpr int most_rows = 3;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (tile >= operands.tiles) return;  // the whole warp
  const SmallPart& part = part_of_tile(operands, tile);
  const std::int64_t row = tile - part.first_tile;
  const T* x = static_cast<const T*>(operands.x);
  float sums[1][most_rows] = {};
  for (std::int64_t k = lane; k < operands.width; k += 32) {
    const float value = rounded<T>(any_value(part.weight, row, k, operands.width));
#pragma unroll
    for (int m = 0; m < most_rows; ++m) {
      if (m < operands.rows) sums[0][m] = fmaf(value, to_float(x[m * operands.x_stride + k]), sums[0][m]);
    }
  }
  add_branches<T, 1, most_rows>(operands, part, row, lane, 32, sums);
#pragma unroll
  for (int m = 0; m < most_rows; ++m) {
    const float sum = warp_sum(sums[0][m]);
    if (lane == m && m < operands.rows) finish_small<T>(operands, part, m, row, sum);
  }
}

constexpr Kind kind_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return Kind::f32;
    case WeightFormat::bf16:
      return Kind::bf16;
    case WeightFormat::f16:
      return Kind::f16;
    case WeightFormat::int8:
      return Kind::int8;
    default:
      return Kind::four_bit;
  }
}

void place_tiles(SmallOperands& operands, int rows_of_tile) {
  operands.tiles = 0;
  for (int i = 0; i < operands.part_count; ++i) {
    operands.parts[i].first_tile = operands.tiles;
    operands.tiles += (operands.parts[i].out + rows_of_tile - 1) / rows_of_tile;
  }
}

/// Warps that share a tile: enough that the device is full, none without a step of its own.
int split_of(const CudaBackend& backend, const SmallOperands& operands, std::int64_t width_of_warp) {
  int split = 1;
  while (split < warps && operands.tiles * split < backend.multiprocessors() * 16 &&
         operands.width > split * width_of_warp) {
    split *= 2;
  }
  return split;
}

template <typename T, Kind kind>
void launch_kind(CudaBackend& backend, const SmallOperands& operands) {
  const int split = split_of(backend, operands, 32 * Chunk<kind>::count);
  const std::int64_t tiles_of_block = warps / split;
  const auto grid = static_cast<unsigned>((operands.tiles + tiles_of_block - 1) / tiles_of_block);
  const auto kernel = operands.rows == 1   ? gemv_kernel<T, kind, 1>
                      : operands.rows == 2 ? gemv_kernel<T, kind, 2>
                                           : gemv_kernel<T, kind, 3>;
  launch(backend.stream(), "gemv", kernel, grid, threads, 0, operands, split);
}

}  // namespace

void gemv(CudaBackend& backend, DType compute, SmallOperands& operands, bool vectors) {
  place_tiles(operands, vectors ? rows_of_warp : 1);
  with_compute_type(compute, [&]<typename T>(std::type_identity<T>) {
    if (!vectors) {
      const auto grid = static_cast<unsigned>((operands.tiles + warps - 1) / warps);
      return launch(backend.stream(), "gemv", gemv_any_kernel<T>, grid, threads, 0, operands);
    }
    switch (kind_of(operands.parts[0].weight.format)) {
      case Kind::four_bit:
        return launch_kind<T, Kind::four_bit>(backend, operands);
      case Kind::int8:
        return launch_kind<T, Kind::int8>(backend, operands);
      case Kind::bf16:
        return launch_kind<T, Kind::bf16>(backend, operands);
      case Kind::f16:
        return launch_kind<T, Kind::f16>(backend, operands);
      case Kind::f32:
        return launch_kind<T, Kind::f32>(backend, operands);
    }
  });
}

}  // namespace lorikeet::cuda

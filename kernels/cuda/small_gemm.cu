// SPDX-License-Identifier: Apache-2.0
// y (M,N) = x (M,K) W^T [+ bias] + sum over branches of xa (scale B)^T [+ residual] for a few dozen rows,
// from 4-bit or int8 weights that are decoded in registers; bf16 or f16, K a multiple of 64. W is rounded to
// the compute type, products are made by tensor cores with f32 accumulators, the branches first; sums are
// rounded once. Fragment layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16".
//
// W is the left operand (16 rows of it a warp), x the right one (8 rows a tile), so 8 rows of x cost what
// they need. A sum does not mind the order of K: in a slab of 64, lane t of four takes elements [16 t, 16 t +
// 16) of its rows, which it reads from W at once, and step s of the four uses its elements 4 s ... 4 s + 3 as
// k = 2t, 2t+1, 2t+8, 2t+9. x comes through shared memory (cp.async, two stages), the next slab of W is asked
// for before this one is used. Where there are few tiles, 2, 4 or 8 warps of the block share K and their sums
// meet in shared memory in a fixed order. Bytes: the stored weights once for each 64 rows, x from cache, y:
// 0.516 N K (NF4) + 4 N r + 2 M (K + N).
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
constexpr int slab = 64;
constexpr int shared_stride = slab + 8;  // 8 lanes of a 16-byte read meet different banks

enum class Kind { four_bit, int8 };

/// Warps that may share K with x tiles of 8 * Tiles rows: so much shared memory there is.
template <int Tiles>
constexpr int most_split = Tiles <= 2   ? 8
                           : Tiles == 4 ? 4
                                        : 2;

template <typename T>
__device__ __forceinline__ std::uint32_t pair_of(float low, float high);
template <>
__device__ __forceinline__ std::uint32_t pair_of<bf16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
template <>
__device__ __forceinline__ std::uint32_t pair_of<f16>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// A lane's 16 elements of one row of W in a slab.
template <Kind kind>
struct Piece;
template <>
struct Piece<Kind::four_bit> {
  uint2 words;
  float absmax;
  __device__ __forceinline__ void read(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                       std::int64_t width) {
    const std::int64_t element = row * width + column;
    words = *reinterpret_cast<const uint2*>(static_cast<const char*>(weight.values) + element / 2);
    const std::int64_t block = element / 64;
    if (is_nested_format(weight.format)) {
      const int code_of_absmax = static_cast<const std::uint8_t*>(weight.absmax)[block];
      absmax =
          __fadd_rn(__fmul_rn(device_signed_map.values[code_of_absmax], weight.nested_absmax[block / 256]),
                    weight.nested_offset);
    } else {
      absmax = static_cast<const float*>(weight.absmax)[block];
    }
  }
  /// Elements 2 i and 2 i + 1, by all lanes.
  template <typename T>
  __device__ __forceinline__ std::uint32_t pair(int i, float code) const {
    const int byte = static_cast<int>((i < 4 ? words.x : words.y) >> (i % 4 * 8)) & 255;
    const float high = __shfl_sync(full_warp, code, byte >> 4), low = __shfl_sync(full_warp, code, byte & 15);
    return pair_of<T>(__fmul_rn(high, absmax), __fmul_rn(low, absmax));
  }
};
template <>
struct Piece<Kind::int8> {
  uint4 words;
  float absmax;
  __device__ __forceinline__ void read(const StoredWeight& weight, std::int64_t row, std::int64_t column,
                                       std::int64_t width) {
    words = *reinterpret_cast<const uint4*>(static_cast<const char*>(weight.values) + row * width + column);
    absmax = static_cast<const float*>(weight.absmax)[row];
  }
  template <typename T>
  __device__ __forceinline__ std::uint32_t pair(int i, float) const {
    const std::uint32_t word = i < 2 ? words.x : i < 4 ? words.y : i < 6 ? words.z : words.w;
    const auto first = static_cast<std::int8_t>(word >> (i % 2 * 16)),
               second = static_cast<std::int8_t>(word >> (i % 2 * 16 + 8));
    return pair_of<T>(int8_value(first, absmax), int8_value(second, absmax));
  }
};

/// sums += the branches, 16 ranks a step; lane t of four has ranks 4 t ... 4 t + 3 of them.
template <typename T, int Tiles>
__device__ __forceinline__ void add_branches(const SmallOperands& operands, const SmallPart& part,
                                             const std::int64_t (&rows)[2], int first_x_row,
                                             float (&sums)[Tiles][4]) {
  const int group = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  constexpr float factor = std::is_same_v<T, f16> ? 64.0f : 1.0f;
  for (int i = part.first_branch; i < part.last_branch; ++i) {
    const SmallBranch& branch = operands.branches[i];
    for (int first = 0; first < branch.rank; first += 16) {
      const int j = first + t * 4;
      std::uint32_t left[4];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e)
          v[e] = j + e < branch.rank ? branch.b[rows[r] * branch.rank + j + e] * branch.scale * factor : 0.0f;
        left[r] = pair_of<T>(v[0], v[1]);
        left[r + 2] = pair_of<T>(v[2], v[3]);
      }
#pragma unroll
      for (int tile = 0; tile < Tiles; ++tile) {
        const int m = first_x_row + tile * 8 + group;
        const T* xa = static_cast<const T*>(branch.xa) + m * branch.xa_stride + j;
        float v[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = m < operands.rows && j + e < branch.rank ? to_float(xa[e]) : 0.0f;
        const std::uint32_t right[2] = {pair_of<T>(v[0], v[1]), pair_of<T>(v[2], v[3])};
        mma_m16n8k16<T>(sums[tile], left, right);
      }
    }
  }
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
#pragma unroll
    for (int c = 0; c < 4; ++c) sums[tile][c] *= 1.0f / factor;
  }
}

/// sums += one slab: the decoded pieces of two rows of W times the x tiles in shared memory.
template <typename T, Kind kind, int Tiles>
__device__ __forceinline__ void multiply_slab(const Piece<kind> (&pieces)[2], const T* x, float code,
                                              float (&sums)[Tiles][4]) {
  const int group = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
  std::uint32_t left[4][4];
#pragma unroll
  for (int step = 0; step < 4; ++step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) left[step][i] = pieces[i % 2].template pair<T>(2 * step + i / 2, code);
  }
#pragma unroll
  for (int tile = 0; tile < Tiles; ++tile) {
    const auto* from = reinterpret_cast<const uint4*>(x + (tile * 8 + group) * shared_stride + t * 16);
    const uint4 low = from[0], high = from[1];
    const std::uint32_t right[4][2] = {{low.x, low.y}, {low.z, low.w}, {high.x, high.y}, {high.z, high.w}};
#pragma unroll
    for (int step = 0; step < 4; ++step) mma_m16n8k16<T>(sums[tile], left[step], right[step]);
  }
}

template <typename T, int Tiles>
__device__ __forceinline__ void copy_x(const SmallOperands& operands, int first_row, int first_slab,
                                       int slabs, int split, T* to) {
  const T* x = static_cast<const T*>(operands.x);
  for (int i = threadIdx.x; i < split * Tiles * 8 * (slab / 8); i += threads) {
    const int row = i / (slab / 8), column = i % (slab / 8) * 8;
    const int from_row = first_row + row % (Tiles * 8), from_slab = first_slab + row / (Tiles * 8);
    const bool valid = from_row < operands.rows && from_slab < slabs;
    const T* from = valid ? x + from_row * operands.x_stride + from_slab * slab + column : x;
    cp_async_16(to + row * shared_stride + column, from, valid);
  }
  cp_async_commit();
}

template <typename T, Kind kind, int Tiles>
__global__ void __launch_bounds__(threads, 1)
    small_gemm_kernel(const __grid_constant__ SmallOperands operands, int split) {
  constexpr int stage = most_split<Tiles> * Tiles * 8 * shared_stride;
  __shared__ __align__(16) T shared[2 * stage];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int share = warp % split, columns_of_tile = warps / split * 16;
  const SmallPart& part = part_of_tile(operands, blockIdx.x);
  const std::int64_t column = (blockIdx.x - part.first_tile) * columns_of_tile + warp / split * 16 + lane / 4;
  const std::int64_t rows[2] = {min(column, part.out - 1), min(column + 8, part.out - 1)};
  const int first_x_row = static_cast<int>(blockIdx.y) * Tiles * 8;
  const int slabs = static_cast<int>(operands.width / slab);
  const bool nf4 = part.weight.format == WeightFormat::nf4 || part.weight.format == WeightFormat::nf4_single;
  const float code = (nf4 ? device_nf4_code : device_fp4_code).values[lane % 16];

  Piece<kind> next[2] = {};
  const auto read = [&](int at) {
    next[0] = next[1] = {};
    if (at >= slabs) return;
#pragma unroll
    for (int r = 0; r < 2; ++r) next[r].read(part.weight, rows[r], at * slab + lane % 4 * 16, operands.width);
  };
  copy_x<T, Tiles>(operands, first_x_row, 0, slabs, split, shared);
  read(share);
  float sums[Tiles][4] = {};
  if (share == 0) add_branches<T, Tiles>(operands, part, rows, first_x_row, sums);
  for (int first = 0, turn = 0; first < slabs; first += split, turn ^= 1) {
    const Piece<kind> pieces[2] = {next[0], next[1]};
    read(first + split + share);
    cp_async_wait<0>();
    __syncthreads();  // this stage is here, and the other one has been read
    if (first + split < slabs)
      copy_x<T, Tiles>(operands, first_x_row, first + split, slabs, split, shared + (turn ^ 1) * stage);
    multiply_slab<T, kind, Tiles>(pieces, shared + turn * stage + share * Tiles * 8 * shared_stride, code,
                                  sums);
  }

  __syncthreads();
  auto* partial = reinterpret_cast<float*>(shared);  // [warp][tile * 4 + c][lane]
#pragma unroll
  for (int i = 0; i < Tiles * 4; ++i) {
    if (share != 0) partial[(warp * Tiles * 4 + i) * 32 + lane] = sums[i / 4][i % 4];
  }
  __syncthreads();
  if (share != 0) return;
#pragma unroll
  for (int i = 0; i < Tiles * 4; ++i) {
    float sum = sums[i / 4][i % 4];
    for (int other = 1; other < split; ++other) sum += partial[((warp + other) * Tiles * 4 + i) * 32 + lane];
    const int row = first_x_row + i / 4 * 8 + lane % 4 * 2 + i % 2;
    const std::int64_t at = column + (i % 4 < 2 ? 0 : 8);
    if (row < operands.rows && at < part.out) finish_small<T>(operands, part, row, at, sum);
  }
}

template <typename T, Kind kind, int Tiles>
void launch_tiles(CudaBackend& backend, SmallOperands& operands) {
  static_assert(warps * Tiles * 4 * 32 * 4 <= 2 * most_split<Tiles> * Tiles * 8 * shared_stride * 2);
  const auto blocks_y = static_cast<unsigned>((operands.rows + Tiles * 8 - 1) / (Tiles * 8));
  int split = 1;
  for (;; split *= 2) {
    operands.tiles = 0;
    for (int i = 0; i < operands.part_count; ++i) {
      operands.parts[i].first_tile = operands.tiles;
      const std::int64_t columns = warps / split * 16;
      operands.tiles += (operands.parts[i].out + columns - 1) / columns;
    }
    if (split == most_split<Tiles> || operands.tiles * blocks_y >= 2 * backend.multiprocessors() ||
        operands.width / slab <= split) {
      break;
    }
  }
  const dim3 grid(static_cast<unsigned>(operands.tiles), blocks_y);
  launch(backend.stream(), "small_gemm", small_gemm_kernel<T, kind, Tiles>, grid, threads, 0, operands,
         split);
}

template <typename T, Kind kind>
void launch_kind(CudaBackend& backend, SmallOperands& operands) {
  if (operands.rows <= 8) return launch_tiles<T, kind, 1>(backend, operands);
  if (operands.rows <= 16) return launch_tiles<T, kind, 2>(backend, operands);
  if (operands.rows <= 32) return launch_tiles<T, kind, 4>(backend, operands);
  launch_tiles<T, kind, 8>(backend, operands);
}

template <typename T>
void launch_type(CudaBackend& backend, SmallOperands& operands) {
  if (operands.parts[0].weight.format == WeightFormat::int8)
    return launch_kind<T, Kind::int8>(backend, operands);
  launch_kind<T, Kind::four_bit>(backend, operands);
}

}  // namespace

void small_gemm(CudaBackend& backend, DType compute, SmallOperands& operands) {
  if (compute == DType::bf16) return launch_type<bf16>(backend, operands);
  launch_type<f16>(backend, operands);
}

}  // namespace lorikeet::cuda

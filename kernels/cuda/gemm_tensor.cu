// SPDX-License-Identifier: Apache-2.0
// d (M,N) = a (M,K) b^T [+ c] on tensor cores, for machines without cuBLASLt and for operands it refuses.
// Contract: gemm.h; a and b bf16 or f16, b (N,K) or (K,N), d of that type or f32, rows with gaps, any M, N,
// K. Accumulator: f32; c is added to it, then one rounding. The order of the sum over K is fixed. Source:
// tiles in shared memory filled by cp.async, ldmatrix, mma.m16n8k16 (PTX ISA); tile.cuh.
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/gemm_own.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/tile.cuh"

namespace lorikeet::cuda {
namespace {

template <bool BTransposed>
using LargeTile = TensorTile<128, 128, 32, 2, 4, 1, 3, false, BTransposed>;
template <bool BTransposed>
using SmallTile = TensorTile<64, 64, 32, 2, 2, 1, 3, false, BTransposed>;

template <typename D>
struct Target {
  D* d = nullptr;
  std::int64_t stride = 0;
  const D* c = nullptr;
  std::int64_t c_stride = 0;
  bool pairs = false;  ///< two neighbours may be read and written at once
};

template <typename D>
struct Pair;
template <>
struct Pair<float> {
  using Type = float2;
  __device__ static float2 load(const float* from) { return *reinterpret_cast<const float2*>(from); }
  __device__ static void store(float* to, float2 v) { *reinterpret_cast<float2*>(to) = v; }
};
template <>
struct Pair<bf16> {
  __device__ static float2 load(const bf16* from) {
    return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(from));
  }
  __device__ static void store(bf16* to, float2 v) {
    *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(v.x, v.y);
  }
};
template <>
struct Pair<f16> {
  __device__ static float2 load(const f16* from) {
    return __half22float2(*reinterpret_cast<const __half2*>(from));
  }
  __device__ static void store(f16* to, float2 v) {
    *reinterpret_cast<__half2*>(to) = __floats2half2_rn(v.x, v.y);
  }
};

template <typename D>
__device__ void store(const Target<D>& target, int row, int column, int columns, float2 v) {
  D* const to = target.d + row * target.stride + column;
  const D* const add = target.c ? target.c + row * target.c_stride + column : nullptr;
  if (target.pairs && column + 1 < columns) {
    if (add) {
      const float2 before = Pair<D>::load(add);
      v.x += before.x;
      v.y += before.y;
    }
    Pair<D>::store(to, v);
    return;
  }
  to[0] = from_float<D>(v.x + (add ? to_float(add[0]) : 0.0f));
  if (column + 1 < columns) to[1] = from_float<D>(v.y + (add ? to_float(add[1]) : 0.0f));
}

template <class Tile, typename T, typename D>
__global__ void __launch_bounds__(Tile::threads)
    product_kernel(Matrix<T> a, Matrix<T> b, Target<D> target, int columns) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, n0 = static_cast<int>(blockIdx.x) * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, a, m0, b, n0, a.columns, shared);
#pragma unroll
  for (int i = 0; i < Tile::m_tiles; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = m0 + Tile::row(i, h);
      if (row >= a.rows) continue;
#pragma unroll
      for (int j = 0; j < Tile::n_tiles; ++j) {
        const int column = n0 + Tile::column(j);
        if (column < columns)
          store(target, row, column, columns, make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]));
      }
    }
}

bool pairs_fit(const TensorView& view) {
  const std::size_t size = 2 * size_of(view.dtype);
  return reinterpret_cast<std::uintptr_t>(view.data) % size == 0 && view.stride() % 2 == 0;
}

template <class Tile, typename T, typename D>
void launch_product(CudaBackend& backend, const Product& product) {
  Target<D> target;
  target.d = product.d.as<D>();
  target.stride = product.d.stride();
  target.pairs = pairs_fit(product.d);
  if (product.c) {
    target.c = product.c.as<const D>();
    target.c_stride = product.c.stride();
    target.pairs = target.pairs && pairs_fit(product.c);
  }
  const auto rows = static_cast<int>(product.d.rows()), columns = static_cast<int>(product.d.columns());
  const dim3 grid(static_cast<unsigned>((columns + Tile::n - 1) / Tile::n),
                  static_cast<unsigned>((rows + Tile::m - 1) / Tile::m));
  launch(backend.stream(), "product_kernel", product_kernel<Tile, T, D>, grid, dim3(Tile::threads),
         Tile::shared_bytes, Matrix<T>(product.a), Matrix<T>(product.b), target, columns);
}

template <typename T, typename D>
void choose_tile(CudaBackend& backend, const Product& product) {
  // Large tiles read less but must fill the device.
  const std::int64_t tiles = (product.d.rows() + 127) / 128 * ((product.d.columns() + 127) / 128);
  const bool large = product.d.rows() > 64 && tiles >= backend.multiprocessors();
  if (product.b_transposed) {
    if (large) return launch_product<LargeTile<true>, T, D>(backend, product);
    return launch_product<SmallTile<true>, T, D>(backend, product);
  }
  if (large) return launch_product<LargeTile<false>, T, D>(backend, product);
  launch_product<SmallTile<false>, T, D>(backend, product);
}

template <typename T>
void choose_output(CudaBackend& backend, const Product& product) {
  if (product.d.dtype == DType::f32) return choose_tile<T, float>(backend, product);
  choose_tile<T, T>(backend, product);
}

}  // namespace

void multiply_by_tensor_cores(CudaBackend& backend, const Product& product) {
  if (product.a.dtype == DType::bf16) return choose_output<bf16>(backend, product);
  choose_output<f16>(backend, product);
}

}  // namespace lorikeet::cuda

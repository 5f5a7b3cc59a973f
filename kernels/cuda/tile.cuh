// SPDX-License-Identifier: Apache-2.0
// One output tile of a product by tensor cores: the inner loop that gemm_tensor.cu, shrink.cu and
// factor_gradient.cu share for 16-bit operands (float_tile.cuh for f32).
//   tile (m,n) = sum over k of a(m,k) b(n,k); operands may lie transposed; what is outside an operand counts
//   as zero.
// Accumulator f32. Fragment layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16".
#pragma once

#include <cstdint>

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/matrix.cuh"

namespace lorikeet::cuda {

/// An (M,N) tile of a block of WarpsM * WarpsN * WarpsK warps: each has a part of the tile and, with WarpsK >
/// 1, of every step of K. `Stages` steps are loaded ahead of their use. A transposed operand lies as (k,m) or
/// (k,n).
template <int M, int N, int K, int WarpsM, int WarpsN, int WarpsK, int Stages, bool ATransposed,
          bool BTransposed>
struct TensorTile {
  static constexpr int m = M, n = N;
  static constexpr int threads = 32 * WarpsM * WarpsN * WarpsK;
  static constexpr int warp_m = M / WarpsM, warp_n = N / WarpsN;
  static constexpr int m_tiles = warp_m / 16, n_tiles = warp_n / 8;
  static constexpr int a_rows = ATransposed ? K : M, a_columns = ATransposed ? M : K, a_pitch = a_columns + 8;
  static constexpr int b_rows = BTransposed ? K : N, b_columns = BTransposed ? N : K, b_pitch = b_columns + 8;
  static constexpr int stage = a_rows * a_pitch + b_rows * b_pitch;
  static constexpr int pipeline_bytes = Stages * stage * 2;
  static constexpr int reduction_bytes = WarpsK / 2 * M * N * 4;
  static constexpr int shared_bytes = pipeline_bytes > reduction_bytes ? pipeline_bytes : reduction_bytes;
  using Sums = float[m_tiles][n_tiles][4];
  static_assert(warp_m % 16 == 0 && warp_n % 16 == 0 && K % (16 * WarpsK) == 0 && Stages >= 2);

  /// Rows and columns of this thread's sums inside the tile: sums[i][j][2 h + e] belongs to (row(i, h),
  /// column(j) + e).
  __device__ static int warp() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % 32; }
  __device__ static int warp_k() { return warp() / (WarpsM * WarpsN); }
  __device__ static int first_m() { return warp() / WarpsN % WarpsM * warp_m; }
  __device__ static int first_n() { return warp() % WarpsN * warp_n; }
  __device__ static int row(int i, int h) { return first_m() + i * 16 + h * 8 + lane() / 4; }
  __device__ static int column(int j) { return first_n() + j * 8 + lane() % 4 * 2; }

  /// The tile at (m0,n0) over `depth` values of k. With WarpsK > 1 the warps of warp_k() == 0 hold the sums
  /// afterwards. `shared` holds shared_bytes and is free again after the next barrier.
  template <typename T>
  __device__ static void run(Sums& sums, const Matrix<T>& a, int m0, const Matrix<T>& b, int n0, int depth,
                             unsigned char* shared) {
    T* stages = reinterpret_cast<T*>(shared);
#pragma unroll
    for (int i = 0; i < m_tiles; ++i)
#pragma unroll
      for (int j = 0; j < n_tiles; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[i][j][e] = 0;
    const int steps = (depth + K - 1) / K;
#pragma unroll
    for (int s = 0; s < Stages - 1; ++s) {
      if (s < steps) load(stages + s * stage, a, m0, b, n0, s * K);
      cp_async_commit();
    }
    for (int step = 0; step < steps; ++step) {
      cp_async_wait<Stages - 2>();
      __syncthreads();  // this step has arrived for all, and all are done with the one before
      const int next = step + Stages - 1;
      if (next < steps) load(stages + next % Stages * stage, a, m0, b, n0, next * K);
      cp_async_commit();
      multiply(sums, stages + step % Stages * stage);
    }
    if constexpr (WarpsK > 1) reduce(sums, reinterpret_cast<float*>(shared));
  }

 private:
  template <typename T>
  __device__ static void load(T* to, const Matrix<T>& a, int m0, const Matrix<T>& b, int n0, int k0) {
    load_part<a_rows, a_columns>(to, a, ATransposed ? k0 : m0, ATransposed ? m0 : k0);
    load_part<b_rows, b_columns>(to + a_rows * a_pitch, b, BTransposed ? k0 : n0, BTransposed ? n0 : k0);
  }

  /// Pieces of 8 elements, asynchronously where a whole one may be read at once.
  template <int Rows, int Columns, typename T>
  __device__ static void load_part(T* to, const Matrix<T>& from, int row0, int column0) {
    constexpr int in_row = Columns / 8, pieces = Rows * in_row;
#pragma unroll
    for (int first = 0; first < pieces; first += threads) {
      const int piece = first + static_cast<int>(threadIdx.x);
      if (pieces % threads != 0 && piece >= pieces) break;
      const int row = row0 + piece / in_row, column = column0 + piece % in_row * 8;
      T* const target = to + piece / in_row * (Columns + 8) + piece % in_row * 8;
      const int valid = row < from.rows ? from.columns - column : 0;
      const T* const source = from.data + row * from.stride + column;
      // cp.async wants an aligned source even where it reads nothing.
      if (from.vectors && (valid <= 0 || valid >= 8)) {
        cp_async_16(target, valid > 0 ? source : from.data, valid > 0);
      } else {
        load_elements(target, source, valid);
      }
    }
  }
  template <typename T>
  __device__ static void load_elements(T* to, const T* from, int valid) {
    const std::uint16_t* bits = reinterpret_cast<const std::uint16_t*>(from);
    std::uint32_t pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t low = 2 * i < valid ? bits[2 * i] : 0;
      const std::uint32_t high = 2 * i + 1 < valid ? bits[2 * i + 1] : 0;
      pairs[i] = low | high << 16;
    }
    *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
  }

  template <typename T>
  __device__ static void multiply(Sums& sums, const T* shared) {
    const T* const b_shared = shared + a_rows * a_pitch;
#pragma unroll
    for (int part = 0; part < K / 16 / WarpsK; ++part) {
      const int k = (part * WarpsK + (WarpsK > 1 ? warp_k() : 0)) * 16;
      std::uint32_t a[m_tiles][4], b[n_tiles][2];
#pragma unroll
      for (int i = 0; i < m_tiles; ++i) load_a(a[i], shared, first_m() + i * 16, k);
#pragma unroll
      for (int j = 0; j < n_tiles; j += 2) load_b(b[j], b[j + 1], b_shared, first_n() + j * 8, k);
#pragma unroll
      for (int i = 0; i < m_tiles; ++i)
#pragma unroll
        for (int j = 0; j < n_tiles; ++j) mma_m16n8k16<T>(sums[i][j], a[i], b[j]);
    }
  }
  template <typename T>
  __device__ static void load_a(std::uint32_t (&a)[4], const T* shared, int m0, int k0) {
    const int l = lane();
    if constexpr (ATransposed) {
      ldmatrix_x4_trans(a, shared + (k0 + l / 16 * 8 + l % 8) * a_pitch + m0 + l / 8 % 2 * 8);
    } else {
      ldmatrix_x4(a, shared + (m0 + l % 16) * a_pitch + k0 + l / 16 * 8);
    }
  }
  template <typename T>
  __device__ static void load_b(std::uint32_t (&low)[2], std::uint32_t (&high)[2], const T* shared, int n0,
                                int k0) {
    const int l = lane();
    std::uint32_t r[4];
    if constexpr (BTransposed) {
      ldmatrix_x4_trans(r, shared + (k0 + l / 8 % 2 * 8 + l % 8) * b_pitch + n0 + l / 16 * 8);
    } else {
      ldmatrix_x4(r, shared + (n0 + l / 16 * 8 + l % 8) * b_pitch + k0 + l / 8 % 2 * 8);
    }
    low[0] = r[0];
    low[1] = r[1];
    high[0] = r[2];
    high[1] = r[3];
  }

  /// Sums of the warps that share a part of the tile, halving their number in a fixed order.
  __device__ static void reduce(Sums& sums, float* shared) {
    constexpr int others = WarpsM * WarpsN, size = warp_m * warp_n;
#pragma unroll
    for (int half = WarpsK / 2; half > 0; half /= 2) {
      float* const place = shared + (warp_k() % half * others + warp() % others) * size + lane();
      __syncthreads();
      if (warp_k() >= half && warp_k() < 2 * half) {
#pragma unroll
        for (int e = 0; e < m_tiles * n_tiles * 4; ++e)
          place[e * 32] = sums[e / 4 / n_tiles][e / 4 % n_tiles][e % 4];
      }
      __syncthreads();
      if (warp_k() < half) {
#pragma unroll
        for (int e = 0; e < m_tiles * n_tiles * 4; ++e)
          sums[e / 4 / n_tiles][e / 4 % n_tiles][e % 4] += place[e * 32];
      }
    }
  }
};

}  // namespace lorikeet::cuda

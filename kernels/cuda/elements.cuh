// SPDX-License-Identifier: Apache-2.0
// How kernels walk over rows whose elements they take one by one: device views with a row stride, loads of 16
// bytes where addresses and strides allow, else element by element; and the host's choice between the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device.cuh"

namespace lorikeet::cuda {

/// A matrix on the device; row r begins at data + r * stride.
template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;
  __device__ __forceinline__ T* at(std::int64_t row, std::int64_t column) const {
    return data + row * stride + column;
  }
};
template <typename T>
Rows<T> rows_of(const TensorView& view) {
  return {static_cast<T*>(view.data), view.stride()};
}

template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T values[N];
};
/// Elements of a pack, at most 16 bytes.
template <typename T, int N>
constexpr int pack_size = N* static_cast<int>(sizeof(T)) > 16 ? 16 / static_cast<int>(sizeof(T)) : N;

/// N neighbours as f32; aligned to their size, at most to 16 bytes.
template <int N, typename T>
__device__ __forceinline__ void load(const T* from, float (&to)[N]) {
  constexpr int size = pack_size<T, N>;
#pragma unroll
  for (int i = 0; i < N; i += size) {
    const Pack<T, size> pack = *reinterpret_cast<const Pack<T, size>*>(from + i);
#pragma unroll
    for (int j = 0; j < size; ++j) to[i + j] = to_float(pack.values[j]);
  }
}
/// Stores them, each rounded to T.
template <int N, typename T>
__device__ __forceinline__ void store(T* to, const float (&from)[N]) {
  constexpr int size = pack_size<T, N>;
#pragma unroll
  for (int i = 0; i < N; i += size) {
    Pack<T, size> pack;
#pragma unroll
    for (int j = 0; j < size; ++j) pack.values[j] = from_float<T>(from[i + j]);
    *reinterpret_cast<Pack<T, size>*>(to + i) = pack;
  }
}

/// Elements of one 16-byte access.
template <typename T>
constexpr int lanes_of = 16 / static_cast<int>(sizeof(T));

/// A place in an extent: `count` neighbours in one row.
template <int N>
struct Unit {
  static constexpr int count = N;
  std::int64_t row, column;
  template <typename T>
  __device__ __forceinline__ void load(const Rows<T>& from, float (&to)[N]) const {
    cuda::load<N>(from.at(row, column), to);
  }
  template <typename T>
  __device__ __forceinline__ void store(const Rows<T>& to, const float (&from)[N]) const {
    cuda::store<N>(to.at(row, column), from);
  }
};

/// body(Unit<N>) for all of (rows, width), in units of N neighbours; what is left of a row goes one by one.
/// The grid is that of Extent::grid.
template <int N, typename Body>
__device__ __forceinline__ void for_units(std::int64_t rows, std::int64_t width, const Body& body) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * N;
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    for (std::int64_t column = begin; column < width; column += step) {
      if (column + N <= width) {
        body(Unit<N>{row, column});
      } else {
        for (std::int64_t i = column; i < width; ++i) body(Unit<1>{row, i});
      }
    }
  }
}

/// True when every given view that is there can be read in 16 bytes from the start of each row.
inline bool is_aligned(std::initializer_list<TensorView> views) {
  return std::all_of(views.begin(), views.end(), [](const TensorView& view) {
    const bool one_row = view.shape.rank() < 2 || view.rows() <= 1;
    const std::size_t stride = one_row ? 0 : static_cast<std::size_t>(view.stride()) * size_of(view.dtype);
    return reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 && stride % 16 == 0;
  });
}

/// What an elementwise kernel runs over: the rows of its operands, or one long row where none has gaps.
struct Extent {
  std::int64_t rows = 0, width = 0;
  bool vector = false;  ///< 16-byte accesses

  static constexpr unsigned threads = 256;
  dim3 grid(int lanes) const {
    const std::int64_t units = (width + lanes - 1) / lanes;
    const std::int64_t blocks = std::min<std::int64_t>((units + threads - 1) / threads, 0x7fffffff);
    return {static_cast<unsigned>(blocks), static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)), 1};
  }
};
/// Of views of equal shape; those without data are left out.
inline Extent extent_of(std::initializer_list<TensorView> views) {
  bool flat = true;
  for (const TensorView& view : views) flat = flat && view.contiguous();
  const TensorView& first = *views.begin();
  if (flat) {
    const bool aligned = std::all_of(views.begin(), views.end(), [](const TensorView& view) {
      return reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    });
    return {1, first.elements(), aligned};
  }
  return {first.rows(), first.columns(), is_aligned(views)};
}

/// Threads of a block that walks one row of `units` units: whole warps, at most 256.
inline unsigned row_threads(std::int64_t units) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((units + 31) / 32 * 32, 32, 256));
}

/// Throws unless the back end computes in this type.
inline void check_compute(const CudaBackend& backend, const TensorView& view, const char* operation,
                          const char* what) {
  check(backend.supports(view.dtype), operation, what);
}

/// body(std::type_identity<T>()) with the element type of a compute type.
template <typename Body>
void with_compute_type(DType dtype, const Body& body) {
  if (dtype == DType::f32) return body(std::type_identity<float>());
  if (dtype == DType::bf16) return body(std::type_identity<bf16>());
  body(std::type_identity<f16>());
}

}  // namespace lorikeet::cuda

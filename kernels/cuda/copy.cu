// SPDX-License-Identifier: Apache-2.0
// Copies on the device, with conversion between float types (f64, f32, f16, bf16; through f32 from or to 16
// bits, nearest even), and zeroing. Views may have gaps between rows; gaps are neither read nor written.
// Nothing is accumulated. Bytes: one read of `from`, one write of `to`.
#include "kernels/cuda/device_list.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/move.cuh"

namespace lorikeet::cuda {
namespace {

template <typename To, typename From>
__device__ __forceinline__ To converted(From v) {
  if constexpr (std::is_same_v<To, double>) {
    if constexpr (std::is_same_v<From, double>)
      return v;
    else
      return static_cast<double>(to_float(v));
  } else if constexpr (std::is_same_v<From, double>) {
    return from_float<To>(static_cast<float>(v));
  } else {
    return from_float<To>(to_float(v));
  }
}

template <typename To, typename From, int N>
__global__ void __launch_bounds__(256)
    convert_kernel(std::int64_t rows, std::int64_t width, Rows<const From> from, Rows<To> to) {
  for_units<N>(rows, width, [&](auto at) {
    Pack<To, at.count> result;
    const auto pack = *reinterpret_cast<const Pack<From, at.count>*>(from.at(at.row, at.column));
#pragma unroll
    for (int j = 0; j < at.count; ++j) result.values[j] = converted<To>(pack.values[j]);
    *reinterpret_cast<Pack<To, at.count>*>(to.at(at.row, at.column)) = result;
  });
}

template <typename Bits, int N>
__global__ void __launch_bounds__(256)
    move_kernel(std::int64_t rows, std::int64_t width, Rows<const Bits> from, Rows<Bits> to) {
  for_units<N>(rows, width, [&](auto at) {
    *reinterpret_cast<Pack<Bits, at.count>*>(to.at(at.row, at.column)) =
        *reinterpret_cast<const Pack<Bits, at.count>*>(from.at(at.row, at.column));
  });
}

template <typename Bits, int N>
__global__ void __launch_bounds__(256) zero_kernel(std::int64_t rows, std::int64_t width, Rows<Bits> to) {
  for_units<N>(rows, width, [&](auto at) {
    *reinterpret_cast<Pack<Bits, at.count>*>(to.at(at.row, at.column)) = Pack<Bits, at.count>{};
  });
}

/// body(std::type_identity<T>()) for a float type; false when it is none.
template <typename Body>
bool with_float_type(DType dtype, const Body& body) {
  switch (dtype) {
    case DType::f64:
      body(std::type_identity<double>());
      return true;
    case DType::f32:
      body(std::type_identity<float>());
      return true;
    case DType::f16:
      body(std::type_identity<f16>());
      return true;
    case DType::bf16:
      body(std::type_identity<bf16>());
      return true;
    default:
      return false;
  }
}

template <typename To, typename From>
void start_convert(cudaStream_t stream, const Extent& e, TensorView to, TensorView from) {
  constexpr int lanes = std::min(lanes_of<To>, lanes_of<From>);
  launch(stream, "copy", e.vector ? convert_kernel<To, From, lanes> : convert_kernel<To, From, 1>,
         e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const From>(from),
         rows_of<To>(to));
}

}  // namespace

void CudaBackend::copy(TensorView to, TensorView from) {
  check(to.elements() == from.elements(), "copy", "the element counts differ");
  check(
      (to.contiguous() && from.contiguous()) || (to.rows() == from.rows() && to.columns() == from.columns()),
      "copy", "rows with gaps need rows of the same length");
  if (to.elements() == 0) return;
  const Extent e = extent_of({to, from});
  if (to.dtype == from.dtype) {
    return with_bits(size_of(to.dtype), [&](auto type) {
      using Bits = typename decltype(type)::type;
      constexpr int lanes = lanes_of<Bits>;
      launch(stream(), "copy", e.vector ? move_kernel<Bits, lanes> : move_kernel<Bits, 1>,
             e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const Bits>(from),
             rows_of<Bits>(to));
    });
  }
  bool converted = false;
  with_float_type(to.dtype, [&](auto to_type) {
    converted = with_float_type(from.dtype, [&](auto from_type) {
      using To = typename decltype(to_type)::type;
      using From = typename decltype(from_type)::type;
      if constexpr (!std::is_same_v<To, From>) start_convert<To, From>(stream(), e, to, from);
    });
  });
  check(converted, "copy", "only float types are converted");
}

cudaError_t ask_for_code() {
  cudaFuncAttributes ignored{};
  return cudaFuncGetAttributes(&ignored, reinterpret_cast<const void*>(&zero_kernel<std::uint8_t, 1>));
}

void CudaBackend::fill_zero(TensorView to) {
  if (to.elements() == 0) return;
  const Extent e = extent_of({to});
  with_bits(size_of(to.dtype), [&](auto type) {
    using Bits = typename decltype(type)::type;
    constexpr int lanes = lanes_of<Bits>;
    launch(stream(), "fill_zero", e.vector ? zero_kernel<Bits, lanes> : zero_kernel<Bits, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<Bits>(to));
  });
}

}  // namespace lorikeet::cuda

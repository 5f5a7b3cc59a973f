// SPDX-License-Identifier: Apache-2.0
// The back end itself: memory, copies between host and device (the same memory here), conversion of element
// types.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <omp.h>

#include "kernels/base/error.h"
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/simd/select.h"

namespace lorikeet {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::int64_t copy_chunk = 1 << 16;

std::size_t padded(std::size_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

template <typename To, typename From>
void convert(To* to, const From* from, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) store(to[i], load(from[i]));
}

// f64 to f64 and between equal types is a plain copy; f64 from f32 and back loses nothing that f32 can hold.
template <typename To>
void convert_from(To* to, TensorView from, std::int64_t first, std::int64_t last) {
  switch (from.dtype) {
    case DType::f64:
      return convert(to, from.as<double>(), first, last);
    case DType::f32:
      return convert(to, from.as<float>(), first, last);
    case DType::f16:
      return convert(to, from.as<F16>(), first, last);
    default:
      return convert(to, from.as<Bf16>(), first, last);
  }
}

bool is_float(DType dtype) {
  return dtype == DType::f64 || dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

}  // namespace

void* Scratch::get(std::int64_t bytes) {
  if (storage_.view().bytes() < static_cast<std::size_t>(bytes)) {
    storage_ = Tensor();
    storage_ = backend_.allocate({bytes}, DType::u8);
  }
  return storage_.view().data;
}

CpuBackend::CpuBackend(int threads, std::uint64_t memory_limit_bytes)
    : isa_(chosen_isa()),
      threads_(threads),
      simd_(simd::kernels_for(isa_)),
      device_(cpu_device_info(isa_, threads)),
      budget_(memory_limit_bytes),
      scratch_(*this) {
  omp_set_num_threads(threads);
  omp_set_dynamic(0);
}

CpuBackend::~CpuBackend() = default;

bool CpuBackend::supports(DType compute) const {
  return compute == DType::f32 || compute == DType::bf16;
}

Tensor CpuBackend::allocate(Shape shape, DType dtype) {
  TensorView view{nullptr, dtype, shape};
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  if (bytes == 0) return {this, view};  // keeps its shape
  budget_.acquire(bytes);
  view.data = std::aligned_alloc(alignment, padded(bytes));
  if (view.data == nullptr) {
    budget_.release(bytes);
    throw Error(ErrorCode::out_of_memory, "The system refused " + std::to_string(bytes) + " bytes of memory");
  }
  return {this, view};
}

void CpuBackend::deallocate(void* data, std::size_t bytes) noexcept {
  std::free(data);
  budget_.release(bytes);
}

void CpuBackend::upload(TensorView to, const void* from) {
  if (to.bytes() > 0) std::memcpy(to.data, from, to.bytes());
}

void CpuBackend::download(void* to, TensorView from) {
  if (from.bytes() > 0) std::memcpy(to, from.data, from.bytes());
}

void CpuBackend::copy(TensorView to, TensorView from) {
  const std::int64_t count = to.elements();
  check(count == from.elements(), "copy", "the element counts differ");
  if (to.dtype == from.dtype) {
    const std::int64_t size = static_cast<std::int64_t>(size_of(to.dtype));
    for_chunks(threads_, count, copy_chunk, [&](std::int64_t first, std::int64_t last) {
      std::memmove(to.as<char>() + first * size, from.as<char>() + first * size,
                   static_cast<std::size_t>((last - first) * size));
    });
    return;
  }
  check(is_float(to.dtype) && is_float(from.dtype), "copy", "only float types are converted");
  for_chunks(threads_, count, copy_chunk, [&](std::int64_t first, std::int64_t last) {
    if (to.dtype == DType::f32 && from.dtype == DType::bf16) {
      return simd_.elements->widen(from.as<std::uint16_t>() + first, to.as<float>() + first, last - first);
    }
    if (to.dtype == DType::bf16 && from.dtype == DType::f32) {
      return simd_.elements->narrow(from.as<float>() + first, to.as<std::uint16_t>() + first, last - first);
    }
    switch (to.dtype) {
      case DType::f64:
        return convert_from(to.as<double>(), from, first, last);
      case DType::f32:
        return convert_from(to.as<float>(), from, first, last);
      case DType::f16:
        return convert_from(to.as<F16>(), from, first, last);
      default:
        return convert_from(to.as<Bf16>(), from, first, last);
    }
  });
}

void CpuBackend::fill_zero(TensorView to) {
  const auto bytes = static_cast<std::int64_t>(to.bytes());
  for_chunks(threads_, bytes, copy_chunk * 4, [&](std::int64_t first, std::int64_t last) {
    std::memset(to.as<char>() + first, 0, static_cast<std::size_t>(last - first));
  });
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// Memory and transfers of the emulated CUDA run-time library.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "tests/ptx/runtime.h"

namespace lorikeet::ptx {
namespace {

std::uint64_t address_of(const void* data) {
  return reinterpret_cast<std::uint64_t>(data);
}

/// Rows of a transfer; one row for plain copies.
struct Copy {
  char* to = nullptr;
  const char* from = nullptr;
  std::size_t to_pitch = 0, from_pitch = 0, width = 0, height = 1;
  std::size_t to_bytes() const { return (height - 1) * to_pitch + width; }
  std::size_t from_bytes() const { return (height - 1) * from_pitch + width; }
};

void require(DeviceMemory& memory, const void* data, std::size_t bytes, const char* what) {
  const std::string found = memory.complaint(address_of(data), bytes);
  if (!found.empty()) throw std::runtime_error(std::string(what) + ": " + found);
}

/// Moves bytes and what is known of them. `strict`: bytes never written may not leave the device.
void move(Runtime& r, const Copy& copy, bool strict) {
  const bool to_device = r.memory.is_device(address_of(copy.to));
  const bool from_device = r.memory.is_device(address_of(copy.from));
  for (std::size_t row = 0; row < copy.height; ++row) {
    char* to = copy.to + row * copy.to_pitch;
    const char* from = copy.from + row * copy.from_pitch;
    if (to_device) require(r.memory, to, copy.width, "the target of a copy");
    if (from_device) require(r.memory, from, copy.width, "the source of a copy");
    if (from_device && strict) {
      const std::uint8_t* known = r.memory.written(address_of(from));
      const std::uint8_t* hole = std::find(known, known + copy.width, std::uint8_t{0});
      if (hole != known + copy.width) {
        throw std::runtime_error("a copy to the host reads byte " + std::to_string(hole - known) + " of " +
                                 std::to_string(copy.width) + ", which was never written");
      }
    }
    std::memmove(to, from, copy.width);
    if (!to_device) continue;
    if (from_device)
      std::memmove(r.memory.written(address_of(to)), r.memory.written(address_of(from)), copy.width);
    if (!from_device) r.memory.mark_written(address_of(to), copy.width);
  }
  const std::uint64_t bytes = copy.width * copy.height;
  const char* name =
      to_device ? (from_device ? "copy on the device" : "copy to the device") : "copy to the host";
  r.traffic.add(name, LaunchKind::copy, bytes, bytes);
}

/// What is wrong with a copy when it is given, empty when nothing is.
std::string wrong_ends(const Runtime& r, const Copy& copy, cudaMemcpyKind kind) {
  const bool to_device = r.memory.is_device(address_of(copy.to));
  const bool from_device = r.memory.is_device(address_of(copy.from));
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && to_device != wants_to)
    return "the target is not where the kind of the copy says";
  if (kind != cudaMemcpyDefault && from_device != wants_from)
    return "the source is not where the kind of the copy says";
  if (copy.to_pitch < copy.width || copy.from_pitch < copy.width) return "a pitch below the width";
  std::string found;
  if (to_device) found = r.memory.complaint(address_of(copy.to), copy.to_bytes());
  if (!found.empty()) return "the target: " + found;
  if (from_device) found = r.memory.complaint(address_of(copy.from), copy.from_bytes());
  if (!found.empty()) return "the source: " + found;
  return "";
}

cudaError_t copy_later(Runtime& r, Copy copy, cudaMemcpyKind kind, cudaStream_t handle) {
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (const std::string found = wrong_ends(r, copy, kind); !found.empty())
    return r.refuse(cudaErrorInvalidValue, found);
  Stream* stream = r.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  const bool to_device = r.memory.is_device(address_of(copy.to));
  const bool from_device = r.memory.is_device(address_of(copy.from));
  const bool pageable = (!to_device && !r.is_pinned(copy.to, copy.to_bytes())) ||
                        (!from_device && !r.is_pinned(copy.from, copy.from_bytes()));
  if (!pageable) return r.submit(handle, [&r, copy] { move(r, copy, false); });
  if (stream->capture) {
    return r.refuse(cudaErrorStreamCaptureUnsupported,
                    "a copy of pageable memory while the stream is captured");
  }
  if (to_device && !from_device) {  // staged at the call
    const auto staged = std::make_shared<std::vector<char>>(copy.from, copy.from + copy.from_bytes());
    copy.from = staged->data();
    return r.submit(handle, [&r, copy, staged] { move(r, copy, false); });
  }
  // To pageable memory: the call returns when the bytes are there.
  const cudaError_t status = r.submit(handle, [&r, copy] { move(r, copy, true); });
  if (status != cudaSuccess) return status;
  r.schedule.finish(stream->last);
  return r.sticky;
}

cudaError_t copy_now(Runtime& r, const Copy& copy, cudaMemcpyKind kind) {
  const cudaError_t status = copy_later(r, copy, kind, nullptr);
  if (status != cudaSuccess) return status;
  r.schedule.finish(r.default_stream.last);
  return r.sticky;
}

cudaError_t fill_later(Runtime& r, void* data, std::size_t pitch, int value, std::size_t width,
                       std::size_t height, cudaStream_t stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (pitch < width) return r.refuse(cudaErrorInvalidValue, "a pitch below the width");
  const std::string found = r.memory.complaint(address_of(data), (height - 1) * pitch + width);
  if (!found.empty()) return r.refuse(cudaErrorInvalidValue, "the target of a fill: " + found);
  return r.submit(stream, [=, &r] {
    for (std::size_t row = 0; row < height; ++row) {
      char* to = static_cast<char*>(data) + row * pitch;
      require(r.memory, to, width, "the target of a fill");
      std::memset(to, value, width);
      r.memory.mark_written(address_of(to), width);
    }
    r.traffic.add("fill", LaunchKind::fill, 0, width * height);
  });
}

cudaError_t allocate(Runtime& r, void** data, std::size_t bytes, const char* call) {
  r.need_context();
  if (!data) return r.refuse(cudaErrorInvalidValue, "no place for the pointer");
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (!r.allocation_fails()) *data = r.memory.allocate(bytes);
  if (*data) return cudaSuccess;
  return r.refuse(cudaErrorMemoryAllocation, std::string(call) + " of " + std::to_string(bytes) +
                                                 " bytes with " + std::to_string(r.memory.used_bytes()) +
                                                 " of " + std::to_string(r.memory.limit_bytes()) + " in use");
}

cudaError_t allocate_pinned(Runtime& r, void** data, std::size_t bytes) {
  if (const cudaError_t status = r.check_no_capture("cudaHostAlloc"); status != cudaSuccess) return status;
  *data = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (!r.allocation_fails()) *data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*data)
    return r.refuse(cudaErrorMemoryAllocation, "page-locked memory of " + std::to_string(bytes) + " bytes");
  // NaN where nothing was put yet. Only the beginning: to touch every page of a large ring took most of a
  // test's time.
  std::memset(*data, 0xff, std::min(bytes, std::size_t{1} << 20));
  r.pinned[address_of(*data)] = bytes;
  r.own_pinned.insert(*data);
  return cudaSuccess;
}

}  // namespace
}  // namespace lorikeet::ptx

using namespace lorikeet::ptx;

extern "C" {

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return entry([&](Runtime& r) {
    const cudaError_t status = r.check_no_capture("cudaMalloc");
    return status != cudaSuccess ? status : allocate(r, data, bytes, "cudaMalloc");
  });
}

cudaError_t cudaFree(void* data) {
  return entry([&](Runtime& r) {
    if (!data) return cudaSuccess;
    if (const cudaError_t status = r.check_no_capture("cudaFree"); status != cudaSuccess) return status;
    r.schedule.finish_all();
    if (r.sticky != cudaSuccess) return r.sticky;
    return r.memory.release(data)
               ? cudaSuccess
               : r.refuse(cudaErrorInvalidValue, "cudaFree of what is no start of an allocation");
  });
}

cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t handle) {
  return entry([&](Runtime& r) {
    Stream* stream = r.stream(handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (stream->capture)
      return r.refuse(cudaErrorStreamCaptureUnsupported, "cudaMallocAsync inside a capture");
    if (bytes > r.memory.limit_bytes() - std::min(r.memory.used_bytes(), r.memory.limit_bytes())) {
      r.schedule.finish_all();  // frees that were given already
    }
    return allocate(r, data, bytes, "cudaMallocAsync");
  });
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  return entry([&](Runtime& r) {
    if (!data) return cudaSuccess;
    if (!r.memory.complaint(address_of(data), 1).empty()) {
      return r.refuse(cudaErrorInvalidValue, "cudaFreeAsync of what is no live allocation");
    }
    return r.submit(stream, [&r, data] {
      if (!r.memory.release(data))
        throw std::runtime_error("cudaFreeAsync of what is no start of an allocation");
    });
  });
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return entry([&](Runtime& r) { return allocate_pinned(r, data, bytes); });
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) {
  return entry([&](Runtime& r) { return allocate_pinned(r, data, bytes); });
}

cudaError_t cudaFreeHost(void* data) {
  return entry([&](Runtime& r) {
    if (!data) return cudaSuccess;
    if (const cudaError_t status = r.check_no_capture("cudaFreeHost"); status != cudaSuccess) return status;
    if (r.own_pinned.erase(data) == 0)
      return r.refuse(cudaErrorInvalidValue, "cudaFreeHost of unknown memory");
    r.schedule.finish_all();
    r.pinned.erase(address_of(data));
    std::free(data);
    return r.sticky;
  });
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  return entry([&](Runtime& r) {
    if (!data || bytes == 0) return r.refuse(cudaErrorInvalidValue, "cudaHostRegister of nothing");
    if (r.is_pinned(data, 1))
      return r.refuse(cudaErrorHostMemoryAlreadyRegistered, "it is page-locked already");
    if (r.allocation_fails()) return r.refuse(cudaErrorMemoryAllocation, "cudaHostRegister");
    r.pinned[address_of(data)] = bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* data) {
  return entry([&](Runtime& r) {
    r.schedule.finish_all();
    return r.pinned.erase(address_of(data))
               ? cudaSuccess
               : r.refuse(cudaErrorHostMemoryNotRegistered, "it was not page-locked");
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return entry([&](Runtime& r) {
    return copy_later(r, {static_cast<char*>(to), static_cast<const char*>(from), bytes, bytes, bytes}, kind,
                      stream);
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return entry([&](Runtime& r) {
    return copy_now(r, {static_cast<char*>(to), static_cast<const char*>(from), bytes, bytes, bytes}, kind);
  });
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return entry([&](Runtime& r) {
    return copy_later(
        r, {static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch, width, height},
        kind, stream);
  });
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return entry([&](Runtime& r) {
    return copy_now(
        r, {static_cast<char*>(to), static_cast<const char*>(from), to_pitch, from_pitch, width, height},
        kind);
  });
}

cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  return entry([&](Runtime& r) { return fill_later(r, data, bytes, value, bytes, 1, stream); });
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return entry([&](Runtime& r) { return fill_later(r, data, bytes, value, bytes, 1, nullptr); });
}
cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream) {
  return entry([&](Runtime& r) { return fill_later(r, data, pitch, value, width, height, stream); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return entry([&](Runtime& r) {
    r.need_context();
    *total = r.memory.limit_bytes();
    *free = *total - std::min(*total, r.memory.used_bytes());
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  return entry([&](Runtime& r) {
    *attributes = {};
    if (r.memory.is_device(address_of(data))) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->devicePointer = const_cast<void*>(data);
    } else if (r.is_pinned(data, 1)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = const_cast<void*>(data);
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->hostPointer = const_cast<void*>(data);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return entry([&](Runtime& r) {
    *pool = reinterpret_cast<cudaMemPool_t>(&r);
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return entry([](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  return entry([](Runtime&) { return cudaSuccess; });
}

}  // extern "C"

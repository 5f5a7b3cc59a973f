// SPDX-License-Identifier: Apache-2.0
// The emulated card and the errors of the emulated CUDA run-time library.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "tests/ptx/runtime.h"

namespace lorikeet::ptx {
namespace {

const char* name_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice";
    case cudaErrorUnsupportedPtxVersion:
      return "cudaErrorUnsupportedPtxVersion";
    case cudaErrorInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
      return "cudaErrorInvalidResourceHandle";
    case cudaErrorIllegalState:
      return "cudaErrorIllegalState";
    case cudaErrorNotReady:
      return "cudaErrorNotReady";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    case cudaErrorLaunchOutOfResources:
      return "cudaErrorLaunchOutOfResources";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
    case cudaErrorStreamCaptureIsolation:
      return "cudaErrorStreamCaptureIsolation";
    case cudaErrorStreamCaptureImplicit:
      return "cudaErrorStreamCaptureImplicit";
    case cudaErrorCapturedEvent:
      return "cudaErrorCapturedEvent";
    default:
      return "cudaError";
  }
}

/// A text that stays valid, with the reason that CUDA does not give.
const char* sentence_for(Runtime& r, cudaError_t error) {
  static std::map<cudaError_t, std::string> sentences;
  if (error == r.sticky) r.complaint_was_seen = true;
  std::string& sentence = sentences[error];
  sentence = std::string(name_of(error)) + " (" + std::to_string(static_cast<int>(error)) + ")";
  const auto reason = r.reasons.find(error);
  if (reason != r.reasons.end()) sentence += ": " + reason->second;
  return sentence.c_str();
}

int attribute(const Runtime& r, cudaDeviceAttr which, int ordinal, bool& known) {
  const Card& card = r.card;
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return card.shared_per_block;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return card.shared_per_block_most;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return card.shared_per_multiprocessor;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return card.architecture == 75 ? 0 : 1024;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return card.multiprocessors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return card.threads_per_multiprocessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return card.blocks_per_multiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return r.cards[static_cast<std::size_t>(ordinal)] / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return r.cards[static_cast<std::size_t>(ordinal)] % 10;
    case cudaDevAttrL2CacheSize:
      return 4 << 20;
    case cudaDevAttrTotalConstantMemory:
      return 64 * 1024;
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrHostRegisterSupported:
      return 1;
    case cudaDevAttrAsyncEngineCount:
      return 2;
    case cudaDevAttrIntegrated:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrComputeMode:
      return 0;
    default:
      known = false;
      return 0;
  }
}

cudaError_t check_ordinal(Runtime& r, int ordinal) {
  if (ordinal >= 0 && ordinal < std::ssize(r.cards)) return cudaSuccess;
  return r.refuse(cudaErrorInvalidDevice, "there is no device " + std::to_string(ordinal));
}

}  // namespace

bool& has_chosen_device() {
  thread_local bool chosen = false;
  return chosen;
}

}  // namespace lorikeet::ptx

using namespace lorikeet::ptx;

extern "C" {

cudaError_t cudaGetLastError() {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  return r.sticky != cudaSuccess ? r.sticky : std::exchange(r.last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  return r.sticky != cudaSuccess ? r.sticky : r.last_error;
}
const char* cudaGetErrorName(cudaError_t error) {
  return name_of(error);
}
const char* cudaGetErrorString(cudaError_t error) {
  Runtime& r = Runtime::get();
  const std::lock_guard<std::recursive_mutex> lock(r.mutex);
  return sentence_for(r, error);
}

cudaError_t cudaGetDeviceCount(int* count) {
  return entry([&](Runtime& r) {
    *count = static_cast<int>(r.cards.size());
    return cudaSuccess;
  });
}
// Since CUDA 12 this makes the context.
cudaError_t cudaSetDevice(int ordinal) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = check_ordinal(r, ordinal); status != cudaSuccess) return status;
    has_chosen_device() = true;
    Runtime::current_device = ordinal;
    r.need_context();
    return cudaSuccess;
  });
}
cudaError_t cudaGetDevice(int* ordinal) {
  return entry([&](Runtime&) {
    *ordinal = Runtime::current_device;
    return cudaSuccess;
  });
}
cudaError_t cudaInitDevice(int ordinal, unsigned, unsigned) {
  return entry([&](Runtime& r) {
    const cudaError_t status = check_ordinal(r, ordinal);
    if (status == cudaSuccess) r.contexts.insert(ordinal);
    return status;
  });
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int ordinal) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = check_ordinal(r, ordinal); status != cudaSuccess) return status;
    const std::string text = "0000:0" + std::to_string(ordinal + 1) + ":00.0";
    if (length <= static_cast<int>(text.size())) return r.refuse(cudaErrorInvalidValue, "no room for the id");
    std::strcpy(id, text.c_str());
    return cudaSuccess;
  });
}
cudaError_t cudaSetDeviceFlags(unsigned) {
  return entry([](Runtime&) { return cudaSuccess; });
}
cudaError_t cudaDeviceReset() {
  return entry([](Runtime& r) {
    const cudaError_t status = r.synchronize();
    r.contexts.erase(Runtime::current_device);
    return status;
  });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return entry([&](Runtime&) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = check_ordinal(r, ordinal); status != cudaSuccess) return status;
    *properties = {};
    cudaDeviceProp& p = *properties;
    const int capability = r.cards[static_cast<std::size_t>(ordinal)];
    const std::string name = "Emulated card of compute capability " + std::to_string(capability / 10) + "." +
                             std::to_string(capability % 10);
    std::strncpy(p.name, name.c_str(), sizeof(p.name) - 1);
    p.major = capability / 10;
    p.minor = capability % 10;
    p.totalGlobalMem = r.memory.limit_bytes();
    p.multiProcessorCount = r.card.multiprocessors;
    p.sharedMemPerBlock = static_cast<std::size_t>(r.card.shared_per_block);
    p.sharedMemPerBlockOptin = static_cast<std::size_t>(r.card.shared_per_block_most);
    p.sharedMemPerMultiprocessor = static_cast<std::size_t>(r.card.shared_per_multiprocessor);
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiProcessor = r.card.threads_per_multiprocessor;
    p.maxBlocksPerMultiProcessor = r.card.blocks_per_multiprocessor;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
    p.maxThreadsDim[2] = 64;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.totalConstMem = 64 * 1024;
    p.l2CacheSize = 4 << 20;
    p.asyncEngineCount = 2;
    p.concurrentKernels = p.unifiedAddressing = p.canMapHostMemory = p.memoryPoolsSupported = 1;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int ordinal) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = check_ordinal(r, ordinal); status != cudaSuccess) return status;
    bool known = true;
    *value = attribute(r, which, ordinal, known);
    if (known) return cudaSuccess;
    return r.refuse(cudaErrorInvalidValue, "device attribute " + std::to_string(which) + " is not emulated");
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return entry([&](Runtime&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return entry([&](Runtime&) {
    *version = CUDART_VERSION;
    return cudaSuccess;
  });
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Memory of the device and copies that look, to the caller, as if they happened at once.
//
// Memory comes from cudaMalloc and goes back by cudaFree after both streams are done: addresses in recordings
// stay what they are, no pool keeps memory from other programs, and what is free is what the driver says.
// Both wait for the device, which costs nothing here: after warm-up no step allocates or frees.
#include <cuda_runtime_api.h>

#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_list.h"
#include "kernels/cuda/status.h"
#include "kernels/cuda/streams.h"

namespace lorikeet::cuda {

void* Scratch::get(std::int64_t bytes) {
  if (storage_.view().bytes() < static_cast<std::size_t>(bytes)) {
    backend_.forget_repeats();  // recordings name the old memory
    storage_ = Tensor();
    storage_ = backend_.allocate({bytes}, DType::u8);
  }
  return storage_.view().data;
}

void Scratch::release() {
  storage_ = Tensor();
}

void CudaBackend::Streams::free(void* data) noexcept {
  (void)cudaStreamSynchronize(main.get());
  (void)cudaStreamSynchronize(copy.get());
  (void)cudaFree(data);
}

Tensor CudaBackend::allocate(Shape shape, DType dtype) {
  TensorView view{nullptr, dtype, shape};
  const std::size_t bytes = static_cast<std::size_t>(shape.elements()) * size_of(dtype);
  if (bytes == 0) return {this, view};  // keeps its shape
  streams_->refuse_in_recording("allocate");
  use_device(streams_->ordinal);
  budget_.acquire(bytes);
  const cudaError_t status = cudaMalloc(&view.data, bytes);
  if (status != cudaSuccess) {
    budget_.release(bytes);
    check_cuda(status, ("cudaMalloc of " + std::to_string(bytes) + " bytes").c_str());
  }
  return {this, view};
}

void CudaBackend::deallocate(void* data, std::size_t bytes) noexcept {
  if (streams_->capture.active) {
    streams_->capture.obstacle = "memory was given back inside repeated work";
    streams_->capture.freed.push_back(data);
  } else {
    streams_->free(data);
  }
  budget_.release(bytes);
}

void CudaBackend::upload(TensorView to, const void* from) {
  streams_->refuse_in_recording("upload");
  if (!to.contiguous()) throw Error(ErrorCode::invalid_argument, "upload: rows with gaps");
  if (to.bytes() > 0) streams_->staging.upload(stream(), to.data, from, to.bytes());
}

void CudaBackend::download(void* to, TensorView from) {
  streams_->refuse_in_recording("download");
  if (!from.contiguous()) throw Error(ErrorCode::invalid_argument, "download: rows with gaps");
  if (from.bytes() > 0) streams_->staging.download(stream(), to, from.data, from.bytes());
}

void CudaBackend::synchronize() {
  streams_->refuse_in_recording("synchronize");
  check_cuda(cudaStreamSynchronize(stream()), "synchronize");
  check_cuda(cudaStreamSynchronize(streams_->copy.get()), "synchronize");
}

}  // namespace lorikeet::cuda

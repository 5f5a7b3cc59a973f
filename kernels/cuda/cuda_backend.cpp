// SPDX-License-Identifier: Apache-2.0
// One GPU: its properties, its streams, its end.
#include "kernels/cuda/cuda_backend.h"

#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/device_list.h"
#include "kernels/cuda/recordings.h"
#include "kernels/cuda/status.h"
#include "kernels/cuda/streams.h"

namespace lorikeet::cuda {

CudaBackend::Streams::Streams(int device_ordinal) : ordinal(device_ordinal) {
  use_device(ordinal);
  check_cuda(cudaStreamCreateWithFlags(main.put(), cudaStreamNonBlocking), "cudaStreamCreate");
  check_cuda(cudaStreamCreateWithFlags(copy.put(), cudaStreamNonBlocking), "cudaStreamCreate");
  ready = make_event();
}

void CudaBackend::Streams::refuse_in_recording(const char* operation) const {
  if (capture.active)
    throw Error(ErrorCode::unsupported, std::string(operation) + " cannot be part of repeated work");
}

CudaBackend::CudaBackend(int ordinal, std::uint64_t memory_limit_bytes)
    : device_(start_device(ordinal)),
      compute_capability_(compute_capability_of(ordinal)),
      multiprocessors_(device_.threads),
      budget_(memory_limit_bytes),
      scratch_(*this),
      weight_scratch_(*this) {
  require_served(device_, compute_capability_);
  streams_ = std::make_unique<Streams>(ordinal);
  recordings_ = std::make_shared<Recordings>();
}

CudaBackend::~CudaBackend() {
  // Nothing can be done about an error here; what was said before stands.
  (void)cudaStreamSynchronize(streams_->main.get());
  (void)cudaStreamSynchronize(streams_->copy.get());
  recordings_.reset();
  linear_.reset();
  optimizer_.reset();
  scratch_.release();
  weight_scratch_.release();
}

cudaStream_t CudaBackend::stream() const {
  use_device(streams_->ordinal);
  return streams_->main.get();
}

bool CudaBackend::supports(DType compute) const {
  return compute == DType::f32 || compute == DType::f16 || (compute == DType::bf16 && device_.has_bf16);
}

}  // namespace lorikeet::cuda

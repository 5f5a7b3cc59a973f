// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/cuda_backend.h"

namespace lorikeet::cuda {

/// What linear layers and the head keep between calls.
struct CudaBackend::LinearState {
  std::unique_ptr<CublasLt> cublas_lt = CublasLt::open();  ///< nullptr where it is absent
};

}  // namespace lorikeet::cuda

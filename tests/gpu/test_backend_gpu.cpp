// SPDX-License-Identifier: Apache-2.0
// The CUDA back end on the card of this machine as the one under test.
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_list.h"
#include "tests/kernels/op_support.h"

namespace lorikeet::testing {

std::unique_ptr<Backend> test_backend(int) {
  return std::make_unique<cuda::CudaBackend>(cuda::first_device(), 0);
}

std::unique_ptr<Backend> processor_backend(std::uint64_t) {
  return nullptr;
}

}  // namespace lorikeet::testing

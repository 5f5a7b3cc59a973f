// SPDX-License-Identifier: Apache-2.0
// The CUDA back end on the interpreter, for tests of operations (test_backend) and for whole runs
// (make_backend with device cuda). Linked as an object, before lorikeet_kernels, whose loader of the plug-in
// is then not taken.
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/cuda_loader.h"
#include "kernels/cuda/device_list.h"
#include "tests/kernels/op_support.h"

namespace lorikeet {

CudaReport list_cuda_devices(bool start) {
  return cuda::find_devices({}, start);
}

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  return std::make_unique<cuda::CudaBackend>(cuda::first_device(), options.memory_limit_bytes);
}

namespace testing {

std::unique_ptr<Backend> test_backend(int) {
  return make_cuda_backend({});
}

std::unique_ptr<Backend> processor_backend(std::uint64_t memory_limit_bytes) {
  BackendOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.memory_limit_bytes = memory_limit_bytes;
  return make_backend(options);
}

}  // namespace testing
}  // namespace lorikeet

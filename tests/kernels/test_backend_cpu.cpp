// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/op_support.h"

namespace lorikeet::testing {

std::unique_ptr<Backend> test_backend(int threads) {
  BackendOptions options;
  options.device = "cpu";
  options.threads = threads;
  return make_backend(options);
}

std::unique_ptr<Backend> processor_backend(std::uint64_t memory_limit_bytes) {
  BackendOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.memory_limit_bytes = memory_limit_bytes;
  return make_backend(options);
}

}  // namespace lorikeet::testing

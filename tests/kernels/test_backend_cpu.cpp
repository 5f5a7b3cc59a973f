// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/op_support.h"

namespace lorikeet::testing {

std::unique_ptr<Backend> test_backend(int threads) {
  BackendOptions options;
  options.device = "cpu";
  options.threads = threads;
  return make_backend(options);
}

}  // namespace lorikeet::testing

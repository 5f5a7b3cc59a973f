// SPDX-License-Identifier: Apache-2.0
// A kernel with more live values than its launch bound leaves registers: check_ptxas.sh has to refuse it.
namespace lorikeet::planted {

__global__ void __launch_bounds__(1024) many_values(const float* x, float* y, int n) {
  float values[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) values[i] = x[i * n + threadIdx.x];
  for (int round = 0; round < n; ++round) {
#pragma unroll
    for (int i = 0; i < 96; ++i) values[i] = values[i] * values[(i + 37) % 96] + x[round];
  }
#pragma unroll
  for (int i = 0; i < 96; ++i) y[i * n + threadIdx.x] = values[i];
}

}  // namespace lorikeet::planted

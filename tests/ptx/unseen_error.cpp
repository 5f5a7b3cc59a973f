// SPDX-License-Identifier: Apache-2.0
// A program whose device fails after its last question: the emulated library must not let it end as if all
// were well.
#include <cuda_runtime_api.h>

int main() {
  cudaStream_t stream = nullptr;
  void* data = nullptr;
  bool given = cudaStreamCreate(&stream) == cudaSuccess && cudaMallocAsync(&data, 64, stream) == cudaSuccess;
  given = given && cudaFreeAsync(data, stream) == cudaSuccess &&
          cudaMemsetAsync(data, 0, 64, stream) == cudaSuccess;
  return given ? 0 : 1;
}

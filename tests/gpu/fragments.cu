// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/fragments.h"

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::testing {
namespace {

using namespace cuda;

template <typename T>
__global__ void mma_k16_kernel(const std::uint32_t* a, const std::uint32_t* b, float* d) {
  const unsigned lane = threadIdx.x;
  std::uint32_t a_registers[4], b_registers[2];
  float d_registers[4];
  for (int i = 0; i < 4; ++i) a_registers[i] = a[lane * 4 + i];
  for (int i = 0; i < 2; ++i) b_registers[i] = b[lane * 2 + i];
  for (int i = 0; i < 4; ++i) d_registers[i] = d[lane * 4 + i];
  mma_m16n8k16<T>(d_registers, a_registers, b_registers);
  for (int i = 0; i < 4; ++i) d[lane * 4 + i] = d_registers[i];
}

__global__ void mma_k8_kernel(const std::uint32_t* a, const std::uint32_t* b, float* d) {
  const unsigned lane = threadIdx.x;
  float d_registers[4];
  for (int i = 0; i < 4; ++i) d_registers[i] = d[lane * 4 + i];
  mma_m16n8k8(d_registers, a[lane * 2], a[lane * 2 + 1], b[lane]);
  for (int i = 0; i < 4; ++i) d[lane * 4 + i] = d_registers[i];
}

template <bool Transposed>
__global__ void ldmatrix_kernel(const std::uint16_t* matrices, std::uint32_t* registers) {
  __shared__ alignas(16) std::uint16_t shared[256];
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < 256; i += 32) shared[i] = matrices[i];
  __syncthreads();
  std::uint32_t r[4];
  if constexpr (Transposed)
    ldmatrix_x4_trans(r, shared + lane * 8);
  else
    ldmatrix_x4(r, shared + lane * 8);
  for (int i = 0; i < 4; ++i) registers[lane * 4 + i] = r[i];
}

__global__ void cp_async_kernel(const std::uint32_t* from, std::uint32_t* to) {
  __shared__ alignas(16) std::uint32_t shared[128];
  const unsigned lane = threadIdx.x;
  cp_async_16(shared + lane * 4, from + lane * 4, lane % 2 == 0);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) to[lane * 4 + i] = shared[lane * 4 + i];
}

}  // namespace

void start_mma_k16(cudaStream_t stream, bool is_bf16, const std::uint32_t* a, const std::uint32_t* b,
                   float* d) {
  launch(stream, "mma", is_bf16 ? mma_k16_kernel<bf16> : mma_k16_kernel<f16>, 1, 32, 0, a, b, d);
}
void start_mma_k8(cudaStream_t stream, const std::uint32_t* a, const std::uint32_t* b, float* d) {
  launch(stream, "mma", mma_k8_kernel, 1, 32, 0, a, b, d);
}
void start_ldmatrix(cudaStream_t stream, bool transposed, const std::uint16_t* matrices,
                    std::uint32_t* registers) {
  launch(stream, "ldmatrix", transposed ? ldmatrix_kernel<true> : ldmatrix_kernel<false>, 1, 32, 0, matrices,
         registers);
}
void start_cp_async(cudaStream_t stream, const std::uint32_t* from, std::uint32_t* to) {
  launch(stream, "cp.async", cp_async_kernel, 1, 32, 0, from, to);
}

}  // namespace lorikeet::testing

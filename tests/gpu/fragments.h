// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// One warp that hands its registers to an instruction of device.cuh and gives back what it got; for
// test_fragments.cpp.
namespace lorikeet::testing {

/// d [32][4] = mma of a [32][4], b [32][2] with d as it is: m16n8k16 of bf16 or f16.
void start_mma_k16(cudaStream_t stream, bool bf16, const std::uint32_t* a, const std::uint32_t* b, float* d);
/// The same of m16n8k8 of f16: a [32][2], b [32].
void start_mma_k8(cudaStream_t stream, const std::uint32_t* a, const std::uint32_t* b, float* d);
/// registers [32][4] = ldmatrix of four matrices of 8 x 8 (16 bits), one after the other.
void start_ldmatrix(cudaStream_t stream, bool transposed, const std::uint16_t* matrices,
                    std::uint32_t* registers);
/// to [32][4] = 16 bytes a lane by way of cp.async; zeros for odd lanes, whose source is not valid.
void start_cp_async(cudaStream_t stream, const std::uint32_t* from, std::uint32_t* to);

}  // namespace lorikeet::testing

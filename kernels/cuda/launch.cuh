// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "kernels/cuda/status.h"

namespace lorikeet::cuda {

/// Starts kernel(args...) on `stream`; throws Error naming `name` when the launch is refused. More than 48 KiB of dynamic
/// shared memory is asked for first.
template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, Arguments&&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  if (shared_bytes > 48 * 1024) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)),
               name);
  }
  kernel<<<grid, block, shared_bytes, stream>>>(static_cast<Parameters>(std::forward<Arguments>(arguments))...);
  check_cuda(cudaGetLastError(), name);
}

}  // namespace lorikeet::cuda

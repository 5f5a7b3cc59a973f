// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace lorikeet::cuda {

/// Files that may be cuBLASLt, absolute paths, best first; "" means the running program itself (dlopen of a null
/// pointer). The plug-in links cublas_lt_candidates.cpp, which looks for NVIDIA's library and is no part of
/// lorikeet_cuda_objects; tests/ptx links its own definition, which names the program, because the emulated run-time
/// library of the tests exports the functions of cublasLt too (none when LORIKEET_PTX_CUBLAS_LT is 0).
std::vector<std::string> cublas_lt_candidates();

}  // namespace lorikeet::cuda

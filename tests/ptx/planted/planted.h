// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// Small kernels and sequences of calls, each in a right form and with one bug, for test_planted.cpp.
namespace lorikeet::planted {

/// What is planted, how it has to come out, and the code.
struct Case {
  std::string name;
  std::string caught_by;  ///< part of the device error, or "wrong result"; or one of several, by |
  std::function<bool(bool planted)> run;  ///< true when the result is right and no call failed
  int oldest_architecture = 75;           ///< before it, the bug is none
};

std::vector<Case> shared_memory_cases();  ///< barriers, shuffles, shared memory (shared_memory.cu)
std::vector<Case> global_memory_cases();  ///< addresses (global_memory.cu)
std::vector<Case> tensor_core_cases();    ///< cp.async, ldmatrix, mma (tensor_core.cu)
std::vector<Case> stream_cases();         ///< streams, graphs, host memory (streams.cu)

}  // namespace lorikeet::planted

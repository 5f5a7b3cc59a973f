// SPDX-License-Identifier: Apache-2.0
// What a test can ask of the emulated CUDA run-time library. From the environment at the start:
//   LORIKEET_PTX_ARCH       75, 80, 86, 89, 90 or 120: the card that is emulated, default 80
//   LORIKEET_PTX_FOLDER     folder with one subfolder sm_NN of *.ptx per architecture
//   LORIKEET_PTX_SEED       order of streams, warps and blocks, default 1
//   LORIKEET_PTX_MEMORY     bytes of the card, default 4 GiB
//   LORIKEET_PTX_CUBLAS_LT  0: cublasLt is not installed
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/ptx/traffic.h"

namespace lorikeet::ptx {

/// A new process with a healthy card: all work, handles, memory and errors of before are gone.
void restart();
/// Another order of streams, warps and blocks from here on.
void set_seed(std::uint64_t seed);
int architecture();

/// Cards of these compute capabilities, by ordinal; all compute as the emulated one, which is what {} means
/// alone.
void set_cards(const std::vector<int>& capabilities);
/// A kernel asked for or launched on this device gives `status`; cudaSuccess: it is there again.
void miss_code(int ordinal, cudaError_t status);
/// Devices on which the program has made a context (which takes hundreds of megabytes of a card) and not
/// given back.
std::vector<int> contexts();

/// Bytes of the card.
void set_memory_limit(std::size_t bytes);
std::size_t memory_used();
/// Pieces of page-locked memory that are allocated.
std::size_t page_locked();
/// The n-th allocation from now (device or page-locked) fails, 0 = none.
void fail_allocation(std::uint64_t n);
/// Allocations so far.
std::uint64_t allocations();

/// What the first device error was about: the kernel, the thread, the PTX line; empty when there was none.
/// Reading it tells the library that the test knows: else the process ends with status 3 when a device error
/// never came up.
std::string complaint();
/// Runs all work that was given; errors show in complaint().
void run_everything();

/// Whether cublasLt can be opened (by back ends made from here on).
void set_cublas_lt(bool installed);
/// The next product of cublasLt fails with this status and does nothing, 0 = none.
void fail_product(int status);

/// Launches since the last reset_traffic(), those inside graphs each time they run.
std::vector<LaunchTotals> traffic();
/// Forgets the totals; `count_bytes`: kernels report their sectors from here on (slower).
void reset_traffic(bool count_bytes = false);

}  // namespace lorikeet::ptx

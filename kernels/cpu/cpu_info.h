// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernels/backend.h"

namespace lorikeet {

/// Levels of processor code, each containing the ones before it.
enum class Isa : std::uint8_t { x86_64_v2, avx2, avx512, avx512_bf16 };

/// "x86-64-v2", "avx2", "avx512" or "avx512-bf16": the names of DeviceInfo::instruction_set and of
/// LORIKEET_ISA.
const char* to_string(Isa isa);

/// The best level of this processor and operating system.
Isa detected_isa();

/// The level to use: the detected one, or the lower one that the environment variable LORIKEET_ISA names.
/// Throws Error(invalid_argument) on an unknown name, Error(unsupported) on a level the processor lacks.
Isa chosen_isa();

/// Cores this process may run on (its affinity mask).
int usable_cores();

/// Memory of the machine or of the tightest control group around this process, in bytes.
struct MemoryState {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< what can be taken without swapping; caches count as free
};

/// Reads `root`/proc/meminfo and, for the group named by `root`/proc/self/cgroup and all groups around it,
/// the limits under `root`/sys/fs/cgroup (versions 1 and 2). `root` is "" outside of tests. Missing files
/// mean no limit.
MemoryState memory_state(const std::string& root = {});

/// What to tell people about this processor, with `threads` threads in use.
DeviceInfo cpu_device_info(Isa isa, int threads);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lorikeet::test {

/// A program that links memory_faults.cpp has its calls of aligned_alloc counted: all memory of the CPU back
/// end. The `nth` from now, from 1, gets none; with `and_later` neither do those after it. 0 = none, only
/// counts.
void arm_memory_fault(int nth, bool and_later = false);
/// Ends it; gives how many allocations were counted.
int disarm_memory_fault();
/// Whether the fault was met.
bool met_memory_fault();

/// The same in a child process, for which memory_faults.cpp lies in a library named in LD_PRELOAD:
/// LORIKEET_MEMORY_FAULT is the number.

}  // namespace lorikeet::test

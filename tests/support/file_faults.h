// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lorikeet::test {

/// What happens at the n-th change of the file system.
enum class FaultKind {
  count,        ///< nothing: only counts
  fail,         ///< it fails with an errno, once
  fail_on,      ///< it fails, and so does every later one
  short_write,  ///< a write takes half of its bytes; other operations pass
  kill,         ///< the process dies by SIGKILL before it
  tear          ///< the process dies after it, after half of it where it writes
};

/// A program that links file_faults.cpp has its calls of open, write, fsync, rename, unlink, mkdir, ftruncate
/// and their kin counted, whoever makes them (std::filesystem and SQLite too), when they touch something
/// below `folder`. The `nth` of them, from 1, meets `kind`. Reading is not counted; opening is.
void arm_file_fault(FaultKind kind, int nth, const std::string& folder, int error = 0);
/// Ends it; gives how many operations were counted.
int disarm_file_fault();
/// The operation the fault met, for example "rename /run/job.json", "" when there were fewer.
std::string met_file_fault();

/// The same in a child process: file_faults.cpp as a library named in LD_PRELOAD reads "kind:nth:errno" from
/// LORIKEET_FILE_FAULT and the folder from LORIKEET_FILE_FAULT_FOLDER, and at the end writes the count into
/// the file that LORIKEET_FILE_FAULT_COUNT names.

}  // namespace lorikeet::test

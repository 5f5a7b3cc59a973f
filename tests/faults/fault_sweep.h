// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

#include "kernels/base/error.h"
#include "tests/support/file_faults.h"

namespace lorikeet::test {

/// One operation that must be all or nothing.
struct AllOrNothing {
  std::string folder;                 ///< faults happen below it
  std::function<void()> make_old;     ///< makes the folder's old state anew
  std::function<void()> act;          ///< leads from the old state to the new one
  std::function<std::string()> look;  ///< "old", "new", or what is wrong
};

struct SweepResult {
  int points = 0;      ///< operations that were made to fail
  int old_states = 0;  ///< of them left the old state
  std::string wrong;   ///< the first thing that was not as it should be
};

inline const char* fault_name(FaultKind kind) {
  constexpr const char* names[] = {"counted",   "failed",        "failed from there on",
                                   "took half", "killed before", "killed in"};
  return names[static_cast<int>(kind)];
}

/// Runs the operation in a child process that dies at the n-th change; true when it died, false when it came
/// to its end.
inline bool dies_at(const AllOrNothing& operation, FaultKind kind, int nth) {
  const pid_t child = ::fork();
  if (child == 0) {
    omp_set_num_threads(1);  // it has none of the threads that its parent's parallel regions would call
    arm_file_fault(kind, nth, operation.folder);
    try {
      operation.act();
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/// Lets the first, second, third ... change fail until the operation passes without meeting the fault. After
/// each the state must be old or new, and doing it again without faults must lead to the new one.
inline SweepResult sweep(const AllOrNothing& operation, FaultKind kind, int error = 0) {
  SweepResult result;
  for (int nth = 1; nth < 1000; ++nth) {
    operation.make_old();
    std::string point, said;
    if (kind == FaultKind::kill || kind == FaultKind::tear) {
      if (!dies_at(operation, kind, nth)) {
        if (operation.look() != "new") result.wrong = "it did not succeed without a fault";
        return result;
      }
      point = "change " + std::to_string(nth);
    } else {
      arm_file_fault(kind, nth, operation.folder, error);
      try {
        operation.act();
      } catch (const Error& thrown) {
        said = thrown.what();
      }
      disarm_file_fault();
      point = met_file_fault();
      if (point.empty()) {
        if (!said.empty() || operation.look() != "new")
          result.wrong = "it did not succeed without a fault: " + said;
        return result;
      }
    }
    ++result.points;
    const std::string state = operation.look();
    result.old_states += state == "old" ? 1 : 0;
    std::string wrong;
    if (state != "old" && state != "new") wrong = state;
    if (wrong.empty() && !said.empty() && state == "new" && kind == FaultKind::short_write)
      wrong = "a write that took half of its bytes is not an error: " + said;
    if (wrong.empty()) {
      try {
        operation.act();
        if (operation.look() != "new") wrong = "doing it again gave " + operation.look();
      } catch (const Error& thrown) {
        wrong = std::string("doing it again failed: ") + thrown.what();
      }
    }
    if (!wrong.empty()) {
      result.wrong = std::to_string(nth) + " (" + point + ") " + fault_name(kind) + ": " + wrong +
                     (said.empty() ? "" : "; it said: " + said);
      return result;
    }
  }
  result.wrong = "there is no end";
  return result;
}

}  // namespace lorikeet::test

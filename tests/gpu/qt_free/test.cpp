// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/qt_free/test.h"

namespace qt_free {
namespace {

std::vector<Runner>& all_runners() {
  static std::vector<Runner> list;
  return list;
}

}  // namespace

State& state() {
  static State state;
  return state;
}

Totals& totals() {
  static Totals totals;
  return totals;
}

bool add(Runner runner) {
  all_runners().push_back(runner);
  return true;
}

const std::vector<Runner>& runners() {
  return all_runners();
}

void report(const std::string& test) {
  if (!state().failure.empty()) {
    ++totals().failed;
    std::printf("FAIL  %s\n      %s\n", test.c_str(), state().failure.c_str());
  } else if (!state().skip.empty()) {
    ++totals().skipped;
    std::printf("SKIP  %s: %s\n", test.c_str(), state().skip.c_str());
  } else {
    ++totals().passed;
  }
  std::fflush(stdout);
}

}  // namespace qt_free

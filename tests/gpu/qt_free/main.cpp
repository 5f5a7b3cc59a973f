// SPDX-License-Identifier: Apache-2.0
// kernel_tests [TEXT]: runs the tests of operations whose "Class::slot(row)" contains TEXT on the back end
// linked with it. 77 where that one cannot be made, 1 when a test fails.
#include "kernels/base/error.h"
#include "tests/gpu/qt_free/test.h"
#include "tests/kernels/op_support.h"

int main(int argc, char** argv) {
  try {
    const auto backend = lorikeet::testing::test_backend(2);
    std::printf("on %s, %s\n", backend->device().name.c_str(), backend->device().instruction_set.c_str());
  } catch (const lorikeet::Error& error) {
    std::printf("no GPU: %s\n", error.message().c_str());
    return 77;
  }
  for (const qt_free::Runner run : qt_free::runners()) run(argc > 1 ? argv[1] : "");
  const qt_free::Totals& totals = qt_free::totals();
  std::printf("%d passed, %d failed, %d skipped\n", totals.passed, totals.failed, totals.skipped);
  return totals.failed > 0 || totals.passed == 0 ? 1 : 0;
}

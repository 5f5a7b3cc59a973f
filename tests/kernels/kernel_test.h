// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTest>
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/cpu_info.h"
#include "tests/kernels/op_support.h"

namespace lorikeet::testing {

/// Base of the tests of operations: they run once per instruction set (LORIKEET_ISA), and skip by name where
/// the processor lacks it.
class KernelTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() {
    try {
      chosen_isa();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      QSKIP(error.what());
    }
  }

 protected:
  /// Rows of odd shapes; most have a last vector that is not full.
  static void shapes() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("width");
    const std::vector<std::pair<int, int>> all = {{1, 1},  {1, 3},   {3, 7},   {7, 17},   {2, 16},  {5, 33},
                                                  {3, 64}, {17, 65}, {33, 96}, {65, 576}, {129, 70}};
    for (const auto& [rows, width] : all) QTest::addRow("%d x %d", rows, width) << rows << width;
  }

  static void compare(const Values& got, const Values& want, const Tolerance& tolerance,
                      const char* what = "") {
    const std::string sentence = difference(got, want, tolerance);
    QVERIFY2(sentence.empty(), (std::string(what) + ": " + sentence).c_str());
  }

  /// Runs the work with one and two threads, demands equal bits, and hands the outputs to `check`.
  static void check_outputs(const std::function<std::vector<Values>(Backend&)>& work,
                            const std::function<void(const std::vector<Values>&)>& check) {
    std::string complaint;
    const std::vector<Values> outputs = outputs_with_any_threads(work, complaint);
    QVERIFY2(complaint.empty(), complaint.c_str());
    check(outputs);
  }
};

}  // namespace lorikeet::testing

// SPDX-License-Identifier: Apache-2.0
// Bugs planted on purpose (planted/): the right form passes, the planted one is caught, and how is part of
// the table.
#include <QtTest>
#include <sstream>
#include <string>
#include <vector>

#include "tests/ptx/control.h"
#include "tests/ptx/planted/planted.h"

using namespace lorikeet;

namespace {

std::vector<planted::Case> all_cases() {
  std::vector<planted::Case> all;
  for (const auto& cases : {planted::shared_memory_cases(), planted::global_memory_cases(),
                            planted::tensor_core_cases(), planted::stream_cases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

bool contains_one_of(const std::string& text, const std::string& words) {
  std::istringstream in(words);
  for (std::string word; std::getline(in, word, '|');) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

class TestPlanted : public QObject {
  Q_OBJECT
 private slots:
  void there_are_fifteen_kinds_and_more() { QVERIFY(all_cases().size() >= 15); }

  void launches_and_their_sectors_are_counted() {
    ptx::restart();
    const std::vector<planted::Case> cases = planted::global_memory_cases();
    ptx::reset_traffic(true);
    QVERIFY(cases.front().run(false));  // 100 floats times two: 13 sectors of 32 bytes in, 13 out
    bool found = false;
    for (const ptx::LaunchTotals& totals : ptx::traffic()) {
      if (totals.kind != ptx::LaunchKind::kernel) continue;
      found = true;
      QCOMPARE(totals.name, std::string("twice<false>"));
      QCOMPARE(totals.launches, std::uint64_t{1});
      QCOMPARE(totals.bytes_read, std::uint64_t{13 * 32});
      QCOMPARE(totals.bytes_written, std::uint64_t{13 * 32});
    }
    QVERIFY(found);
  }

  void a_planted_bug_is_caught_data() {
    QTest::addColumn<planted::Case>("bug");
    for (const planted::Case& bug : all_cases()) QTest::newRow(bug.name.c_str()) << bug;
  }
  void a_planted_bug_is_caught() {
    QFETCH(planted::Case, bug);
    constexpr std::uint64_t seeds = 12;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ptx::restart();
      ptx::set_seed(seed);
      const bool right = bug.run(false);
      const std::string complaint = ptx::complaint();
      QVERIFY2(right, ("the right form, seed " + std::to_string(seed) + ": " + complaint).c_str());
    }
    if (ptx::architecture() < bug.oldest_architecture) QSKIP("no bug on this architecture");
    int caught = 0, as_said = 0;
    std::string how;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      ptx::restart();
      ptx::set_seed(seed);
      if (bug.run(true)) continue;
      ++caught;
      const std::string complaint = ptx::complaint();
      how = complaint.empty() ? "wrong result" : complaint;
      as_said += contains_one_of(how, bug.caught_by) ? 1 : 0;
    }
    ptx::restart();
    qInfo("caught with %d of %d seeds: %s", caught, int{seeds}, how.c_str());
    QVERIFY2(caught > 0, "the planted bug was not caught");
    QVERIFY2(as_said > 0, how.c_str());
  }
};

QTEST_GUILESS_MAIN(TestPlanted)
#include "test_planted.moc"

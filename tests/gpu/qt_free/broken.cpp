// SPDX-License-Identifier: Apache-2.0
// Tests that fail, so that the runner is seen to tell it.
#include <QtTest>
#include <stdexcept>

class Broken : public QObject {
  Q_OBJECT

  static void check(int number) { QCOMPARE(number, 1); }

 private slots:
  void table_data() {
    QTest::addColumn<int>("number");
    for (const int number : {1, 2, 3}) QTest::addRow("row %d", number) << number;
  }
  void table() {
    QFETCH(int, number);
    if (number == 3) QSKIP("three is left out");
    QCOMPARE(number, 1);
  }
  void verified() { QVERIFY(false); }
  void seen_by_the_caller() {
    check(1);
    if (QTest::currentTestFailed()) QSKIP("nothing has failed yet");
    check(2);
    if (!QTest::currentTestFailed()) QSKIP("a failure was not seen");
  }
  void thrown() { throw std::runtime_error("out"); }
};

QTEST_GUILESS_MAIN(Broken)
#include "broken.moc"

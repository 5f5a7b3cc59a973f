// SPDX-License-Identifier: Apache-2.0
#include <QTest>

#include "kernels/cuda/built_code.h"

using lorikeet::cuda::code_obstacle;

/// Which devices run what nvcc made, by the rules of CUDA's manual.
class TestBuiltCode : public QObject {
  Q_OBJECT
 private slots:
  void a_device_runs_what_the_manual_says_data() {
    QTest::addColumn<QString>("architectures");
    QTest::addColumn<int>("capability");
    QTest::addColumn<int>("driver");
    QTest::addColumn<QString>("why");  // "" = it runs
    const QString release = "75-real,80-real,86-real,89-real,90,120";
    for (const int capability : {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121, 130})
      QTest::addRow("a release on %d", capability) << release << capability << 13000 << "";
    QTest::newRow("below all")
        << release << 70 << 13000
        << "no code for compute capability 7.0, only for 7.5, 8.0, 8.6, 8.9, 9.0, 12.0";
    QTest::newRow("an older minor number")
        << "86-real" << 80 << 13000 << "no code for compute capability 8.0";
    QTest::newRow("another major number") << "86-real" << 90 << 13000 << "no code for compute capability 9.0";
    QTest::newRow("a later minor number") << "86-real" << 89 << 13000 << "";
    QTest::newRow("PTX alone, later device") << "80-virtual" << 90 << 13000 << "";
    QTest::newRow("PTX alone, its device") << "80-virtual" << 80 << 13000 << "";
    QTest::newRow("PTX of a later device")
        << "90-virtual" << 80 << 13000 << "no code for compute capability 8.0";
    QTest::newRow("PTX and an older driver") << "80" << 90 << 12080 << "needs a driver for CUDA 13.0";
    QTest::newRow("machine code and an older driver") << "80" << 86 << 12080 << "";
    QTest::newRow("for one device, another")
        << "90a" << 100 << 13000 << "no code for compute capability 10.0";
    QTest::newRow("for one device, that one") << "90a" << 90 << 13000 << "";
    QTest::newRow("not known") << "native" << 61 << 13000 << "";
    QTest::newRow("not told") << "" << 61 << 13000 << "";
  }
  void a_device_runs_what_the_manual_says() {
    QFETCH(QString, architectures);
    QFETCH(int, capability);
    QFETCH(int, driver);
    QFETCH(QString, why);
    const QString said =
        QString::fromStdString(code_obstacle(architectures.toStdString(), capability, driver, 13000));
    QVERIFY2(why.isEmpty() ? said.isEmpty() : said.contains(why), qPrintable(said));
  }
};

QTEST_APPLESS_MAIN(TestBuiltCode)
#include "test_built_code.moc"

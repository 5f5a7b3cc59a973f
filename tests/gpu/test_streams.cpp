// SPDX-License-Identifier: Apache-2.0
// The programs of tests/ptx/test_transfers.cpp on a card, where the order is the card's: a thousand of them.
#include <QtTest>

#include "tests/kernels/op_support.h"
#include "tests/kernels/transfer_program.h"

using namespace lorikeet;
using namespace lorikeet::testing;

class TestStreams : public QObject {
  Q_OBJECT

 private slots:
  void random_programs_give_what_they_must() { run(false); }
  void repeated_programs_give_what_they_must() { run(true); }

 private:
  static void run(bool repeated) {
    const auto backend = test_backend(1);
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      if (!transfers::runs_right(*backend, seed, repeated))
        throw Error(ErrorCode::device, "program " + std::to_string(seed) + " gives something else");
    }
  }
};

QTEST_GUILESS_MAIN(TestStreams)
#include "test_streams.moc"

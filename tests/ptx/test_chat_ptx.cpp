// SPDX-License-Identifier: Apache-2.0
// Chat on the CUDA back end, interpreted, against the processor: the bundled model, greedy, in f32.
#include <QtTest>

#include "core/infer/chat_engine.h"
#include "kernels/base/error.h"
#include "tests/ptx/control.h"

using namespace lorikeet;

class TestChatPtx : public QObject {
  Q_OBJECT

  static std::string answer(const char* device, const Sampling& sampling) {
    Settings settings;
    settings.device = device;
    settings.compute = "f32";
    settings.memory_limit_bytes = 1'000'000'000;
    ChatEngine engine(LORIKEET_SAMPLES "/nest", settings, 128);
    std::string text;
    const Message question{"user", "Make up a story. A hare shares a bucket."};
    engine.answer({question}, sampling, [&](const std::string& piece) { text += piece; });
    return text;
  }

 private slots:
  void the_same_text_as_the_processor_says_data() {
    QTest::addColumn<bool>("greedy");
    QTest::addColumn<double>("penalty");
    QTest::newRow("greedy") << true << 1.0;
    QTest::newRow("greedy, repeats penalised") << true << 1.3;
    QTest::newRow("drawn") << false << 1.1;
  }
  void the_same_text_as_the_processor_says() {
    QFETCH(bool, greedy);
    QFETCH(double, penalty);
    Sampling sampling;
    sampling.greedy = greedy;
    sampling.repeat_penalty = penalty;
    sampling.seed = 11;
    sampling.max_new_tokens = 24;
    const std::string expected = answer("cpu", sampling);
    QVERIFY(expected.size() > 20);
    QCOMPARE(answer("cuda", sampling), expected);
  }
};

QTEST_GUILESS_MAIN(TestChatPtx)
#include "test_chat_ptx.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <limits>

#include "core/infer/session.h"
#include "kernels/base/error.h"

using namespace lorikeet;

class TestSampler : public QObject {
  Q_OBJECT

  static Sampling plain() {
    Sampling sampling;
    sampling.temperature = 1;
    sampling.top_k = 0;
    sampling.top_p = 1;
    sampling.min_p = 0;
    sampling.seed = 5;
    return sampling;
  }

 private slots:
  void the_penalty_looks_back_as_far_as_its_window() {
    Sampling sampling = plain();
    sampling.greedy = true;
    sampling.repeat_penalty = 2;
    std::vector<float> logits = {4, 3, -1};
    QCOMPARE(sample_token(logits, {0, 2}, sampling, 0), 1);
    sampling.repeat_window = 1;
    logits = {4, 3, -1};
    QCOMPARE(sample_token(logits, {0, 2}, sampling, 0), 0);  // outside the window
  }

  void a_seed_gives_the_same_tokens_and_another_others() {
    const std::vector<float> logits(50, 0.0f);
    const auto sequence = [&](std::uint64_t seed) {
      Sampling sampling = plain();
      sampling.seed = seed;
      std::vector<TokenId> ids;
      for (std::uint64_t draw = 0; draw < 20; ++draw) {
        std::vector<float> copy = logits;
        ids.push_back(sample_token(copy, {}, sampling, draw));
      }
      return ids;
    };
    QVERIFY(sequence(1) == sequence(1));
    QVERIFY(sequence(1) != sequence(2));
  }

  void logits_that_are_not_numbers_are_an_error() {
    std::vector<float> logits = {std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::quiet_NaN()};
    QVERIFY_EXCEPTION_THROWN(sample_token(logits, {}, plain(), 0), Error);
    logits = {std::numeric_limits<float>::infinity(), 0};
    QVERIFY_EXCEPTION_THROWN(sample_token(logits, {}, plain(), 0), Error);
  }

  void a_split_character_never_shows_as_garbage() {
    const std::string text = "Grüße 🦜 বাংলা 中";
    for (std::size_t step = 1; step <= 5; ++step) {
      Utf8Stream stream;
      std::string shown;
      for (std::size_t at = 0; at < text.size(); at += step) {
        const std::string piece = stream.push(std::string_view(text).substr(at, step));
        QVERIFY(QString::fromStdString(piece).toStdString() == piece);  // valid by itself
        shown += piece;
      }
      QCOMPARE(shown + stream.finish(), text);
    }
  }

  void bytes_that_can_never_be_a_character_become_one_mark_each_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("shown");
    const QString mark(QChar(0xFFFD));
    QTest::newRow("a lone continuation") << QByteArray("a\x80z") << "a" + mark + "z";
    QTest::newRow("an overlong slash") << QByteArray("\xC0\xAF") << mark + mark;
    QTest::newRow("a surrogate") << QByteArray("\xED\xA0\x80") << mark + mark + mark;
    QTest::newRow("cut by a letter") << QByteArray("\xF0\x9F\xA6x") << mark + "x";
    QTest::newRow("cut by the end") << QByteArray("ok\xF0\x9F") << "ok" + mark;
    QTest::newRow("beyond Unicode") << QByteArray("\xF5\x80") << mark + mark;
  }
  void bytes_that_can_never_be_a_character_become_one_mark_each() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, shown);
    Utf8Stream stream;
    std::string text;
    for (const char byte : bytes) text += stream.push(std::string_view(&byte, 1));
    QCOMPARE(QString::fromStdString(text + stream.finish()), shown);
  }
};

QTEST_GUILESS_MAIN(TestSampler)
#include "test_sampler.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>
#include <map>

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
  /// Share of each token over many draws.
  static std::map<TokenId, double> shares(const std::vector<float>& logits, const Sampling& sampling,
                                          int draws = 20000) {
    std::map<TokenId, double> counts;
    for (int draw = 0; draw < draws; ++draw) {
      std::vector<float> copy = logits;
      counts[sample_token(copy, {}, sampling, static_cast<std::uint64_t>(draw))] += 1.0 / draws;
    }
    return counts;
  }

 private slots:
  void greedy_takes_the_lowest_id_of_the_largest() {
    std::vector<float> logits = {1, 3, 3, 2};
    Sampling sampling = plain();
    sampling.greedy = true;
    QCOMPARE(sample_token(logits, {}, sampling, 0), 1);
  }

  void shares_follow_the_softmax() {
    const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
    const auto result = shares(logits, plain());
    QVERIFY(std::abs(result.at(0) - 0.125) < 0.01 && std::abs(result.at(1) - 0.25) < 0.012 &&
            std::abs(result.at(2) - 0.625) < 0.014);
    Sampling cool = plain();
    cool.temperature = 0.5;  // weights 1, 4, 25
    QVERIFY(std::abs(shares(logits, cool).at(2) - 25.0 / 30) < 0.012);
  }

  void cuts_leave_only_what_they_should_data() {
    QTest::addColumn<qint64>("top_k");
    QTest::addColumn<double>("top_p");
    QTest::addColumn<double>("min_p");
    QTest::addColumn<int>("left");
    // probabilities 0.4, 0.3, 0.2, 0.1
    QTest::newRow("none") << qint64{0} << 1.0 << 0.0 << 4;
    QTest::newRow("top-k 2") << qint64{2} << 1.0 << 0.0 << 2;
    QTest::newRow("top-k above the vocabulary") << qint64{99} << 1.0 << 0.0 << 4;
    QTest::newRow("top-p keeps the token that crosses it") << qint64{0} << 0.6 << 0.0 << 2;
    QTest::newRow("top-p of nothing keeps one") << qint64{0} << 0.0 << 0.0 << 1;
    QTest::newRow("min-p is relative to the first") << qint64{0} << 1.0 << 0.6 << 2;
    QTest::newRow("min-p of all keeps one") << qint64{0} << 1.0 << 1.0 << 1;
    QTest::newRow("the strictest counts") << qint64{3} << 0.95 << 0.4 << 3;
  }
  void cuts_leave_only_what_they_should() {
    QFETCH(qint64, top_k);
    QFETCH(double, top_p);
    QFETCH(double, min_p);
    QFETCH(int, left);
    Sampling sampling = plain();
    sampling.top_k = top_k;
    sampling.top_p = top_p;
    sampling.min_p = min_p;
    const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
    QCOMPARE(shares(logits, sampling, 4000).size(), static_cast<std::size_t>(left));
  }

  void a_repeated_token_is_less_likely() {
    Sampling sampling = plain();
    sampling.greedy = true;
    sampling.repeat_penalty = 2;
    std::vector<float> logits = {4, 3, -1};
    QCOMPARE(sample_token(logits, {0, 0}, sampling, 0), 1);
    QCOMPARE(logits[0], 2.0f);  // once, however often it stands there
    logits = {-3, -2};
    QCOMPARE(sample_token(logits, {1}, sampling, 0), 0);
    QCOMPARE(logits[1], -4.0f);  // a negative logit moves down too
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

// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/sampling.h"
#include "tests/kernels/op_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_logits(std::int64_t count, std::uint64_t seed, double scale = 2) {
  const Values values = random_values(count, seed, scale);
  return {values.begin(), values.end()};
}

/// Logits with many equal ones.
std::vector<float> coarse_logits(std::int64_t count, std::uint64_t seed) {
  std::vector<float> logits = random_logits(count, seed);
  for (float& logit : logits) logit = std::round(logit * 2) / 2;
  return logits;
}

SamplingRule rule_of(double temperature, std::int64_t top_k = 0, double top_p = 1, double min_p = 0,
                     double penalty = 1) {
  return {false, temperature, top_k, top_p, min_p, penalty};
}

/// The operation, with the logits it leaves.
struct Drawn {
  std::int32_t id = 0;
  std::vector<float> logits;
};
Drawn draw(Backend& backend, const std::vector<float>& logits, const Indices& recent,
           const SamplingRule& rule, double uniform) {
  const auto count = static_cast<std::int64_t>(logits.size());
  const Tensor on_device = backend.allocate({count}, DType::f32);
  backend.upload(on_device, logits.data());
  const Tensor id = make_poisoned(backend, {1}, DType::i32);
  backend.sample(on_device, make_indices(backend, recent), rule, uniform, id);
  Drawn drawn;
  backend.download(&drawn.id, id);
  drawn.logits.resize(logits.size());
  backend.download(drawn.logits.data(), on_device);
  return drawn;
}

}  // namespace

class TestSample : public QObject {
  Q_OBJECT

  /// Share of each token at equally spaced uniforms.
  static std::map<std::int32_t, double> shares(Backend& backend, const std::vector<float>& logits,
                                               const SamplingRule& rule, int draws) {
    std::map<std::int32_t, double> counts;
    for (int i = 0; i < draws; ++i)
      counts[draw(backend, logits, {}, rule, (i + 0.5) / draws).id] += 1.0 / draws;
    return counts;
  }

 private slots:
  void every_device_draws_the_same_token_data() {
    QTest::addColumn<int>("vocabulary");
    QTest::addColumn<bool>("coarse");
    for (const int vocabulary : {1, 2, 31, 257, 1500, 4099}) {
      QTest::addRow("%d", vocabulary) << vocabulary << false;
      QTest::addRow("%d with equals", vocabulary) << vocabulary << true;
    }
  }
  void every_device_draws_the_same_token() {
    QFETCH(int, vocabulary);
    QFETCH(bool, coarse);
    const auto backend = test_backend(2);
    const std::vector<SamplingRule> rules = {rule_of(1),
                                             rule_of(0.7, 40, 0.95),
                                             rule_of(1.3, 0, 0.9, 0.02, 1.2),
                                             rule_of(1, 1),
                                             rule_of(0.01, 5, 1, 0.5, 3),
                                             rule_of(2, vocabulary - 1, 0.5),
                                             rule_of(5, 300, 1),
                                             rule_of(1, 0, 0),
                                             rule_of(1, 0, 1, 1),
                                             rule_of(0.9, vocabulary + 1, 0.999, 0.0001, 0.5)};
    Indices recent = random_indices(20, vocabulary, 7);
    recent.push_back(recent[0]);
    recent.push_back(-1);
    recent.push_back(vocabulary);
    std::uint64_t seed = 1;
    for (const SamplingRule& rule : rules) {
      ++seed;
      const std::vector<float> logits =
          coarse ? coarse_logits(vocabulary, seed) : random_logits(vocabulary, seed);
      for (const double uniform : {seed % 2 == 0 ? 0.0 : 0.37, 1 - 0x1p-53}) {
        std::vector<float> want_logits = logits;
        const std::int32_t want = draw_token(want_logits, recent, rule, uniform);
        const Drawn got = draw(*backend, logits, recent, rule, uniform);
        QCOMPARE(got.id, want);
        QVERIFY(got.logits == want_logits);
      }
    }
  }

  void greedy_takes_the_lowest_id_of_the_largest() {
    const auto backend = test_backend(1);
    SamplingRule rule;
    rule.greedy = true;
    QCOMPARE(draw(*backend, {1, 3, 3, 2}, {}, rule, 0.9).id, 1);
    QCOMPARE(draw(*backend, {-1, -0.0f, 0.0f}, {}, rule, 0.9).id, 1);
    QCOMPARE(draw(*backend, {1, 3, 4, 2}, {}, rule_of(0), 0.9).id, 2);
    std::vector<float> logits = random_logits(3000, 4);
    QCOMPARE(draw(*backend, logits, {}, rule, 0.9).id,
             static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
  }

  void shares_follow_the_softmax() {
    const auto backend = test_backend(1);
    const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
    const auto result = shares(*backend, logits, rule_of(1), 64);
    QVERIFY(std::abs(result.at(0) - 0.125) < 0.017 && std::abs(result.at(1) - 0.25) < 0.017 &&
            std::abs(result.at(2) - 0.625) < 0.017);
    // temperature 0.5: weights 1, 4, 25
    QVERIFY(std::abs(shares(*backend, logits, rule_of(0.5), 60).at(2) - 25.0 / 30) < 0.017);
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
    const auto backend = test_backend(1);
    const std::vector<float> logits = {std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};
    QCOMPARE(shares(*backend, logits, rule_of(1, top_k, top_p, min_p), 20).size(),
             static_cast<std::size_t>(left));
  }

  void a_repeated_token_is_less_likely() {
    const auto backend = test_backend(1);
    SamplingRule rule;
    rule.greedy = true;
    rule.repeat_penalty = 2;
    Drawn drawn = draw(*backend, {4, 3, -1}, {0, 0}, rule, 0);
    QCOMPARE(drawn.id, 1);
    QCOMPARE(drawn.logits[0], 2.0f);  // once, however often it stands there
    drawn = draw(*backend, {-3, -2}, {1}, rule, 0);
    QCOMPARE(drawn.id, 0);
    QCOMPARE(drawn.logits[1], -4.0f);  // a negative logit moves down too
  }

  void what_is_not_finite_is_said_data() {
    QTest::addColumn<std::vector<float>>("logits");
    QTest::addColumn<int>("id");
    QTest::newRow("none is a number") << std::vector<float>{not_a_number, not_a_number} << -1;
    QTest::newRow("the first is none") << std::vector<float>{not_a_number, 1, 2} << -1;
    QTest::newRow("a later one is passed over") << std::vector<float>{1, not_a_number, -infinity} << 0;
    QTest::newRow("infinite") << std::vector<float>{0, infinity} << -1;
    QTest::newRow("all impossible") << std::vector<float>{-infinity, -infinity} << -1;
    QTest::newRow("one possible") << std::vector<float>{-infinity, -80, -infinity} << 1;
  }
  void what_is_not_finite_is_said() {
    QFETCH(std::vector<float>, logits);
    QFETCH(int, id);
    const auto backend = test_backend(1);
    SamplingRule greedy;
    greedy.greedy = true;
    for (const SamplingRule& rule : {greedy, rule_of(1), rule_of(1, 2, 0.9, 0.1)}) {
      for (const double uniform : {0.0, 0.999999}) {
        std::vector<float> copy = logits;
        QCOMPARE(draw_token(copy, {}, rule, uniform), id);
        QCOMPARE(draw(*backend, logits, {}, rule, uniform).id, id);
      }
    }
  }

  void weights_are_those_of_the_exponential_function() {
    for (int i = 0; i <= 20000; ++i) {
      const double x = -i * 0.0353;
      const double want = std::exp(x);
      QVERIFY(std::fabs(sampling_weight(x) - want) <= 3e-16 * want + 5e-324);
    }
    QCOMPARE(sampling_weight(0), 1.0);
    QCOMPARE(sampling_weight(-std::numeric_limits<double>::infinity()), 0.0);
    QCOMPARE(sampling_weight(std::numeric_limits<double>::quiet_NaN()), 0.0);
  }

  void nothing_is_allocated_after_the_first_draw() {
    const auto backend = test_backend(1);
    const std::vector<float> logits = random_logits(300, 3);
    draw(*backend, logits, {}, rule_of(1), 0.5);
    const std::uint64_t used = backend->budget().used_bytes();
    draw(*backend, logits, {1, 2}, rule_of(1, 20, 0.9), 0.5);
    QCOMPARE(backend->budget().used_bytes(), used);
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor logits = make_tensor(*backend, {5}, DType::f32, random_values(5, 1));
    const Tensor halves = make_poisoned(*backend, {5}, DType::bf16);
    const Tensor recent = make_indices(*backend, {1});
    const Tensor id = make_poisoned(*backend, {1}, DType::i32);
    const auto refused = [&](TensorView from, TensorView ids, TensorView to) {
      return throws([&] { backend->sample(from, ids, rule_of(1), 0.5, to); }, ErrorCode::invalid_argument);
    };
    QVERIFY(!refused(logits, recent, id));
    QVERIFY(refused(halves, recent, id));
    QVERIFY(refused(logits, logits, id));
    QVERIFY(refused(logits, recent, make_poisoned(*backend, {2}, DType::i32)));
  }
};

QTEST_GUILESS_MAIN(TestSample)
#include "test_sample.moc"

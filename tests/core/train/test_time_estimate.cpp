// SPDX-License-Identifier: Apache-2.0
// Time by the work of steps, with a machine whose speed is known.
#include <QtTest>
#include <cmath>

#include "core/train/batch_stream.h"
#include "core/train/rehearsal.h"
#include "core/train/time_estimate.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestTimeEstimate : public QObject {
  Q_OBJECT

  static ModelSpec spec() { return tiny_spec(TinyModel{}); }
  static Settings settings() {
    Settings result = exact_settings();
    result.packing = false;
    result.batch_size = 2;
    result.accumulation = 2;
    result.max_steps = 0;
    result.epochs = 3;
    result.eval_every = 7;
    result.save_every = 10;
    return result;
  }

  /// What a machine that does a billion operations a second takes for each step.
  static std::vector<double> step_seconds(const std::vector<TokenRow>& rows, const Plan& plan) {
    const Operations each = training_operations(spec(), settings(), plan.recomputed_layers);
    BatchStream stream(rows, settings(), plan.max_length);
    std::vector<double> seconds;
    for (std::int64_t step = 0; step < plan.steps; ++step) {
      TokenCounts counts;
      for (const auto& batch : stream.step_batches()) {
        for (const std::int64_t index : batch) {
          const auto length = static_cast<double>(rows[static_cast<std::size_t>(index)].ids.size());
          counts += {length, length * length,
                     static_cast<double>(rows[static_cast<std::size_t>(index)].trained_tokens), 0};
        }
        counts.batches += 1;
      }
      seconds.push_back(each.of(counts) / 1e9);
      stream.advance();
    }
    return seconds;
  }

 private slots:
  void after_five_steps_the_rest_is_known_with_evaluations_samples_and_checkpoints() {
    const auto rows = random_rows(60, 32, 1), evaluation = random_rows(5, 32, 2);
    const DataShape shape = data_shape(rows, evaluation, settings(), 32);
    const Plan plan = make_plan(spec(), shape, settings(), {1'000'000'000, 4});
    const auto seconds = step_seconds(rows, plan);
    TimeEstimate estimate(spec(), settings(), plan, rows, evaluation);
    QCOMPARE(estimate.seconds_left(0), 0.0);  // nothing was measured
    estimate.evaluation_took(0.5);
    estimate.samples_took(0.25);
    estimate.checkpoint_took(0.125);
    // The first step is three times as slow as it should be, and is forgotten.
    for (std::int64_t step = 1; step <= 5; ++step)
      estimate.step_took(step, seconds[static_cast<std::size_t>(step - 1)] * (step == 1 ? 3 : 1));
    QCOMPARE(estimate.measured_steps(), TimeEstimate::settled_steps);
    double rest = 0;
    for (std::int64_t step = 6; step <= plan.steps; ++step) {
      rest += seconds[static_cast<std::size_t>(step - 1)];
      const bool last = step == plan.steps;
      if (last || step % 7 == 0) rest += 0.75;
      if (last || step % 10 == 0) rest += 0.125;
    }
    // Evaluations that are the best so far are kept by a checkpoint of their own: half of them are counted.
    const double evaluations =
        std::floor(static_cast<double>(plan.steps) / 7) + (plan.steps % 7 == 0 ? 0 : 1);
    rest += 0.125 * std::floor(evaluations / 2);
    QVERIFY2(std::abs(estimate.seconds_left(5) / rest - 1) < 0.01,
             qPrintable(QString("%1 of %2").arg(estimate.seconds_left(5)).arg(rest)));
    QCOMPARE(estimate.seconds_left(plan.steps), 0.0);
  }

  void a_rehearsal_says_it_before_the_first_step() {
    const auto rows = random_rows(60, 32, 1);
    const DataShape shape = data_shape(rows, {}, settings(), 32);
    const Plan plan = make_plan(spec(), shape, settings(), {1'000'000'000, 4});
    double rest = 0;
    for (const double seconds : step_seconds(rows, plan)) rest += seconds;
    TimeEstimate estimate(spec(), settings(), plan, rows, {});
    TokenCounts batch{64, 2048, 30, 1};
    estimate.checkpoint_took(1e-9);
    estimate.rehearsed(batch, training_operations(spec(), settings(), 0).of(batch) / 1e9);
    QVERIFY2(std::abs(estimate.seconds_left(0) / rest - 1) < 0.01,
             qPrintable(QString("%1 of %2").arg(estimate.seconds_left(0)).arg(rest)));
  }

  void the_longest_batch_is_as_long_as_any_the_run_can_have() {
    const auto rows = random_rows(80, 64, 3);
    Settings packed = settings(), apart = settings();
    packed.packing = true;
    const auto tokens_of = [&](const std::vector<std::int64_t>& batch) {
      std::int64_t tokens = 0;
      for (const std::int64_t index : batch)
        tokens += static_cast<std::int64_t>(rows[static_cast<std::size_t>(index)].ids.size());
      return tokens;
    };
    for (const Settings& one : {packed, apart}) {
      const std::int64_t longest = tokens_of(longest_batch(rows, one, 64));
      const std::int64_t most = largest_batch_tokens(data_shape(rows, {}, one, 64), one, 64);
      QVERIFY(longest <= most && static_cast<double>(most) <= 1.1 * static_cast<double>(longest));
      BatchStream stream(rows, one, 64);
      for (int step = 0; step < 40; ++step, stream.advance()) {
        for (const auto& batch : stream.step_batches())
          QVERIFY(tokens_of(batch) <= most &&
                  static_cast<double>(tokens_of(batch)) <= 1.05 * static_cast<double>(longest));
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestTimeEstimate)
#include "test_time_estimate.moc"

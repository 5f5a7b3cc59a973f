// SPDX-License-Identifier: Apache-2.0
// Faults that users reported of other trainers, by the ids of our list of them (N..: training numerics).
#include <QtTest>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/data/packing.h"
#include "core/train/checkpoint.h"
#include "core/train/epoch_batches.h"
#include "core/train/evaluation_watch.h"
#include "core/train/non_finite_guard.h"
#include "core/train/optimizer.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

using Verdict = NonFiniteGuard::Verdict;

double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

/// A row of which exactly this many tokens are trained.
TokenRow row_with_trained(std::int64_t number, std::int64_t trained) {
  TokenRow row;
  row.number = number;
  for (std::int64_t t = 0; t < trained + 5; ++t)
    row.ids.push_back(static_cast<TokenId>(3 + (t * 7 + number * 31) % 250));
  row.targets.assign(row.ids.size(), -1);
  for (std::size_t t = 4; t + 1 < row.ids.size(); ++t) row.targets[t] = row.ids[t + 1];
  row.trained_tokens = trained;
  return row;
}

/// Rows in the order of the file, one a micro-batch, weights that never change.
Settings still_settings() {
  Settings settings = exact_settings();
  settings.packing = settings.shuffle = false;
  settings.batch_size = 1;
  settings.learning_rate = 0;
  settings.max_steps = 0;
  return settings;
}

}  // namespace

class TestTrainingFaults : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;

  std::string fresh(const char* name) const { return folder_.path().toStdString() + "/" + name; }
  /// Gradients of the given step (1-based) of a run whose weights stand still; A has gradients too.
  std::vector<float> gradients_of_step(const Settings& settings, const std::vector<TokenRow>& rows,
                                       int step) const {
    TrainingSetup setup(model_, settings, rows);
    randomise_b(setup.backend(), setup.adapter(), 5);
    for (int i = 0; i < step; ++i) setup.trainer().step();
    return setup.gradients();
  }
  static void spoil(TrainingSetup& setup, std::size_t at, float value) {
    std::vector<float> values = setup.parameters();
    values[at] = value;
    setup.backend().upload(setup.adapter().parameters(), values.data());
  }

 private slots:
  void initTestCase() {
    model_ = fresh("model");
    write_tiny_folder(model_, TinyModel{});
  }

  void n01_a_token_weighs_the_same_however_a_step_is_split() {
    const std::vector<TokenRow> rows = {row_with_trained(1, 11), row_with_trained(2, 101)};
    Settings apart = still_settings();
    apart.max_length = 128;
    apart.max_steps = 1;
    apart.accumulation = 2;
    Settings together = apart;
    together.batch_size = 2;
    together.accumulation = 1;
    const auto a = gradients_of_step(apart, rows, 1), b = gradients_of_step(together, rows, 1);
    const double off = golden::relative_difference(a, b);
    QVERIFY2(off <= 1e-6, qPrintable(QString::number(off)));
    QVERIFY(norm(a) > 0);
  }

  void n05_the_last_window_has_full_weight() {
    std::vector<TokenRow> rows = random_rows(5, 20, 31);
    Settings settings = still_settings();
    settings.accumulation = 4;
    Settings alone = settings;
    alone.accumulation = 1;
    const auto last = gradients_of_step(settings, rows, 2);
    QVERIFY(last == gradients_of_step(alone, {rows[4]}, 1));
    QVERIFY(norm(last) > 0);
  }

  void n06_a_set_smaller_than_one_window_is_one_step() {
    Settings settings = exact_settings();
    settings.packing = false;
    settings.max_steps = 0;
    settings.batch_size = 8;
    settings.accumulation = 4;
    TrainingSetup setup(model_, settings, random_rows(8, 20, 32));
    QCOMPARE(setup.trainer().total_steps(), std::int64_t{1});
    setup.trainer().step();
    QVERIFY(setup.trainer().finished());
    const LoraModule& module = setup.adapter().modules().front();
    std::vector<float> b(static_cast<std::size_t>(module.b.elements()));
    setup.backend().download(b.data(), module.b);
    QVERIFY(norm(b) > 0);
  }

  void n07_no_gradient_is_left_for_the_next_epoch() {
    Settings settings = still_settings();
    settings.accumulation = 4;
    settings.epochs = 2;
    const auto rows = random_rows(3, 20, 33);
    QVERIFY(gradients_of_step(settings, rows, 2) == gradients_of_step(settings, rows, 1));
  }

  void n08_rows_without_trained_tokens_are_left_out_and_none_left_is_an_error() {
    const std::string file = fresh("long.json");
    const auto write = [&](int short_rows) {
      nlohmann::json rows = nlohmann::json::array();
      for (int i = 0; i < 8; ++i) {
        const std::size_t length = i < short_rows ? 10 : 200;
        rows.push_back({{"instruction", std::string(length, 'q')}, {"output", "short"}});
      }
      write_text(file, rows.dump());
    };
    Settings settings = exact_settings();
    settings.max_length = 64;
    settings.template_name = "none";
    settings.eval_fraction = 0;
    const ModelSpec spec = read_model_spec(model_);
    write(3);
    const PreparedData data = prepare_data(model_, spec, file, "", settings);
    QCOMPARE(data.train.size(), std::size_t{3});
    QCOMPARE(data.refused.size(), std::size_t{5});
    QCOMPARE(data.refused[0].number, std::int64_t{4});
    QVERIFY(data.refused[0].reason.find("No trained token") != std::string::npos);
    write(0);
    try {
      prepare_data(model_, spec, file, "", settings);
      QFAIL("a run of nothing would start");
    } catch (const Error& error) {
      QVERIFY2(error.message().find("No row is left to train on; row 1: No trained token") == 0,
               error.what());
      QVERIFY(!error.hint().empty());
    }
  }

  void n11_weights_that_are_not_finite_are_seen_in_the_same_step_and_never_saved() {
    const auto rows = random_rows(20, 12, 34);
    Settings settings = exact_settings();
    settings.max_steps = 60;
    const auto run = RunFolder::create(fresh("run-n11"), Job{});
    TrainingSetup setup(model_, settings, rows), untouched(model_, settings, rows);
    Trainer& trainer = setup.trainer();
    NonFiniteGuard guard;
    for (int step = 1; step < 50; ++step) {
      const StepReport report = trainer.step();
      QVERIFY(guard.judge(report) == Verdict::go_on && std::isfinite(report.weight_norm) &&
              report.weight_norm > 0);
      if (step == 40) trainer.save(run.checkpoint_path(40), {});
    }
    const LoraModule& module = setup.adapter().modules()[2];
    spoil(setup, static_cast<std::size_t>(module.b.as<float>() - setup.adapter().parameters().as<float>()),
          std::numeric_limits<float>::infinity());
    const StepReport report = trainer.step();
    QCOMPARE(report.step, std::int64_t{50});
    QVERIFY(!std::isfinite(report.weight_norm));
    QVERIFY(guard.judge(report) == Verdict::weights_lost);
    QVERIFY2(guard.why().find("step 50") != std::string::npos, guard.why().c_str());
    for (const char* name : {"40", "50"}) {  // neither the good one is replaced nor a new one made
      try {
        trainer.save(run.path() + "/checkpoints/step-" + name, {});
        QFAIL("saved");
      } catch (const Error& error) {
        QCOMPARE(error.code(), ErrorCode::numeric);
      }
    }
    QCOMPARE(newest_checkpoint(run), run.checkpoint_path(40));
    trainer.restore(run.checkpoint_path(40));
    for (int step = 1; step <= 40; ++step) untouched.trainer().step();
    for (int step = 41; step <= 45; ++step) QCOMPARE(trainer.step().loss, untouched.trainer().step().loss);
    QVERIFY(setup.parameters() == untouched.parameters());
  }

  void n11_three_skipped_steps_in_a_row_ask_a_person_and_the_rows_are_named() {
    StepReport good, bad;
    good.weight_norm = bad.weight_norm = 1;
    bad.skipped = true;
    bad.loss = std::nan("");
    bad.rows = {4, 17};
    NonFiniteGuard guard;
    for (const StepReport& report : {bad, bad, good, bad, bad})
      QVERIFY(guard.judge(report) == Verdict::go_on);
    QVERIFY(guard.judge(bad) == Verdict::pause);
    QVERIFY2(guard.why().find("4, 17") != std::string::npos, guard.why().c_str());
    QVERIFY(guard.judge(bad) == Verdict::go_on);  // counted anew once a person has let it go on
    // In f16 a scaled gradient that overflows is how the scale is found.
    StepReport scaled = bad;
    scaled.loss = 2;
    scaled.loss_scale = 4096;
    NonFiniteGuard half;
    for (int i = 0; i < 10; ++i) QVERIFY(half.judge(scaled) == Verdict::go_on);
  }

  void n11_an_optimiser_state_that_is_not_finite_is_not_saved() {
    Settings settings = exact_settings();
    settings.max_grad_norm = 0;
    TrainingSetup setup(model_, settings, random_rows(10, 12, 35));
    AdapterOptimizer optimizer(setup.backend(), setup.adapter(), "adamw");
    std::vector<char> state = optimizer.save();
    optimizer.require_finite(state);
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(state.data() + 64, &infinity, sizeof infinity);
    QVERIFY_EXCEPTION_THROWN(optimizer.require_finite(state), Error);
  }

  void n12_packing_changes_no_loss_data() {
    QTest::addColumn<int>("compute");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("f32") << static_cast<int>(DType::f32) << 1e-5;
    QTest::newRow("bf16") << static_cast<int>(DType::bf16) << 2e-2;
  }
  void n12_packing_changes_no_loss() {
    QFETCH(int, compute);
    QFETCH(double, tolerance);
    Settings packed = exact_settings();
    packed.max_steps = 5;
    packed.accumulation = 100;  // a step is an epoch: both ways have the same rows in it
    Settings apart = packed;
    apart.packing = false;
    const auto rows = random_rows(40, 32, 36);
    TrainingSetup one(model_, packed, rows, {}, static_cast<DType>(compute)),
        other(model_, apart, rows, {}, static_cast<DType>(compute));
    for (int step = 0; step < 5; ++step) {
      const StepReport a = one.trainer().step(), b = other.trainer().step();
      QVERIFY(!a.skipped && !b.skipped);
      QCOMPARE(a.trained_tokens, b.trained_tokens);
      QVERIFY2(std::abs(a.loss / b.loss - 1) <= tolerance, qPrintable(QString::number(a.loss / b.loss - 1)));
    }
  }

  void n13_an_outlier_row_on_a_4_bit_base_stays_finite() {
    auto rows = random_rows(20, 32, 37);
    rows[7].ids.assign(32, 259);  // one token over and over
    rows[7].targets.assign(32, 259);
    rows[7].targets.back() = -1;
    rows[7].trained_tokens = 31;
    Settings settings = exact_settings();
    settings.quantization = "nf4";
    settings.optimizer = "adamw-8bit";
    settings.learning_rate = 0.05;
    settings.max_steps = 60;
    TrainingSetup setup(model_, settings, rows);
    while (!setup.trainer().finished()) {
      const StepReport report = setup.trainer().step();
      QVERIFY(!report.skipped && std::isfinite(report.loss) && std::isfinite(report.grad_norm));
      QVERIFY(report.loss > 0 && std::isfinite(report.weight_norm));
    }
  }

  void n14_what_a_packed_neighbour_says_changes_no_bit() {
    auto rows = random_rows(2, 24, 38);
    rows[0].targets.assign(rows[0].ids.size(), -1);  // the loss is of the second row alone
    rows[0].trained_tokens = 0;
    const auto run = [&](TokenId shift) {
      auto changed = rows;
      for (TokenId& id : changed[0].ids) id = 3 + (id + shift) % 250;
      TrainingSetup setup(model_, exact_settings(), changed);
      randomise_b(setup.backend(), setup.adapter(), 7);
      Transformer::Options options;
      options.max_tokens = 64;
      options.keep.assign(2, true);
      Transformer transformer(setup.model(), &setup.adapter(), options);
      Tensor gradients = setup.backend().allocate({setup.adapter().parameter_count()}, DType::f32);
      setup.backend().fill_zero(gradients);
      const BatchLoss loss = transformer.forward_backward(make_batch(changed, {0, 1}), 1.0f, gradients);
      std::vector<float> values(static_cast<std::size_t>(setup.adapter().parameter_count()));
      setup.backend().download(values.data(), gradients);
      values.push_back(static_cast<float>(loss.loss_sum));
      return values;
    };
    const auto one = run(0);
    QVERIFY(one == run(91));
    QVERIFY(norm(one) > 0);
  }

  void n18_ten_steps_are_the_same_whether_layers_are_recomputed_or_kept() {
    const auto rows = random_rows(40, 32, 39);
    TrainingSetup kept(model_, exact_settings(), rows, {}, DType::f32, 0),
        recomputed(model_, exact_settings(), rows, {}, DType::f32, 2);
    for (int step = 0; step < 10; ++step)
      QCOMPARE(recomputed.trainer().step().loss, kept.trainer().step().loss);
    QVERIFY(kept.parameters() == recomputed.parameters());
  }

  void rows_without_packing_are_not_padded() {
    const auto rows = random_rows(11, 32, 40);
    Settings settings = exact_settings();
    settings.packing = false;
    settings.batch_size = 4;
    settings.accumulation = 1;
    TrainingSetup setup(model_, settings, rows);
    for (int step = 0; step < 3; ++step) {
      const StepReport report = setup.trainer().step();
      std::int64_t tokens = 0;
      for (const std::int64_t row : report.rows)
        tokens += std::ssize(rows[static_cast<std::size_t>(row - 1)].ids);
      QCOMPARE(report.tokens, tokens);
    }
  }

  void grouped_by_length_a_step_has_rows_alike_and_an_epoch_every_row_once() {
    const auto rows = random_rows(203, 32, 41);
    Settings settings = exact_settings();
    settings.packing = false;
    settings.group_by_length = true;
    const auto spread = [&](const Settings& of) {
      double sum = 0;
      const BatchPlan plan = epoch_batches(rows, of, 1, 32);
      for (const auto& batch : plan.micro_batches)
        sum += std::abs(static_cast<double>(rows[static_cast<std::size_t>(batch.front())].ids.size()) -
                        static_cast<double>(rows[static_cast<std::size_t>(batch.back())].ids.size()));
      return sum / static_cast<double>(plan.micro_batches.size());
    };
    Settings plain = settings;
    plain.group_by_length = false;
    QVERIFY2(spread(settings) < 0.2 * spread(plain), qPrintable(QString::number(spread(settings))));
    for (const std::int64_t epoch : {0, 1}) {
      std::vector<int> seen(rows.size());
      for (const auto& batch : epoch_batches(rows, settings, epoch, 32).micro_batches)
        for (const std::int64_t row : batch) ++seen[static_cast<std::size_t>(row)];
      QCOMPARE(std::count(seen.begin(), seen.end(), 1), std::ptrdiff_t{203});
    }
    QVERIFY(epoch_batches(rows, settings, 1, 32).micro_batches ==
            epoch_batches(rows, settings, 1, 32).micro_batches);
    QVERIFY(epoch_batches(rows, settings, 1, 32).micro_batches !=
            epoch_batches(rows, settings, 0, 32).micro_batches);
    settings.packing = true;
    QVERIFY_EXCEPTION_THROWN(require_settings_that_agree(settings), Error);
  }

  void evaluations_without_gain_are_counted_and_the_best_is_known() {
    EvaluationWatch watch;
    QVERIFY(!watch.note(0, 2.0));  // before training: has to be beaten, cannot be kept
    QVERIFY(watch.note(10, 2.5));
    QVERIFY(watch.never_beat_the_start());
    QCOMPARE(watch.without_gain(), std::int64_t{1});
    QVERIFY(watch.note(20, 1.5));
    QVERIFY(!watch.never_beat_the_start());
    QVERIFY(!watch.note(30, 1.5) && !watch.note(40, 1.6));
    QCOMPARE(watch.best_step(), std::int64_t{20});
    QCOMPARE(watch.without_gain(), std::int64_t{2});
    QVERIFY(watch.stops(2) && !watch.stops(3) && !watch.stops(0));
  }

  void an_evaluation_that_finds_no_memory_takes_smaller_groups() {
    const auto rows = random_rows(12, 32, 42);
    TrainingSetup setup(model_, exact_settings(), rows, rows);
    Transformer::Options options;
    options.max_tokens = 64;
    options.keep.assign(2, true);
    Transformer transformer(setup.model(), &setup.adapter(), options);
    std::int64_t group = 64;
    const Evaluation whole = setup.trainer().evaluate();
    int calls = 0;
    const Evaluation result = evaluate_fitting(transformer, rows, group, [&] {
      if (++calls == 5) throw Error(ErrorCode::out_of_memory, "no room");
    });
    QCOMPARE(group, std::int64_t{32});
    QCOMPARE(result.tokens, whole.tokens);
    QVERIFY(std::abs(result.loss / whole.loss - 1) <= 1e-6);
  }
};

QTEST_GUILESS_MAIN(TestTrainingFaults)
#include "test_training_faults.moc"

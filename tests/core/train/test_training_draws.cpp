// SPDX-License-Identifier: Apache-2.0
// Random numbers of a training step: dropout of the adapter's inputs and noise on the embeddings. They belong
// to the token, not to the batch, the device or the order of the work.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/files.h"
#include "core/data/packing.h"
#include "core/model/adapter_files.h"
#include "core/train/adapter_settings.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

double relative(double a, double b) {
  return std::abs(a - b) / std::max(1e-12, std::abs(b));
}

Settings drawing_settings(double dropout = 0.2, double neftune = 5) {
  Settings settings = exact_settings();
  settings.dropout = dropout;
  settings.neftune = neftune;
  return settings;
}

}  // namespace

class TestTrainingDraws : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  std::vector<TokenRow> rows_ = random_rows(24, 32, 1);

  std::string fresh(const char* name) const { return folder_.path().toStdString() + "/" + name; }

  struct Run {
    std::vector<double> losses;
    std::vector<float> parameters;
  };
  Run train(const Settings& settings, int steps, std::int64_t recomputed = 0) {
    TrainingSetup setup(model_, settings, rows_, {}, DType::f32, recomputed);
    randomise_b(setup.backend(), setup.adapter(), 7);
    Run run;
    for (int i = 0; i < steps; ++i) run.losses.push_back(setup.trainer().step().loss);
    run.parameters = setup.parameters();
    return run;
  }

  static Transformer::Options options(float dropout, float neftune) {
    Transformer::Options result;
    result.max_tokens = 256;
    result.keep.assign(2, true);
    result.dropout = dropout;
    result.neftune = neftune;
    return result;
  }
  /// Loss and gradients of one batch.
  static std::vector<double> pass(TrainingSetup& setup, const Transformer::Options& with,
                                  const TokenBatch& batch) {
    Transformer transformer(setup.model(), &setup.adapter(), with);
    Tensor gradients = setup.backend().allocate({setup.adapter().parameter_count()}, DType::f32);
    setup.backend().fill_zero(gradients);
    const BatchLoss loss = transformer.forward_backward(batch, 0.25f, gradients);
    std::vector<float> values(static_cast<std::size_t>(setup.adapter().parameter_count()));
    setup.backend().download(values.data(), gradients);
    std::vector<double> all(values.begin(), values.end());
    all.push_back(loss.loss_sum);
    return all;
  }

 private slots:
  void initTestCase() {
    model_ = fresh("model");
    write_tiny_folder(model_, TinyModel{});
  }

  void a_key_belongs_to_seed_epoch_row_and_position() {
    const DrawPlace here{3407, 2}, later{3407, 3}, elsewhere{3408, 2};
    const TokenBatch together = make_batch(rows_, {4, 1, 7}, &here), alone = make_batch(rows_, {1}, &here);
    QVERIFY(make_batch(rows_, {4}).keys.empty());
    QCOMPARE(together.keys.size(), 2 * together.ids.size());
    const auto first = static_cast<std::ptrdiff_t>(2 * rows_[4].ids.size());
    QVERIFY(std::equal(alone.keys.begin(), alone.keys.end(), together.keys.begin() + first));
    QVERIFY(make_batch(rows_, {1}, &later).keys != alone.keys);
    QVERIFY(make_batch(rows_, {1}, &elsewhere).keys != alone.keys);
    // Parts of a split row have one number but are rows of their own.
    std::vector<TokenRow> parts = {rows_[1], rows_[1]};
    const TokenBatch both = make_batch(parts, {0, 1}, &here);
    std::set<std::pair<std::int32_t, std::int32_t>> keys;
    for (std::size_t t = 0; t < both.ids.size(); ++t) keys.insert({both.keys[2 * t], both.keys[2 * t + 1]});
    QCOMPARE(keys.size(), both.ids.size());
  }

  void one_batch_of_eight_and_eight_of_one_draw_the_same_data() {
    QTest::addColumn<double>("dropout");
    QTest::addColumn<double>("neftune");
    QTest::newRow("dropout") << 0.2 << 0.0;
    QTest::newRow("noise") << 0.0 << 5.0;
    QTest::newRow("both") << 0.1 << 5.0;
  }
  void one_batch_of_eight_and_eight_of_one_draw_the_same() {
    QFETCH(double, dropout);
    QFETCH(double, neftune);
    Settings together = drawing_settings(dropout, neftune), apart = together, packed = together;
    together.packing = apart.packing = false;
    together.batch_size = 8;
    together.accumulation = 1;
    apart.batch_size = 1;
    apart.accumulation = 8;
    const Run one = train(together, 10), other = train(apart, 10);
    const double first = relative(one.losses[0], other.losses[0]);
    double worst = 0;
    for (std::size_t i = 0; i < one.losses.size(); ++i)
      worst = std::max(worst, relative(one.losses[i], other.losses[i]));
    qInfo("1x8 against 8x1: first loss %.1e, ten losses %.1e", first, worst);
    QVERIFY2(first <= 1e-6, qPrintable(QString::number(first)));
    QVERIFY2(worst <= 1e-5, qPrintable(QString::number(worst)));
    // One step of all rows, packed and not.
    packed.batch_size = 24;
    packed.accumulation = 1;
    apart.accumulation = 24;
    QVERIFY(relative(train(packed, 1).losses[0], train(apart, 1).losses[0]) <= 1e-6);
  }

  void recomputed_layers_and_any_team_draw_the_same_bits() {
    Settings settings = drawing_settings();
    settings.threads = 1;
    const Run expected = train(settings, 4, 0);
    for (const std::int64_t recomputed : {1, 2}) {
      const Run found = train(settings, 4, recomputed);
      QVERIFY(found.losses == expected.losses && found.parameters == expected.parameters);
    }
    settings.threads = 2;
    const Run found = train(settings, 4, 1);
    QVERIFY(found.losses == expected.losses && found.parameters == expected.parameters);
  }

  void offloaded_inputs_keep_their_noise() {
    TrainingSetup setup(model_, exact_settings(), rows_);
    randomise_b(setup.backend(), setup.adapter(), 6);
    const DrawPlace draws{1, 0};
    const TokenBatch batch = make_batch(rows_, {0, 1, 2, 3}, &draws);
    auto plain = options(0.2f, 5), offloaded = plain;
    offloaded.keep.assign(2, false);
    offloaded.offload = true;
    QVERIFY(pass(setup, plain, batch) == pass(setup, offloaded, batch));
  }

  void every_epoch_draws_anew_and_the_same_again() {
    TrainingSetup setup(model_, exact_settings(), rows_);
    randomise_b(setup.backend(), setup.adapter(), 6);
    for (const auto& [dropout, neftune] : {std::pair{0.2f, 0.0f}, std::pair{0.0f, 5.0f}}) {
      std::set<double> losses;
      for (const std::int64_t epoch : {0, 1, 2, 0, 1}) {
        const DrawPlace draws{3407, epoch};
        losses.insert(pass(setup, options(dropout, neftune), make_batch(rows_, {0, 1, 2}, &draws)).back());
      }
      QCOMPARE(losses.size(), std::size_t{3});
    }
  }

  void nothing_to_draw_is_as_if_there_were_no_keys() {
    TrainingSetup setup(model_, exact_settings(), rows_);
    randomise_b(setup.backend(), setup.adapter(), 6);
    const DrawPlace draws{3407, 0};
    const TokenBatch with_keys = make_batch(rows_, {0, 1, 2}, &draws), without = make_batch(rows_, {0, 1, 2});
    QVERIFY(pass(setup, options(0, 0), with_keys) == pass(setup, options(0, 0), without));
    QVERIFY(pass(setup, options(0.1f, 0), with_keys) != pass(setup, options(0, 0), without));
    QVERIFY(pass(setup, options(0, 1), with_keys) != pass(setup, options(0, 0), without));
    QVERIFY_EXCEPTION_THROWN(pass(setup, options(0.1f, 0), without), Error);
    QVERIFY_EXCEPTION_THROWN(pass(setup, options(0, 1), without), Error);
  }

  void evaluation_knows_neither() {
    TrainingSetup plain(model_, exact_settings(), rows_, rows_),
        drawing(model_, drawing_settings(), rows_, rows_);
    randomise_b(plain.backend(), plain.adapter(), 6);
    randomise_b(drawing.backend(), drawing.adapter(), 6);
    const Evaluation a = plain.trainer().evaluate(), b = drawing.trainer().evaluate();
    QCOMPARE(a.loss, b.loss);
    drawing.trainer().begin_step();  // and not while a step is under way
    QCOMPARE(drawing.trainer().evaluate().loss, a.loss);
  }

  void the_gradient_is_the_slope_of_what_was_drawn_data() {
    QTest::addColumn<float>("dropout");
    QTest::addColumn<float>("neftune");
    QTest::newRow("dropout") << 0.3f << 0.0f;
    QTest::newRow("both") << 0.1f << 5.0f;
  }
  void the_gradient_is_the_slope_of_what_was_drawn() {
    QFETCH(float, dropout);
    QFETCH(float, neftune);
    TrainingSetup setup(model_, exact_settings(), random_rows(3, 12, 3));
    Backend& backend = setup.backend();
    randomise_b(backend, setup.adapter(), 5);
    Transformer transformer(setup.model(), &setup.adapter(), options(dropout, neftune));
    const DrawPlace draws{11, 0};
    const TokenBatch batch = make_batch(random_rows(3, 12, 3), {0, 1, 2}, &draws);
    Tensor gradients = backend.allocate({setup.adapter().parameter_count()}, DType::f32);
    const auto loss_of = [&] {
      backend.fill_zero(gradients);
      return transformer.forward_backward(batch, 1.0f, gradients).loss_sum;
    };
    loss_of();
    std::vector<float> analytic(static_cast<std::size_t>(setup.adapter().parameter_count()));
    backend.download(analytic.data(), gradients);
    const std::vector<float> start = setup.parameters();
    for (int trial = 0; trial < 8; ++trial) {
      RandomStream random({static_cast<std::uint64_t>(trial), 0, 0, 0, RandomUse::test});
      std::vector<double> direction(start.size());
      double expected = 0;
      for (std::size_t i = 0; i < start.size(); ++i) {
        direction[i] = random.next_normal();
        expected += direction[i] * static_cast<double>(analytic[i]);
      }
      const auto loss_at = [&](double step) {
        std::vector<float> moved(start.size());
        for (std::size_t i = 0; i < start.size(); ++i)
          moved[i] = static_cast<float>(start[i] + step * direction[i]);
        backend.upload(setup.adapter().parameters(), moved.data());
        return loss_of();
      };
      const double h = 2e-4;
      const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
      QVERIFY2(std::abs(slope - expected) <= 2e-3 * std::max(1.0, std::abs(expected)),
               qPrintable(QString("%1 against %2").arg(slope).arg(expected)));
    }
  }

  void R16_a_resumed_run_draws_what_the_whole_one_did() {
    Settings settings = drawing_settings(0.1, 5);
    settings.optimizer = "adamw-8bit";
    settings.accumulation = 3;
    settings.max_steps = 12;  // more than two epochs
    const std::string saved = fresh("saved");
    TrainingSetup whole(model_, settings, rows_);
    std::vector<double> losses;
    for (int i = 0; i < 12; ++i) {
      if (i == 5) whole.trainer().save(saved, {});
      losses.push_back(whole.trainer().step().loss);
    }
    TrainingSetup resumed(model_, settings, rows_);
    resumed.trainer().restore(saved);
    for (std::size_t i = 5; i < 12; ++i) QCOMPARE(resumed.trainer().step().loss, losses[i]);
    QVERIFY(resumed.parameters() == whole.parameters());
  }

  void a_dropped_step_draws_the_same_again() {
    TrainingSetup plain(model_, drawing_settings(), rows_), disturbed(model_, drawing_settings(), rows_);
    for (int i = 0; i < 4; ++i) {
      disturbed.trainer().begin_step();
      disturbed.trainer().drop_step();
      QCOMPARE(disturbed.trainer().step().loss, plain.trainer().step().loss);
    }
  }

  void the_adapter_says_its_dropout_as_peft_does() {
    TrainingSetup setup(model_, drawing_settings(0.15), rows_);
    const std::string saved = fresh("adapter");
    setup.adapter().save(setup.backend(), saved, {});
    QCOMPARE(read_adapter_config(saved).dropout, 0.15);
    QVERIFY(read_file(saved + "/adapter_config.json").find("\"lora_dropout\": 0.15") != std::string::npos);
    // A training that goes on from it keeps the dropout unless it is given another one.
    QCOMPARE(carried_settings(read_model_spec(model_), saved).dropout, 0.15);
    setup.adapter().set_dropout(0.05);
    setup.adapter().save(setup.backend(), fresh("adapter-2"), {});
    QCOMPARE(read_adapter_config(fresh("adapter-2")).dropout, 0.05);
  }

  void the_plan_counts_what_dropout_takes() {
    for (const double dropout : {0.0, 0.2}) {
      const Settings settings = drawing_settings(dropout, 0);
      TrainingSetup setup(model_, settings, rows_);
      setup.trainer().step();
      QVERIFY(setup.backend().budget().peak_bytes() <= setup.plan().memory.total());
      QVERIFY(setup.trainer().arena_peak_bytes() <= setup.plan().memory.activations);
    }
    TrainingSetup with(model_, drawing_settings(0.2, 0), rows_), without(model_, exact_settings(), rows_);
    QVERIFY(with.plan().memory.dequantization > without.plan().memory.dequantization);  // of linear layers
    const std::uint64_t keys = with.plan().memory.activations - without.plan().memory.activations;
    const auto tokens = static_cast<std::uint64_t>(with.plan().largest_batch);
    QVERIFY(keys >= 12 * tokens && keys <= 12 * tokens + 128);
  }
};

QTEST_GUILESS_MAIN(TestTrainingDraws)
#include "test_training_draws.moc"

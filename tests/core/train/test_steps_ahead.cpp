// SPDX-License-Identifier: Apache-2.0
// Steps begun before the last one is finished, inputs of layers in memory of the host, and the loss scale of
// f16.
#include <QtTest>
#include <filesystem>
#include <optional>

#include "core/base/files.h"
#include "core/data/packing.h"
#include "core/model/compute_choice.h"
#include "core/train/checkpoint.h"
#include "core/train/loss_scale.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestStepsAhead : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  std::vector<TokenRow> rows_ = random_rows(60, 32, 21);

  static std::vector<double> losses(Trainer& trainer, int steps, bool look_ahead) {
    std::vector<double> values;
    for (int i = 0; i < steps; ++i) {
      if (!trainer.begun()) trainer.begin_step();
      values.push_back(trainer.finish_step({}, look_ahead && i + 1 < steps).loss);
    }
    return values;
  }

 private slots:
  void initTestCase() {
    model_ = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    tiny.layers = 5;
    write_tiny_folder(model_, tiny);
  }

  void looking_ahead_changes_no_bit() {
    TrainingSetup one(model_, exact_settings(), rows_), other(model_, exact_settings(), rows_);
    QCOMPARE(losses(one.trainer(), 6, true), losses(other.trainer(), 6, false));
    QVERIFY(one.parameters() == other.parameters());
    QCOMPARE(one.trainer().tokens_seen(), other.trainer().tokens_seen());
  }

  void a_step_that_was_only_begun_can_be_dropped() {
    TrainingSetup plain(model_, exact_settings(), rows_), ahead(model_, exact_settings(), rows_);
    const auto expected = losses(plain.trainer(), 6, false);
    Trainer& trainer = ahead.trainer();
    trainer.begin_step();
    trainer.finish_step({}, true);
    QVERIFY(trainer.begun());
    QCOMPARE(trainer.step_number(), std::int64_t{1});
    const std::string saved = folder_.path().toStdString() + "/ahead";
    trainer.save(saved, {});  // the step ahead is in no checkpoint
    trainer.drop_step();
    QVERIFY(!trainer.begun());
    QCOMPARE(losses(trainer, 5, true), std::vector<double>(expected.begin() + 1, expected.end()));
    TrainingSetup resumed(model_, exact_settings(), rows_);
    resumed.trainer().restore(saved);
    QCOMPARE(losses(resumed.trainer(), 5, false), std::vector<double>(expected.begin() + 1, expected.end()));
    QVERIFY(resumed.parameters() == ahead.parameters());
    QVERIFY(resumed.parameters() == plain.parameters());
  }

  void a_request_while_looking_ahead_drops_only_the_step_ahead() {
    TrainingSetup plain(model_, exact_settings(), rows_), stopped(model_, exact_settings(), rows_);
    const auto expected = losses(plain.trainer(), 3, false);
    Trainer& trainer = stopped.trainer();
    trainer.begin_step();
    QVERIFY_EXCEPTION_THROWN(trainer.finish_step([] { throw Error(ErrorCode::cancelled, "stop"); }, true),
                             Error);
    QVERIFY(trainer.in_flight() && !trainer.begun());
    QCOMPARE(trainer.finish_step().loss, expected[0]);
    QCOMPARE(trainer.step_number(), std::int64_t{1});
    QCOMPARE(losses(trainer, 2, true), std::vector<double>(expected.begin() + 1, expected.end()));
  }

  void the_last_step_has_none_behind_it() {
    Settings settings = exact_settings();
    settings.max_steps = 2;
    TrainingSetup setup(model_, settings, rows_);
    setup.trainer().begin_step();
    setup.trainer().finish_step({}, true);
    setup.trainer().finish_step({}, true);
    QVERIFY(setup.trainer().finished() && !setup.trainer().begun());
  }

  void skipped_steps_are_counted_over_a_resume() {
    TrainingSetup setup(model_, exact_settings(), rows_);
    std::vector<float> good = setup.parameters(), broken = good;
    broken[0] = std::numeric_limits<float>::quiet_NaN();
    setup.backend().upload(setup.adapter().parameters(), broken.data());
    QVERIFY(setup.trainer().step().skipped);
    setup.backend().upload(setup.adapter().parameters(), good.data());
    QVERIFY(!setup.trainer().step().skipped);
    const std::string saved = folder_.path().toStdString() + "/skipped";
    setup.trainer().save(saved, {});
    TrainingSetup resumed(model_, exact_settings(), rows_);
    resumed.trainer().restore(saved);
    QCOMPARE(resumed.trainer().skipped_steps(), std::int64_t{1});
    QCOMPARE(resumed.trainer().step().loss, setup.trainer().step().loss);
    QCOMPARE(resumed.trainer().skipped_steps(), std::int64_t{1});
    QVERIFY(resumed.parameters() == setup.parameters());
  }

  void offloaded_inputs_come_back_as_they_were_data() {
    QTest::addColumn<int>("kept");  // one bit a layer
    for (const int kept : {0, 1, 2, 4, 16, 5, 10, 21, 31}) QTest::addRow("%d", kept) << kept;
  }
  void offloaded_inputs_come_back_as_they_were() {
    QFETCH(int, kept);
    TrainingSetup setup(model_, exact_settings(), rows_);
    randomise_b(setup.backend(), setup.adapter(), 6);
    const TokenBatch batches[] = {make_batch(rows_, {0, 1, 2}), make_batch(rows_, {3, 4})};
    const auto run = [&](bool offload) {
      Transformer::Options options;
      options.max_tokens = 128;
      options.offload = offload;
      for (int layer = 0; layer < 5; ++layer) options.keep.push_back((kept >> layer & 1) != 0);
      Transformer transformer(setup.model(), &setup.adapter(), options);
      Tensor gradients = setup.backend().allocate({setup.adapter().parameter_count()}, DType::f32);
      setup.backend().fill_zero(gradients);
      for (const TokenBatch& batch : batches) transformer.forward_backward(batch, 1.0f, gradients);
      std::vector<float> values(static_cast<std::size_t>(setup.adapter().parameter_count()));
      setup.backend().download(values.data(), gradients);
      return values;
    };
    QVERIFY(run(true) == run(false));
  }

  void what_the_processor_has_no_use_for_is_refused_by_name() {
    Settings settings = exact_settings();
    settings.device = "cpu";
    const auto backend = make_backend_for(settings);
    settings.offload = true;
    try {
      make_backend_for(settings);
      QFAIL("offload on the processor");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::unsupported);
      QCOMPARE(error.where(), std::string("offload"));
    }
    settings.compute = "f16";
    QVERIFY_EXCEPTION_THROWN(resolved_compute(settings, *backend), Error);
  }

  void the_loss_scale_is_found_and_does_not_depend_on_looking_ahead() {
    const auto run = [](bool ahead) {
      LossScale scale;
      std::vector<double> used(1, 0.0);
      // Everything above 2^12 overflows.
      const auto begin = [&](std::int64_t step) { used.push_back(scale.of_step(step)); };
      begin(1);
      for (std::int64_t step = 1; step <= 2100; ++step) {
        if (ahead) begin(step + 1);
        scale.finish(step, used[static_cast<std::size_t>(step)], used[static_cast<std::size_t>(step)] > 4096);
        if (!ahead) begin(step + 1);
      }
      return used;
    };
    const auto used = run(false);
    QVERIFY(used == run(true));
    QCOMPARE(used[1], 65536.0);
    QCOMPARE(used[20], 4096.0);
    QCOMPARE(*std::max_element(used.begin() + 20, used.end()), 8192.0);  // tried again after 2,000 good steps
  }

  void a_loss_scale_that_cannot_be_is_refused_data() {
    QTest::addColumn<QString>("entry");
    QTest::addColumn<bool>("good");
    QTest::newRow("as written") << R"({"scale": 4096.0, "good_steps": 1999})" << true;
    QTest::newRow("the smallest") << R"({"scale": 0.00006103515625, "good_steps": 0})" << true;
    QTest::newRow("the largest") << R"({"scale": 16777216, "good_steps": 0})" << true;
    QTest::newRow("too small") << R"({"scale": 0.000030517578125})" << false;
    QTest::newRow("too large") << R"({"scale": 33554432})" << false;
    QTest::newRow("zero") << R"({"scale": 0})" << false;
    QTest::newRow("negative") << R"({"scale": -4096})" << false;
    QTest::newRow("no power of two") << R"({"scale": 4097})" << false;
    QTest::newRow("more good steps than there can be") << R"({"scale": 4096, "good_steps": 2000})" << false;
    QTest::newRow("a number alone") << "4096" << false;
  }
  void a_loss_scale_that_cannot_be_is_refused() {
    QFETCH(QString, entry);
    QFETCH(bool, good);
    const std::string saved = folder_.path().toStdString() + "/scale", changed = saved + "-changed";
    TrainingSetup setup(model_, exact_settings(), rows_);
    setup.trainer().save(saved, {});
    for (const char* key : {"loss_scale", "loss_scale_before"}) {
      CheckpointWriter writer(changed);
      for (const auto& file : std::filesystem::directory_iterator(saved)) {
        const std::string name = file.path().filename().string();
        if (name == "manifest.json") continue;
        std::string content = read_file(file.path().string());
        if (name == "trainer.json")
          content.insert(1, "\"" + std::string(key) + "\": " + entry.toStdString() + ",");
        writer.add_file(name, {content.begin(), content.end()});
      }
      writer.commit(0);
      std::optional<ErrorCode> code;
      try {
        setup.trainer().restore(changed);
      } catch (const Error& error) {
        code = error.code();
      }
      QCOMPARE(code.has_value(), !good);
      if (!good) QCOMPARE(*code, ErrorCode::bad_format);
    }
  }

  void the_loss_scale_stays_in_its_bounds() {
    LossScale scale;
    std::int64_t step = 0;
    const auto finish = [&](bool skipped) {
      ++step;
      scale.finish(step, scale.of_step(step), skipped);
    };
    for (int i = 0; i < 100; ++i) finish(true);
    QCOMPARE(scale.now().scale, LossScale::smallest);
    LossScale restored;
    restored.restore(step, scale.now(), scale.before());
    QCOMPARE(restored.of_step(step + 1), scale.of_step(step + 1));
    for (std::int64_t i = 0; i < 60 * LossScale::patience; ++i) finish(false);
    QCOMPARE(scale.now().scale, LossScale::largest);
  }
};

QTEST_GUILESS_MAIN(TestStepsAhead)
#include "test_steps_ahead.moc"

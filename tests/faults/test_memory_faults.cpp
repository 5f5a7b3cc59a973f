// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/infer/chat_engine.h"
#include "core/model/compute_choice.h"
#include "core/train/checkpoint.h"
#include "core/train/run_job.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"
#include "tests/support/memory_faults.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// The n-th allocation is refused, for n = 1 ... until the operation passes: a clear error each time, and
/// what there was before is as usable as before.
class TestMemoryFaults : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  int total_ = 0;

  std::string fresh(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// Gives the number of points tried; `check` looks at the state after each refusal.
  int refuse_each(const std::function<void()>& act, const std::function<void()>& check) {
    for (int nth = 1; nth < 10'000; ++nth) {
      std::optional<ErrorCode> code;
      arm_memory_fault(nth);
      try {
        act();
      } catch (const Error& error) {
        code = error.code();
      } catch (const std::bad_alloc&) {
        code = ErrorCode::out_of_memory;
      }
      disarm_memory_fault();
      if (!met_memory_fault()) {
        if (code) qWarning("failed without a fault");
        total_ += nth - 1;
        qInfo("%d points tried", nth - 1);
        return nth - 1;
      }
      if (code && *code != ErrorCode::out_of_memory) {
        qWarning("allocation %d gave %s", nth, to_string(*code));
        return -1;
      }
      check();
    }
    return -1;
  }

  static Settings settings() {
    Settings settings = exact_settings();
    settings.optimizer = "adamw-8bit";
    settings.quantization = "nf4";
    settings.rank = 64;
    return settings;
  }

 private slots:
  void initTestCase() {
    model_ = fresh("model");
    TinyModel model;
    model.context = 512;
    write_tiny_folder(model_, model);
  }
  void cleanupTestCase() { qInfo("%d points tried in all", total_); }

  void loading_a_model_fails_clearly_and_leaves_nothing() {
    const auto backend = make_backend_for(settings());
    const ModelSpec spec = read_model_spec(model_);
    const auto act = [&] { load_base_model(*backend, model_, spec, settings(), DType::f32); };
    std::uint64_t used = backend->budget().used_bytes();
    QVERIFY(refuse_each(act, [&] {
              if (backend->budget().used_bytes() != used) {
                QFAIL("memory is lost");
              }
            }) > 10);
    QCOMPARE(backend->budget().used_bytes(), used);
  }

  void a_step_that_is_refused_memory_has_not_happened() {
    const auto rows = random_rows(20, 32, 1);
    // Twice the same run; in one of them every allocation of the first steps is refused once.
    TrainingSetup plain(model_, settings(), rows);
    for (int step = 0; step < 3; ++step) plain.trainer().step();
    TrainingSetup disturbed(model_, settings(), rows);
    int steps = 0;
    const int points = refuse_each(
        [&] {
          disturbed.trainer().drop_step();
          if (steps < 3) {
            disturbed.trainer().step();
            ++steps;
          }
        },
        [] {});
    QVERIFY(points >= 1);
    while (steps < 3) {
      disturbed.trainer().step();
      ++steps;
    }
    QVERIFY(plain.parameters() == disturbed.parameters());
  }

  void an_evaluation_that_is_refused_memory_changes_nothing() {
    const auto rows = random_rows(20, 32, 2);
    TrainingSetup setup(model_, settings(), rows, rows);
    setup.trainer().step();
    const auto before = setup.parameters();
    const double loss = setup.trainer().evaluate().loss;
    QVERIFY(refuse_each([&] { QVERIFY(std::abs(setup.trainer().evaluate().loss - loss) <= 1e-9 * loss); },
                        [] {}) >= 1);
    QVERIFY(setup.parameters() == before);
  }

  void a_checkpoint_that_is_refused_memory_is_not_there() {
    const auto rows = random_rows(20, 32, 3);
    TrainingSetup setup(model_, settings(), rows);
    setup.trainer().step();
    const auto run = RunFolder::create(fresh("run"), Job{});
    const auto act = [&] {
      fs::remove_all(run.checkpoint_path(1));
      setup.trainer().save(run.checkpoint_path(1), {});
      const std::string newest = newest_checkpoint(run);
      if (newest.empty()) throw Error(ErrorCode::io, "no checkpoint");
      setup.trainer().restore(newest);
    };
    const auto before = setup.parameters();
    QVERIFY(refuse_each(act, [] {}) >= 0);
    QVERIFY(setup.parameters() == before);
    QCOMPARE(setup.trainer().step_number(), std::int64_t{1});
  }

  void a_chat_that_is_refused_memory_answers_the_next_time() {
    Settings chat = settings();
    chat.template_name = "alpaca";
    std::string expected;
    const auto ask = [](ChatEngine& engine) {
      Sampling sampling;
      sampling.greedy = true;
      sampling.max_new_tokens = 4;
      std::string answer;
      engine.answer({Message{"user", "Hi"}}, sampling, [&](const std::string& piece) { answer += piece; });
      return answer;
    };
    {
      ChatEngine engine(model_, chat, 400);
      expected = ask(engine);
    }
    std::unique_ptr<ChatEngine> engine;
    QVERIFY(refuse_each([&] { engine = std::make_unique<ChatEngine>(model_, chat, 400); }, [] {}) > 10);
    QVERIFY(refuse_each([&] { ask(*engine); }, [&] { QCOMPARE(ask(*engine), expected); }) >= 0);
    QCOMPARE(ask(*engine), expected);
  }
};

QTEST_GUILESS_MAIN(TestMemoryFaults)
#include "test_memory_faults.moc"

// SPDX-License-Identifier: Apache-2.0
// Chat on the CUDA back end, interpreted, against the processor: the bundled model, greedy, in f32; and a
// tiny one with adapters, whose memory runs out at any place.
#include <QtTest>

#include "core/infer/chat_engine.h"
#include "core/model/compute_choice.h"
#include "core/model/session_plan.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/core/train/training_support.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestChatPtx : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_, trained_, stretched_;  ///< a tiny model and two adapters, one for stretched positions

  static Settings settings(const char* device) {
    Settings settings;
    settings.device = device;
    settings.compute = "f32";
    settings.template_name = "none";
    settings.memory_limit_bytes = 1'000'000'000;
    return settings;
  }
  std::string write_adapter(const char* name, std::int64_t rank, double rope_linear_factor) {
    Settings own = exact_settings();
    own.device = "cpu";
    own.rank = rank;
    const auto backend = make_backend_for(own);
    LoraAdapter adapter = LoraAdapter::create(*backend, read_model_spec(model_), own);
    std::vector<float> values(static_cast<std::size_t>(adapter.parameter_count()));
    RandomStream random({static_cast<std::uint64_t>(rank), 0, 0, 0, RandomUse::test});
    for (float& value : values) value = static_cast<float>(0.3 * random.next_normal());
    backend->upload(adapter.parameters(), values.data());
    AdapterNotes notes;
    notes.rope_linear_factor = rope_linear_factor;
    const std::string path = folder_.path().toStdString() + "/" + name;
    adapter.save(*backend, path, notes);
    return path;
  }
  static std::string say(ChatEngine& engine) {
    Sampling sampling;
    sampling.greedy = true;
    sampling.max_new_tokens = 3;
    std::string text;
    engine.answer({{"user", "tell me"}}, sampling, [&](const std::string& piece) { text += piece; });
    return text;
  }

  /// A conversation: without an adapter, with one, and with one whose positions are stretched.
  struct Talk {
    std::string plain, trained, stretched;
    bool operator==(const Talk&) const = default;
  };
  Talk talk(const char* device) const {
    ChatEngine engine(model_, settings(device), 32);
    Talk talk;
    talk.plain = say(engine);
    engine.set_adapters({{trained_, 1}});
    talk.trained = say(engine);
    engine.set_adapters({{stretched_, 0.5}});
    talk.stretched = say(engine);
    return talk;
  }
  /// The same with every error of memory caught where a person would see it: what was set stays set, and the
  /// same request works at the next try. Gives the number of errors.
  int talk_again_after_errors(const Talk& expected) const {
    int errors = 0;
    const auto twice = [&](const std::function<void()>& action, const std::function<void()>& between) {
      try {
        action();
      } catch (const Error& error) {
        ptx::fail_allocation(0);
        if (error.code() != ErrorCode::out_of_memory) throw;
        ++errors;
        between();
        action();
      }
    };
    std::unique_ptr<ChatEngine> engine;
    const auto answers = [&](const std::string& text) {
      twice([&] { QCOMPARE(say(*engine), text); }, [] {});
    };
    twice([&] { engine = std::make_unique<ChatEngine>(model_, settings("cuda"), 32); }, [] {});
    answers(expected.plain);
    twice([&] { engine->set_adapters({{trained_, 1}}); }, [&] { QCOMPARE(say(*engine), expected.plain); });
    answers(expected.trained);
    twice(
        [&] {
          engine->set_adapters({{stretched_, 0.5}});
        },
        [&] { QCOMPARE(say(*engine), expected.trained); });
    answers(expected.stretched);
    return errors;
  }

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
  void initTestCase() {
    model_ = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    tiny.layers = 1;
    write_tiny_folder(model_, tiny);
    trained_ = write_adapter("trained", 4, 1);
    stretched_ = write_adapter("stretched", 12, 2);
  }

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

  void adapters_say_what_they_say_on_the_processor() {
    const Talk expected = talk("cpu");
    QVERIFY(expected.plain != expected.trained && expected.trained != expected.stretched);
    QVERIFY(talk("cuda") == expected);
  }

  void the_plan_knows_what_a_session_takes() {
    const Settings cuda = settings("cuda");
    const auto backend = make_backend_for(cuda);
    const ModelSpec spec = read_model_spec(model_);
    BaseModel model = load_base_model(*backend, model_, spec, cuda, DType::f32);
    const LoraAdapter adapter = LoraAdapter::load(*backend, spec, trained_);
    model.prepare_positions(100);
    MemoryBudget& budget = backend->budget();
    const std::uint64_t hidden = budget.peak_bytes() - budget.used_bytes();  // by loading
    budget.acquire(hidden);
    const std::uint64_t before = budget.used_bytes();
    Session session(model, DType::f32, 100);
    session.set_adapters({{&adapter, 1.0}});
    SessionShape shape{100, DType::f32, {}, cuda_layout};
    shape.ranks.fill(4);
    QCOMPARE(budget.peak_bytes() - before, session_bytes(spec, shape));
    budget.release(hidden);
  }

  void memory_that_runs_out_anywhere_is_an_error_and_the_chat_goes_on() {
    const std::uint64_t before = ptx::allocations();
    const Talk expected = talk("cuda");
    const std::uint64_t all = ptx::allocations() - before;
    int errors = 0;
    for (std::uint64_t n = 1; n <= all; ++n) {
      ptx::fail_allocation(n);
      const int found = talk_again_after_errors(expected);
      ptx::fail_allocation(0);
      if (QTest::currentTestFailed()) return qInfo("at allocation %d of %d", int(n), int(all));
      QVERIFY(found <= 1);  // page-locked memory and recordings can be done without
      errors += found;
    }
    qInfo("%d allocations, each refused once: %d errors", int(all), errors);
    QVERIFY(errors > 60);
    QCOMPARE(ptx::memory_used(), std::size_t{0});
    QCOMPARE(ptx::complaint(), std::string());
  }
};

QTEST_GUILESS_MAIN(TestChatPtx)
#include "test_chat_ptx.moc"

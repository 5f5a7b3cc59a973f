// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "core/data/packing.h"
#include "core/infer/session.h"
#include "core/model/compute_choice.h"
#include "core/model/lora_adapter.h"
#include "core/model/session_plan.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestSession : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  Settings settings_;
  ModelSpec spec_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<BaseModel> model_;
  std::unique_ptr<LoraAdapter> adapter_;

  static std::vector<TokenId> some_ids(std::size_t count) {
    RandomStream random({9, 0, 0, 0, RandomUse::test});
    std::vector<TokenId> ids;
    while (ids.size() < count) ids.push_back(static_cast<TokenId>(random.next_below(260)));
    return ids;
  }
  static double largest_difference(const std::vector<float>& a, const float* b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
    return largest;
  }
  static std::vector<float> prefill(Session& session, const std::vector<TokenId>& ids) {
    session.prefill(ids);
    return session.logits();
  }
  static std::vector<float> decode(Session& session, TokenId id) {
    session.decode(id);
    return session.logits();
  }
  std::vector<float> reference(const std::vector<TokenId>& ids, const LoraAdapter* adapter) {
    TokenRow row;
    row.ids = ids;
    row.targets.assign(ids.size(), -1);
    Transformer::Options options;
    options.max_tokens = static_cast<std::int64_t>(ids.size());
    options.keep.assign(2, false);
    return Transformer(*model_, adapter, options).logits(make_batch({row}, {0}));
  }

 private slots:
  void initTestCase() {
    const std::string path = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    tiny.context = 600;
    write_tiny_folder(path, tiny);
    settings_.quantization = "none";
    settings_.rank = 4;
    spec_ = read_model_spec(path);
    backend_ = make_backend_for(settings_);
    model_ = std::make_unique<BaseModel>(load_base_model(
        *backend_, path, spec_,
        [this] {
          Settings f32 = settings_;
          f32.compute = "f32";
          return f32;
        }(),
        DType::f32));
    model_->prepare_positions(600);
    adapter_ = std::make_unique<LoraAdapter>(LoraAdapter::create(*backend_, spec_, settings_));
    RandomStream random({3, 0, 0, 0, RandomUse::test});
    for (const auto& module : adapter_->modules()) {
      std::vector<float> values(static_cast<std::size_t>(module.b.elements()));
      for (float& value : values) value = static_cast<float>(0.1 * random.next_normal());
      backend_->upload(module.b, values.data());
    }
  }

  void the_cache_gives_the_logits_of_the_whole_text() {
    const auto ids = some_ids(530);  // more than one chunk of the prefill
    for (const LoraAdapter* adapter :
         {static_cast<const LoraAdapter*>(nullptr), static_cast<const LoraAdapter*>(adapter_.get())}) {
      const auto whole = reference(ids, adapter);
      Session session(*model_, DType::f32, 600);
      if (adapter) session.set_adapters({{adapter, 1.0}});
      const std::vector<TokenId> start(ids.begin(), ids.begin() + 520);
      QVERIFY(largest_difference(prefill(session, start), whole.data() + 519 * 260) < 2e-4);
      for (std::size_t t = 520; t < ids.size(); ++t) {
        QVERIFY2(largest_difference(decode(session, ids[t]), whole.data() + t * 260) < 2e-4,
                 qPrintable(QString::number(t)));
      }
    }
  }

  void a_common_beginning_is_not_computed_again_and_changes_nothing() {
    const auto ids = some_ids(40);
    Session fresh(*model_, DType::f32, 600), used(*model_, DType::f32, 600);
    std::vector<TokenId> other(ids.begin(), ids.begin() + 20);
    for (int i = 0; i < 30; ++i) other.push_back(7);
    used.prefill(other);
    QVERIFY(prefill(used, ids) == prefill(fresh, ids));
    QVERIFY(prefill(used, ids) == prefill(fresh, ids));  // the same text again
    const std::vector<TokenId> shorter(ids.begin(), ids.begin() + 10);
    Session another(*model_, DType::f32, 600);
    // One token alone takes the products of single rows: the same numbers, summed in another order.
    QVERIFY(largest_difference(prefill(used, shorter), prefill(another, shorter).data()) < 1e-4);
  }

  void adapters_add_up_with_their_strengths() {
    const auto ids = some_ids(12);
    Session session(*model_, DType::f32, 64);
    const auto base = prefill(session, ids);
    session.set_adapters({{adapter_.get(), 1.0}});
    const auto full = prefill(session, ids);
    session.set_adapters({{adapter_.get(), 0.25}, {adapter_.get(), 0.75}});
    const auto mixed = prefill(session, ids);
    session.set_adapters({{adapter_.get(), 0.0}});
    const auto none = prefill(session, ids);
    QVERIFY(largest_difference(full, base.data()) > 1e-2);
    QVERIFY(largest_difference(mixed, full.data()) < 1e-4);
    QVERIFY(none == base);
  }

  void adapters_that_find_no_memory_leave_those_of_before() {
    const auto ids = some_ids(12);
    Session session(*model_, DType::f32, 64);
    session.set_adapters({{adapter_.get(), 1.0}});
    const auto expected = prefill(session, ids);
    MemoryBudget& budget = backend_->budget();
    int refused = 0;
    for (bool fits = false; !fits; ++refused) {
      // Room for a little more each time: the list, its work space and the tables are refused in turn.
      const std::uint64_t taken = budget.limit_bytes() - budget.used_bytes() - 16384 * refused;
      budget.acquire(taken);
      std::optional<ErrorCode> code;
      try {
        session.set_adapters({{adapter_.get(), 0.5}, {adapter_.get(), 2.0}}, 2);
        fits = true;
      } catch (const Error& error) {
        code = error.code();
      }
      budget.release(taken);
      QVERIFY(fits || code == ErrorCode::out_of_memory);
      QCOMPARE(prefill(session, ids) == expected, !fits);
    }
    QVERIFY2(refused > 4, qPrintable(QString::number(refused)));
    session.set_adapters({{adapter_.get(), 1.0}}, 1);
    QVERIFY(prefill(session, ids) == expected);
  }

  void the_plan_knows_what_a_session_takes() {
    const auto backend = make_backend_for(settings_);
    BaseModel model =
        load_base_model(*backend, folder_.path().toStdString() + "/model", spec_, settings_, DType::f32);
    const LoraAdapter adapter = LoraAdapter::create(*backend, spec_, settings_);
    model.prepare_positions(600);
    MemoryBudget& budget = backend->budget();
    const std::uint64_t hidden = budget.peak_bytes() - budget.used_bytes();  // by loading
    budget.acquire(hidden);
    const std::uint64_t before = budget.used_bytes();
    Session session(model, DType::f32, 500);
    session.set_adapters({{&adapter, 1.0}});
    SessionShape shape{500, DType::f32, {}, {}};
    shape.ranks.fill(4);
    QCOMPARE(budget.peak_bytes() - before, session_bytes(spec_, shape));
    budget.release(hidden);
  }

  void what_does_not_fit_is_refused() {
    Session session(*model_, DType::f32, 16);
    QVERIFY_EXCEPTION_THROWN(session.prefill(some_ids(17)), Error);
    QVERIFY_EXCEPTION_THROWN(session.prefill({}), Error);
    QVERIFY_EXCEPTION_THROWN(session.prefill({260}), Error);
    QVERIFY_EXCEPTION_THROWN(session.prefill({-1}), Error);
    session.prefill(some_ids(16));
    QVERIFY_EXCEPTION_THROWN(session.decode(5), Error);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(session.prefill(some_ids(3), stop.get_token()), Error);
    session.prefill(some_ids(3));  // and it can still be used
  }

  void loading_takes_little_more_than_the_model() {
    const std::string path = folder_.path().toStdString() + "/wide";
    TinyModel tiny;
    tiny.hidden_size = 256;
    tiny.intermediate_size = 1024;
    tiny.vocab_size = 4096;
    write_tiny_folder(path, tiny);
    const auto backend = make_backend_for(settings_);
    Settings settings;
    const BaseModel model = load_base_model(*backend, path, read_model_spec(path), settings, DType::f32);
    const std::uint64_t largest = 4ull * 4096 * 256;
    QVERIFY2(backend->budget().peak_bytes() <= model.bytes() + 2 * largest,
             qPrintable(QString::number(backend->budget().peak_bytes())));
  }

  void a_lying_model_is_refused_by_the_name_of_its_tensor() {
    const std::string path = folder_.path().toStdString() + "/broken";
    TinyModel tiny;
    write_tiny_folder(path, tiny);
    auto tensors = tiny_weights(tiny);
    tensors[3].values[5] = std::nanf("");
    write_text(path + "/model.safetensors", safetensors_image(tensors, "F32"));
    try {
      load_base_model(*backend_, path, read_model_spec(path), settings_, DType::f32);
      QFAIL("loaded");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find(tensors[3].name) != std::string::npos, error.what());
    }
  }
};

QTEST_GUILESS_MAIN(TestSession)
#include "test_session.moc"

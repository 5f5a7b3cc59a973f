// SPDX-License-Identifier: Apache-2.0
// DoRA in whole steps: gradients against differences of the loss, resume, memory, and what a chat makes of
// several adapters.
#include <QtTest>
#include <cmath>
#include <numeric>

#include "core/infer/dora_mix.h"
#include "core/infer/session.h"
#include "core/model/dora.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestDoraTraining : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;

  static Settings settings() {
    Settings settings = exact_settings();
    settings.dora = true;
    return settings;
  }
  TrainingSetup setup(const Settings& settings, std::int64_t recomputed = -1) const {
    return TrainingSetup(model_, settings, random_rows(40, 32, 5), {}, DType::f32, recomputed);
  }
  /// B and m as after some training.
  static void unsettle(TrainingSetup& setup) {
    randomise_b(setup.backend(), setup.adapter(), 11);
    RandomStream random({12, 0, 0, 0, RandomUse::test});
    for (const LoraModule& module : setup.adapter().modules()) {
      std::vector<float> values(static_cast<std::size_t>(module.out));
      setup.backend().download(values.data(), module.m);
      for (float& value : values) value *= static_cast<float>(1 + 0.2 * random.next_normal());
      setup.backend().upload(module.m, values.data());
    }
  }
  static Transformer transformer(TrainingSetup& setup, bool keep = true) {
    Transformer::Options options;
    options.max_tokens = 64;
    options.keep.assign(2, keep);
    return Transformer(setup.model(), &setup.adapter(), options);
  }
  static std::vector<float> values_of(Backend& backend, const TensorView& view) {
    std::vector<float> values(static_cast<std::size_t>(view.elements()));
    backend.download(values.data(), view);
    return values;
  }
  static std::vector<double> dense(Backend& backend, const Weight& weight) {
    const Tensor rows = backend.allocate({weight.out, weight.in}, DType::f32);
    backend.dequantize_rows(weight, 0, rows);
    const std::vector<float> values = values_of(backend, rows);
    return {values.begin(), values.end()};
  }

 private slots:
  void initTestCase() {
    model_ = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    tiny.attention_bias = true;  // a bias is not scaled
    write_tiny_folder(model_, tiny);
  }

  void a_fresh_adapter_leaves_the_model_as_it_is() {
    for (const char* quantization : {"none", "nf4", "int8"}) {
      Settings asked = settings();
      asked.quantization = quantization;
      TrainingSetup run = setup(asked);
      const TokenBatch batch = make_batch(random_rows(3, 20, 7), {0, 1, 2});
      Transformer with = transformer(run);
      Transformer::Options options;
      options.max_tokens = 64;
      options.keep.assign(2, true);
      Transformer without(run.model(), nullptr, options);
      const double difference = with.evaluate(batch).loss_sum - without.evaluate(batch).loss_sum;
      QVERIFY2(std::abs(difference) <= 1e-4, qPrintable(QString::number(difference)));
    }
  }

  /// Norms are constants in the backward: for A and B the differences are taken with the norms as they were.
  void gradients_are_slopes_of_the_loss_data() {
    QTest::addColumn<char>("part");
    QTest::newRow("A") << 'A';
    QTest::newRow("B") << 'B';
    QTest::newRow("m") << 'M';
  }
  void gradients_are_slopes_of_the_loss() {
    QFETCH(char, part);
    TrainingSetup run = setup(settings());
    unsettle(run);
    Backend& backend = run.backend();
    Transformer network = transformer(run);
    const TokenBatch batch = make_batch(random_rows(3, 20, 7), {0, 1, 2});
    const Tensor gradients = backend.allocate({run.adapter().parameter_count()}, DType::f32);
    backend.fill_zero(gradients);
    network.forward_backward(batch, 1, gradients);
    const std::vector<float> slope = values_of(backend, gradients), start = run.parameters();
    std::vector<double> direction(start.size(), 0.0);
    RandomStream random({13, 0, 0, 0, RandomUse::test});
    double expected = 0;
    for (const LoraModule& module : run.adapter().modules()) {
      const TensorView& view = part == 'A' ? module.a : part == 'B' ? module.b : module.m;
      const auto first = static_cast<std::size_t>(view.as<float>() - run.adapter().parameters().as<float>());
      for (std::size_t i = first; i < first + static_cast<std::size_t>(view.elements()); ++i) {
        direction[i] = random.next_normal();
        expected += direction[i] * static_cast<double>(slope[i]);
      }
    }
    const auto loss_at = [&](double step) {
      std::vector<float> moved(start.size());
      for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] = static_cast<float>(static_cast<double>(start[i]) + step * direction[i]);
      backend.upload(run.adapter().parameters(), moved.data());
      if (part == 'M') network.adapter_changed();
      return network.evaluate(batch).loss_sum;
    };
    const double step = 1e-3, got = (loss_at(step) - loss_at(-step)) / (2 * step);
    QVERIFY2(std::abs(got - expected) <= 5e-3 * std::abs(expected),
             qPrintable(QString("%1 and %2").arg(got).arg(expected)));
  }

  void kept_and_recomputed_layers_give_the_same_bits() {
    std::vector<std::vector<float>> results;
    for (const bool keep : {true, false}) {
      TrainingSetup run = setup(settings());
      unsettle(run);
      Transformer network = transformer(run, keep);
      const Tensor gradients = run.backend().allocate({run.adapter().parameter_count()}, DType::f32);
      run.backend().fill_zero(gradients);
      network.forward_backward(make_batch(random_rows(3, 20, 7), {0, 1, 2}), 1, gradients);
      results.push_back(values_of(run.backend(), gradients));
    }
    QVERIFY(results[0] == results[1]);
  }

  void a_restored_run_goes_on_bit_for_bit_data() {
    QTest::addColumn<QString>("optimizer");
    QTest::newRow("adamw") << "adamw";
    QTest::newRow("adamw-8bit") << "adamw-8bit";
  }
  void a_restored_run_goes_on_bit_for_bit() {
    QFETCH(QString, optimizer);
    Settings asked = settings();
    asked.optimizer = optimizer.toStdString();
    asked.quantization = "nf4";
    asked.targets = "q_proj,o_proj,down_proj";
    TrainingSetup whole = setup(asked);
    for (int i = 0; i < 6; ++i) whole.trainer().step();
    const std::string checkpoint = folder_.path().toStdString() + "/checkpoint-" + optimizer.toStdString();
    {
      TrainingSetup first = setup(asked);
      for (int i = 0; i < 3; ++i) first.trainer().step();
      first.trainer().save(checkpoint, {});
    }
    TrainingSetup second = setup(asked);
    second.trainer().restore(checkpoint);
    for (int i = 0; i < 3; ++i) second.trainer().step();
    QVERIFY(second.parameters() == whole.parameters());
    QVERIFY(second.trainer().step().loss == whole.trainer().step().loss);
  }

  void the_plan_counts_magnitudes_norms_and_products() {
    TrainingSetup run = setup(settings());
    QCOMPARE(run.plan().adapter_parameters, run.adapter().parameter_count());
    std::uint64_t outputs = 0;
    for (const LoraModule& module : run.adapter().modules())
      outputs += static_cast<std::uint64_t>(module.out);
    QCOMPARE(run.plan().memory.adapter,
             4 * static_cast<std::uint64_t>(run.adapter().parameter_count()) + 8 * outputs);
    const std::uint64_t before = run.backend().budget().used_bytes();
    {
      const DoraState state(run.model(), run.adapter());
      QCOMPARE(run.backend().budget().used_bytes() - before, 8 * outputs);
    }
    for (int i = 0; i < 3; ++i) run.trainer().step();
    const auto used = static_cast<double>(run.trainer().arena_peak_bytes());
    const auto planned = static_cast<double>(run.plan().memory.activations);
    QVERIFY2(used <= planned && used >= 0.5 * planned,
             qPrintable(QString("%1 of %2").arg(used).arg(planned)));
  }

  void a_chat_mixes_adapters_on_straight_lines_from_the_base() {
    TrainingSetup one = setup(settings()), two = setup([] {
                                             Settings other = settings();
                                             other.seed = 99;
                                             other.rank = 3;
                                             return other;
                                           }());
    Settings plain = settings();
    plain.dora = false;
    plain.targets = "q_proj";
    TrainingSetup three = setup(plain);
    unsettle(one);
    unsettle(two);
    randomise_b(three.backend(), three.adapter(), 17);
    // All on the first one's base; the processor's memory is everybody's.
    const std::vector<StrongAdapter> adapters = {
        {&one.adapter(), 0.75}, {&two.adapter(), -0.5}, {&three.adapter(), 1.5}};
    Backend& backend = one.backend();
    const DoraMix mix(one.model(), adapters);
    for (const std::size_t which : {std::size_t{q_proj}, std::size_t{down_proj}}) {
      const Weight& weight = linear_weight(one.model().layers()[1], which);
      const std::vector<double> base = dense(backend, weight);
      std::vector<double> want = base;
      const auto in = static_cast<std::size_t>(weight.in);
      const DoraMix::Layer* layer = mix.find(1, which);
      QVERIFY(layer);
      std::vector<double> got = base;
      for (std::size_t i = 0; i < adapters.size(); ++i) {
        const LoraModule* module = adapters[i].adapter->branch(1, which).module;
        QCOMPARE(static_cast<bool>(layer->b[i]), module != nullptr);
        if (!module) continue;
        const auto a = values_of(backend, module->a), b = values_of(backend, module->b);
        const auto folded = values_of(backend, layer->b[i]);
        const std::vector<float> m = module->m ? values_of(backend, module->m) : std::vector<float>();
        for (std::size_t j = 0; j < static_cast<std::size_t>(weight.out); ++j) {
          std::vector<double> changed(base.begin() + static_cast<std::ptrdiff_t>(j * in),
                                      base.begin() + static_cast<std::ptrdiff_t>((j + 1) * in));
          for (std::size_t p = 0; p < static_cast<std::size_t>(module->rank); ++p) {
            const std::size_t at = j * static_cast<std::size_t>(module->rank) + p;
            for (std::size_t k = 0; k < in; ++k) {
              const double product = module->scale * static_cast<double>(a[p * in + k]);
              changed[k] += product * static_cast<double>(b[at]);
              got[j * in + k] += product * static_cast<double>(folded[at]);
            }
          }
          const double norm =
              std::sqrt(std::inner_product(changed.begin(), changed.end(), changed.begin(), 0.0));
          const double gain = m.empty() ? 1 : static_cast<double>(m[j]) / norm;
          for (std::size_t k = 0; k < in; ++k)
            want[j * in + k] += adapters[i].strength * (gain * changed[k] - base[j * in + k]);
        }
      }
      const std::vector<float> factor = values_of(backend, layer->factor);
      double worst = 0;
      for (std::size_t at = 0; at < got.size(); ++at)
        worst = std::max(worst, std::abs(got[at] * static_cast<double>(factor[at / in]) - want[at]));
      QVERIFY2(worst <= 1e-6, qPrintable(QString::number(worst)));
    }
  }

  void a_chat_gives_what_training_sees_and_follows_an_adapter_that_changes() {
    TrainingSetup run = setup(settings());
    Session session(run.model(), DType::f32, 64);
    const std::vector<TokenId> ids = {5, 9, 200, 31, 7};
    for (int round = 0; round < 2; ++round) {
      if (round > 0) unsettle(run);
      TokenRow row;
      row.ids = ids;
      row.targets.assign(ids.size(), -1);
      Transformer network = transformer(run);
      const std::vector<float> all = network.logits(make_batch({row}, {0}));
      session.set_adapters({{&run.adapter(), 1.0}});
      session.prefill(ids);
      const std::vector<float>& got = session.logits();
      for (std::size_t i = 0; i < got.size(); ++i)
        QVERIFY(std::abs(got[i] - all[all.size() - got.size() + i]) <= 1e-4f);
    }
  }

  void dropout_draws_the_same_in_kept_and_recomputed_layers_and_within_the_plan() {
    Settings dropped = settings();
    dropped.dropout = 0.3;
    std::vector<std::vector<float>> ends;
    for (const std::int64_t recomputed : {0, 1, 2}) {
      TrainingSetup run = setup(dropped, recomputed);
      for (int i = 0; i < 3; ++i) run.trainer().step();
      ends.push_back(run.parameters());
      QVERIFY(run.backend().budget().peak_bytes() <= run.plan().memory.total());
    }
    QVERIFY(ends[0] == ends[1] && ends[0] == ends[2]);
    TrainingSetup whole = setup(settings(), 0);
    for (int i = 0; i < 3; ++i) whole.trainer().step();
    QVERIFY(whole.parameters() != ends[0]);
  }

  void an_adapter_is_written_and_read_with_its_magnitudes() {
    TrainingSetup run = setup(settings());
    unsettle(run);
    const std::string saved = folder_.path().toStdString() + "/saved";
    run.adapter().save(run.backend(), saved, {});
    const LoraAdapter again = LoraAdapter::load(run.backend(), run.model().spec(), saved);
    QVERIFY(again.config().dora);
    QVERIFY(values_of(run.backend(), again.parameters()) == run.parameters());
  }
};

QTEST_GUILESS_MAIN(TestDoraTraining)
#include "test_dora_training.moc"

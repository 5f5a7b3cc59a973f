// SPDX-License-Identifier: Apache-2.0
// Memory of a CUDA run as the plan counts it, against the floor: the bytes that no scheme of this kind does
// without.
#include <QtTest>

#include "core/train/plan.h"
#include "core/train/prepare.h"

using namespace lorikeet;

class TestPlanMemory : public QObject {
  Q_OBJECT

  struct Model {
    const char* name;
    std::int64_t vocabulary, hidden, intermediate, layers, heads, kv_heads, head_dim;
    bool tied;
    double floor_gb, offloaded_floor_gb;  ///< full recomputation, T = 2 x 4096, rank 32 on all linear layers
  };
  static constexpr Model models[] = {
      {"TinyLlama-1.1B", 32000, 2048, 5632, 22, 32, 4, 64, false, 2.49, 1.82},
      {"Llama-2-7B", 32000, 4096, 11008, 32, 32, 32, 128, false, 8.36, 6.35},
      {"SmolLM2-135M", 49152, 576, 1536, 30, 9, 3, 64, true, 0.78, 0.51},
  };
  static constexpr std::int64_t length = 4096;

  static ModelSpec spec_of(const Model& model) {
    ModelSpec spec;
    spec.vocab_size = model.vocabulary;
    spec.hidden_size = model.hidden;
    spec.intermediate_size = model.intermediate;
    spec.layers = model.layers;
    spec.heads = model.heads;
    spec.kv_heads = model.kv_heads;
    spec.head_dim = model.head_dim;
    spec.tied_head = model.tied;
    spec.context = length;
    spec.rope.rotary_dim = model.head_dim;
    return spec;
  }
  static DataShape full_batches() {
    DataShape shape;
    shape.rows = 100;
    shape.tokens = 100 * length;
    shape.longest_row = length;
    shape.longest_rows_sum = 2 * length;
    shape.micro_batches_per_epoch = 50;
    return shape;
  }
  /// The plan with every layer recomputed, as it comes out where memory is just enough for that.
  static Plan tightest(const ModelSpec& spec, Settings settings) {
    settings.max_length = length;
    Plan plan = make_plan(spec, full_batches(), settings, {1, 2, true});
    return make_plan(spec, full_batches(), settings, {plan.memory.total(), 2, true});
  }

 private slots:
  void M11_the_ways_out_of_too_little_memory_fit_when_taken_data() {
    QTest::addColumn<bool>("cuda");
    QTest::addColumn<double>("share");  ///< of what the run takes at least, that is there
    QTest::addColumn<double>("cpu_gb");
    QTest::addColumn<QStringList>("ways");
    QTest::addColumn<QString>("end");
    QTest::newRow("a GPU with almost enough")
        << true << 0.95 << 0.0
        << QStringList{"--batch-size 1 --accumulation 8", "--offload true", "--max-length"} << "";
    QTest::newRow("and a processor that has enough")
        << true << 0.95 << 64.0 << QStringList{"--batch-size 1"} << ", or use --device cpu";
    QTest::newRow("and a processor that has not")
        << true << 0.95 << 1.5 << QStringList{"--batch-size 1"} << "";
    QTest::newRow("a processor alone") << false << 0.95 << 0.0 << QStringList{"--batch-size 1"} << "";
    QTest::newRow("a GPU that is far too small")
        << true << 0.05 << 64.0 << QStringList{"Take a smaller model"} << ", or use --device cpu";
  }
  void M11_the_ways_out_of_too_little_memory_fit_when_taken() {
    QFETCH(bool, cuda);
    QFETCH(double, share);
    QFETCH(double, cpu_gb);
    QFETCH(QStringList, ways);
    QFETCH(QString, end);
    const ModelSpec spec = spec_of(models[0]);
    Settings settings;
    settings.max_length = length;
    settings.batch_size = 2;
    settings.accumulation = 4;
    settings.packing = false;
    const std::uint64_t least = make_plan(spec, full_batches(), settings, {1, 2, cuda}).memory.total();
    const PlanDevice device{static_cast<std::uint64_t>(static_cast<double>(least) * share), 2, cuda,
                            static_cast<std::uint64_t>(cpu_gb * 1e9), 2};
    const Plan plan = make_plan(spec, full_batches(), settings, device);
    QVERIFY(!plan.fits);
    const QString text = QString::fromStdString(plan.ways_out);
    for (const QString& way : ways) QVERIFY2(text.contains(way), qPrintable(text));
    QVERIFY2(end.isEmpty() ? !text.contains("--device cpu") : text.endsWith(end), qPrintable(text));
    QCOMPARE(text.contains("--offload"), cuda && share > 0.5);
    if (share < 0.5) return;
    settings.offload = text.contains("--offload");
    if (cuda) QVERIFY(make_plan(spec, full_batches(), settings, device).fits);
    settings.offload = false;
    settings.batch_size = 1;
    DataShape single = full_batches();
    single.longest_rows_sum = length;
    QVERIFY(make_plan(spec, single, settings, device).fits);
  }

  void a_larger_limit_than_the_card_has_is_told_and_not_planned_with() {
    Settings settings;
    settings.memory_limit_bytes = 24'000'000'000;
    const ModelSpec spec = spec_of(models[2]);
    QCOMPARE(resolved_memory_limit(settings, 8'000'000'000, true), std::uint64_t{8'000'000'000});
    QCOMPARE(resolved_memory_limit(settings, 8'000'000'000, false), settings.memory_limit_bytes);
    const Plan plan = make_plan(spec, full_batches(), settings, {8'000'000'000, 2, true});
    QCOMPARE(QString::fromStdString(plan.warnings.back()),
             QString("memory-limit asks for 24.00 GB, the GPU has 8.00 GB free: the plan keeps to that"));
    settings.memory_limit_bytes = 6'000'000'000;
    QCOMPARE(resolved_memory_limit(settings, 8'000'000'000, true), settings.memory_limit_bytes);
    const Plan fitting = make_plan(spec, full_batches(), settings, {6'000'000'000, 2, true});
    QCOMPARE(fitting.warnings.size() + 1, plan.warnings.size());
  }

  void a_recomputed_run_takes_at_most_a_quarter_more_than_the_floor_data() {
    QTest::addColumn<int>("model");
    QTest::addColumn<bool>("offload");
    for (int i = 0; i < 3; ++i) {
      QTest::addRow("%s", models[i].name) << i << false;
      QTest::addRow("%s, offloaded", models[i].name) << i << true;
    }
  }
  void a_recomputed_run_takes_at_most_a_quarter_more_than_the_floor() {
    QFETCH(int, model);
    QFETCH(bool, offload);
    const ModelSpec spec = spec_of(models[model]);
    Settings settings;
    settings.offload = offload;
    const Plan plan = tightest(spec, settings);
    QVERIFY(plan.fits);
    QCOMPARE(plan.recomputed_layers, spec.layers - 1);  // the last one's forward is still there
    QCOMPARE(plan.largest_batch, 2 * length);
    const double floor = offload ? models[model].offloaded_floor_gb : models[model].floor_gb;
    const double planned = static_cast<double>(plan.memory.total()) / 1e9;
    qInfo("%-16s %-10s floor %.2f GB, planned %.3f GB, ratio %.3f", models[model].name,
          offload ? "offloaded" : "", floor, planned, planned / floor);
    QVERIFY2(planned <= 1.25 * floor, qPrintable(QString("%1 GB").arg(planned)));
    // The activations of the plan are those of the layout itself.
    const ActivationShape shape = activation_shape(
        spec,
        [&] {
          Settings same = settings;
          same.max_length = length;
          return same;
        }(),
        {1, 2, true}, plan.largest_batch, plan.recomputed_layers);
    QCOMPARE(plan.memory.activations, place_activations(spec, shape).bytes);
  }

  void more_memory_keeps_more_layers() {
    const ModelSpec spec = spec_of(models[0]);
    Settings settings;
    settings.max_length = length;
    std::int64_t before = spec.layers;
    for (const double gigabytes : {2.8, 4.0, 6.0, 8.0, 12.0}) {
      const auto limit = static_cast<std::uint64_t>(gigabytes * 1e9);
      const Plan plan = make_plan(spec, full_batches(), settings, {limit, 2, true});
      QVERIFY(plan.fits && plan.memory.total() <= limit && plan.recomputed_layers <= before);
      before = plan.recomputed_layers;
    }
    QCOMPARE(before, std::int64_t{0});
  }

  void offload_counts_the_memory_of_the_host() {
    const ModelSpec spec = spec_of(models[0]);
    Settings settings;
    QCOMPARE(tightest(spec, settings).host_bytes, std::uint64_t{0});
    settings.offload = true;
    const Plan plan = tightest(spec, settings);
    const std::uint64_t inputs = 22ull * 2 * length * 2048 * 2;  // of every layer, in bf16
    QCOMPARE(plan.host_bytes, inputs);
    settings.max_length = length;
    const PlanDevice device{plan.memory.total(), 2, true, inputs};
    QVERIFY(make_plan(spec, full_batches(), settings, device).fits);
    const Plan none =
        make_plan(spec, full_batches(), settings, {device.memory_limit_bytes, 2, true, inputs - 1});
    QVERIFY(!none.fits && none.why_not.starts_with("offload needs 0.74 GB of the host's memory"));
  }

  void sample_prompts_take_memory_from_the_layers() {
    const ModelSpec spec = spec_of(models[0]);
    Settings settings;
    const Plan without = tightest(spec, settings);
    settings.sample_prompts = {"Who are you?"};
    const Plan with = tightest(spec, settings);
    QCOMPARE(without.memory.samples, std::uint64_t{0});
    QVERIFY(with.memory.samples > 2ull * 22 * 1024 * 256 * 2);  // the caches alone
    QCOMPARE(with.memory.total(), without.memory.total() + with.memory.samples);
  }

  void nothing_in_the_arena_overlaps_what_lives_at_the_same_time() {
    Model tiny{"tiny", 260, 40, 72, 3, 5, 1, 8, true, 0, 0};
    ActivationShape shape;
    shape.device = cuda_layout;
    shape.tokens = shape.most_tokens = 64;
    shape.compute = DType::bf16;
    shape.ranks.fill(4);
    shape.keep = {false, true, false};
    const ModelSpec spec = spec_of(tiny);
    for (const bool offload : {false, true}) {
      shape.offload = offload;
      const ActivationPlaces p = place_activations(spec, shape);
      std::vector<ArenaPlace> places = {p.ids,        p.positions, p.labels,     p.targets,   p.cu_seqlens,
                                        p.norm,       p.inner,     p.dx,         p.dnorm,     p.dinner,
                                        p.dattention, p.dq,        p.down_xa[0], p.down_xa[2]};
      for (const LayerPlaces& layer : {p.kept[1], p.scratch}) {
        for (const ArenaPlace& place : {layer.q, layer.attention, layer.middle, layer.gate, layer.lse,
                                        layer.rstd[attention_norm], layer.rstd[mlp_norm], layer.xa[q_proj],
                                        layer.xa[o_proj], layer.xa[gate_proj], layer.xa[down_proj]}) {
          places.push_back(place);
        }
      }
      places.push_back(p.inputs[0]);
      places.push_back(p.inputs[1]);
      if (!offload) places.push_back(p.inputs[2]);
      std::sort(places.begin(), places.end(),
                [](const ArenaPlace& a, const ArenaPlace& b) { return a.offset < b.offset; });
      for (std::size_t i = 0; i < places.size(); ++i) {
        const std::uint64_t end =
            places[i].offset +
            static_cast<std::uint64_t>(places[i].rows * places[i].stride) * size_of(places[i].dtype);
        QVERIFY2(end <= (i + 1 < places.size() ? places[i + 1].offset : p.bytes),
                 qPrintable(QString::number(i)));
      }
      QCOMPARE(p.inputs[3].offset, p.dx.offset);
      if (offload) QCOMPARE(p.inputs[2].offset, p.inputs[0].offset);
    }
  }
};

QTEST_GUILESS_MAIN(TestPlanMemory)
#include "test_plan_memory.moc"

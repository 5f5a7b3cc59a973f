// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "core/model/adapter_start.h"
#include "core/model/compute_choice.h"
#include "core/model/dora.h"
#include "core/model/lora_adapter.h"
#include "core/model/truncated_svd.h"
#include "core/model/weight_source.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestTruncatedSvd : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  static Weight matrix_of(Backend& backend, std::int64_t out, std::int64_t in,
                          const std::vector<double>& values) {
    return make_weight(
        backend, WeightFormat::f32, out, in,
        [&](std::int64_t first, std::span<float> to) {
          for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<float>(values[static_cast<std::size_t>(first) + i]);
        },
        "matrix");
  }
  /// Normal values, as quantisation leaves them, with a few directions that are stronger.
  static std::vector<double> noise(std::int64_t out, std::int64_t in, double strong) {
    RandomStream random({1, 0, 0, 0, RandomUse::test});
    std::vector<double> values(static_cast<std::size_t>(out * in)), u(static_cast<std::size_t>(out)),
        v(static_cast<std::size_t>(in));
    for (double& value : values) value = random.next_normal();
    for (int direction = 0; direction < 3; ++direction) {
      for (double& value : u) value = random.next_normal();
      for (double& value : v) value = random.next_normal();
      for (std::int64_t i = 0; i < out * in; ++i)
        values[static_cast<std::size_t>(i)] +=
            strong * u[static_cast<std::size_t>(i / in)] * v[static_cast<std::size_t>(i % in)];
    }
    return values;
  }
  /// Sum of the squares behind the first `rank` singular values, by the eigenvalues of the whole M M^T.
  static double best_residual(const std::vector<double>& m, std::int64_t out, std::int64_t in,
                              std::int64_t rank) {
    std::vector<double> gram(static_cast<std::size_t>(out * out)), values, vectors;
    for (std::int64_t i = 0; i < out; ++i) {
      for (std::int64_t j = 0; j < out; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < in; ++k)
          sum += m[static_cast<std::size_t>(i * in + k)] * m[static_cast<std::size_t>(j * in + k)];
        gram[static_cast<std::size_t>(i * out + j)] = sum;
      }
    }
    symmetric_eigen(gram, out, values, vectors);
    double rest = 0;
    for (std::size_t i = static_cast<std::size_t>(rank); i < values.size(); ++i)
      rest += std::max(0.0, values[i]);
    return std::sqrt(rest);
  }
  static double true_residual(const std::vector<double>& m, std::int64_t out, std::int64_t in,
                              const TruncatedSvd& svd) {
    const auto rank = static_cast<std::int64_t>(svd.singular.size());
    double sum = 0;
    for (std::int64_t i = 0; i < out; ++i) {
      for (std::int64_t k = 0; k < in; ++k) {
        double left = m[static_cast<std::size_t>(i * in + k)];
        for (std::int64_t r = 0; r < rank; ++r)
          left -= svd.b[static_cast<std::size_t>(i * rank + r)] * svd.a[static_cast<std::size_t>(r * in + k)];
        sum += left * left;
      }
    }
    return std::sqrt(sum);
  }

 private slots:
  void eigenvectors_are_those_of_the_matrix() {
    std::vector<double> values, vectors;
    symmetric_eigen({4, 1, 0, 1, 4, 0, 0, 0, -2}, 3, values, vectors);
    QVERIFY(std::abs(values[0] - 5) < 1e-12 && std::abs(values[1] - 3) < 1e-12 &&
            std::abs(values[2] + 2) < 1e-12);
    QVERIFY(std::abs(std::abs(vectors[0]) - std::sqrt(0.5)) < 1e-12);
  }

  void the_residual_is_within_a_hundredth_of_the_best_data() {
    QTest::addColumn<int>("out");
    QTest::addColumn<int>("in");
    QTest::addColumn<int>("rank");
    QTest::addColumn<double>("strong");
    QTest::newRow("wide") << 96 << 300 << 8 << 0.0;
    QTest::newRow("tall") << 200 << 70 << 8 << 0.1;
    QTest::newRow("rank one") << 120 << 120 << 1 << 0.3;
    QTest::newRow("high rank") << 150 << 160 << 64 << 0.0;
    QTest::newRow("all of it") << 12 << 40 << 12 << 0.0;
  }
  void the_residual_is_within_a_hundredth_of_the_best() {
    QFETCH(int, out);
    QFETCH(int, in);
    QFETCH(int, rank);
    QFETCH(double, strong);
    const auto backend = make_backend({.device = "cpu", .threads = 2});
    const std::vector<double> m = noise(out, in, strong);
    const TruncatedSvd svd = truncated_svd(*backend, matrix_of(*backend, out, in, m), rank, 7);
    const double best = best_residual(m, out, in, rank), got = true_residual(m, out, in, svd);
    qInfo("best %.5f, got %.5f, said %.5f", best / svd.norm, got / svd.norm, svd.residual / svd.norm);
    QVERIFY(got <= 1.01 * best + 1e-5 * svd.norm);
    QVERIFY(std::abs(got - svd.residual) <= 1e-3 * svd.norm);
    const TruncatedSvd again = truncated_svd(*backend, matrix_of(*backend, out, in, m), rank, 7);
    QVERIFY(again.a == svd.a && again.b == svd.b);
  }

  void nothing_lost_gives_nothing() {
    const auto backend = make_backend({.device = "cpu", .threads = 1});
    const TruncatedSvd svd =
        truncated_svd(*backend, matrix_of(*backend, 30, 40, std::vector<double>(1200, 0.0)), 4, 7);
    for (const double value : svd.b) QCOMPARE(value, 0.0);
    for (const double value : svd.a) QVERIFY(std::isfinite(value));
  }

  void a_started_adapter_brings_the_quantised_base_nearer_to_the_source_and_can_be_stopped() {
    const std::string path = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    write_tiny_folder(path, tiny);
    const ModelSpec spec = read_model_spec(path);
    const auto source = open_weight_source(path);
    Settings settings;
    settings.device = "cpu";
    settings.init = "loftq";
    settings.rank = 8;
    settings.alpha = 8;
    for (const char* quantization : {"nf4", "nf4-single", "fp4", "int8"}) {
      settings.quantization = quantization;
      const auto backend = make_backend_for(settings);
      BaseModel model = load_base_model(*backend, path, spec, settings, DType::f32);
      LoraAdapter adapter = LoraAdapter::create(*backend, spec, settings);
      std::int64_t said = 0;
      start_adapter(model, adapter, *source, settings, {},
                    [&](std::int64_t done, std::int64_t) { said = done; });
      QCOMPARE(said, static_cast<std::int64_t>(adapter.modules().size()));
      for (const LoraModule& module : adapter.modules()) {
        const Weight& kept =
            linear_weight(model.layers()[static_cast<std::size_t>(module.layer)], module.rows.front().role);
        for (const TinyTensor& tensor : tiny_weights(tiny)) {
          if (tensor.name != "model.layers." + std::to_string(module.layer) + "." + module.name + ".weight")
            continue;
          const Tensor rows = backend->allocate({kept.out, kept.in}, DType::f32);
          backend->dequantize_rows(kept, 0, rows);
          double before = 0, after = 0;
          for (std::int64_t i = 0; i < kept.out * kept.in; ++i) {
            const double lost = static_cast<double>(tensor.values[static_cast<std::size_t>(i)]) -
                                static_cast<double>(rows.view().as<float>()[i]);
            double left = lost;
            for (std::int64_t r = 0; r < 8; ++r)
              left -= static_cast<double>(module.b.as<float>()[i / kept.in * 8 + r]) *
                      static_cast<double>(module.a.as<float>()[r * kept.in + i % kept.in]);
            before += lost * lost;
            after += left * left;
          }
          QVERIFY2(after < 0.75 * before, module.name.c_str());
        }
      }
      LoraAdapter stopped = LoraAdapter::create(*backend, spec, settings);
      int products = 0;
      const auto stop = [&] {
        if (++products > 3) throw Error(ErrorCode::cancelled, "stopped");
      };
      QVERIFY_EXCEPTION_THROWN(start_adapter(model, stopped, *source, settings, stop), Error);
    }
  }

  void bases_it_cannot_start_from_are_refused_by_name() {
    const std::string path = folder_.path().toStdString() + "/again";
    write_tiny_folder(path, {});
    Settings settings;
    settings.init = "loftq";
    settings.quantization = "none";
    const auto source = open_weight_source(path);
    QVERIFY_EXCEPTION_THROWN(require_loftq(*source, read_model_spec(path), settings), Error);
    settings.quantization = "nf4";
    require_loftq(*source, read_model_spec(path), settings);
    AdapterNotes notes;
    notes.quantization = "nf4";
    require_fitting_base(notes, "none", path);
    notes.init = "loftq";
    require_fitting_base(notes, "nf4", path);
    QVERIFY_EXCEPTION_THROWN(require_fitting_base(notes, "none", path), Error);
  }
};

QTEST_GUILESS_MAIN(TestTruncatedSvd)
#include "test_truncated_svd.moc"

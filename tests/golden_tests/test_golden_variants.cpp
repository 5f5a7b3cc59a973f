// SPDX-License-Identifier: Apache-2.0
// Ten steps of rsLoRA, DoRA, DoRA on NF4 and a LoftQ start against PyTorch and PEFT (tests/golden/README.md).
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/infer/session.h"
#include "core/model/adapter_start.h"
#include "core/model/dora.h"
#include "core/model/weight_source.h"
#include "core/publish/export.h"
#include "kernels/base/error.h"
#include "tests/golden_tests/golden_training.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double tolerance = 1e-4;
double relative(double got, double expected) {
  return std::fabs(got / expected - 1);
}

}  // namespace

class TestGoldenVariants : public QObject {
  Q_OBJECT

 private:
  static void add_cases() {
    QTest::addColumn<QString>("name");
    const auto run = golden::read_json("lora_variants/run.json");
    for (const auto& [name, facts] : run.at("cases").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  static std::string file_of(const QString& name, const std::string& file) {
    return "lora_variants/" + name.toStdString() + "/" + file;
  }
  static std::vector<std::int32_t> all_of(const std::vector<std::int32_t>& ids) {
    std::vector<std::int32_t> every(ids.size());
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int32_t>(i);
    return every;
  }

 private slots:
  void ten_steps_follow_pytorch_data() { add_cases(); }
  void ten_steps_follow_pytorch() {
    QFETCH(QString, name);
    const auto facts = golden::read_json("lora_variants/run.json").at("cases").at(name.toStdString());
    // Kept and recomputed activations, one and two threads.
    for (const auto& [recomputed, threads] : {std::pair{0, 1}, {1, 2}}) {
      golden::Training t(name.toStdString(), recomputed, threads);
      double worst_loss = 0, worst_norm = 0, worst_gradient = 0;
      for (const auto& expected : facts.at("curve")) {
        if (recomputed > 0 && expected.at("step") == 6)
          t.resume();  // in the middle of the curve of a run that was not
        const StepReport got = t.trainer->step();
        worst_loss = std::max(worst_loss, relative(got.loss, expected.at("loss").get<double>()));
        worst_norm = std::max(worst_norm, relative(got.grad_norm, expected.at("grad_norm").get<double>()));
        if (got.step == 1 || got.step == 2 || got.step == 10) {
          const std::string file =
              file_of(name, "gradients_step_" + std::to_string(got.step) + ".safetensors");
          worst_gradient = std::max(worst_gradient, t.compare(t.trainer->gradients(), file, tolerance));
        }
      }
      QVERIFY2(worst_loss <= 1e-5, qPrintable(QString::number(worst_loss)));
      QVERIFY2(worst_norm <= tolerance, qPrintable(QString::number(worst_norm)));
      const double adapter = t.compare(t.adapter.parameters(),
                                       file_of(name, "adapter_final/adapter_model.safetensors"), tolerance);
      qInfo("loss %.1e, gradient norm %.1e, gradients %.1e, final adapter %.1e", worst_loss, worst_norm,
            worst_gradient, adapter);
    }
  }

  void adapters_of_peft_give_its_logits_data() { add_cases(); }
  void adapters_of_peft_give_its_logits() {
    QFETCH(QString, name);
    golden::Training t(name.toStdString(), 0, 1);
    const auto tensors = golden::read_tensors(file_of(name, "logits.safetensors"));
    const auto ids = tensors.at("ids").integers();
    for (const std::string when : {"start", "final"}) {
      const LoraAdapter adapter = LoraAdapter::load(t.model.backend(), t.model.spec(),
                                                    golden::path(file_of(name, "adapter_" + when)));
      const auto expected = tensors.at("logits_" + when).floats();
      const double off = golden::largest_difference(t.model.logits(&adapter, ids, all_of(ids)), expected);
      QVERIFY2(off <= tolerance, qPrintable(QString::number(off)));
      // The chat goes another way: gains folded into B and one scaling of the columns.
      Session session(t.model.base(), DType::f32, 64);
      session.set_adapters({{&adapter, 1}});
      session.prefill(ids);
      const std::vector<float> last(expected.end() - t.model.spec().vocab_size, expected.end());
      const double chat_off = golden::largest_difference(session.logits(), last);
      QVERIFY2(chat_off <= tolerance, qPrintable(QString::number(chat_off)));
      qInfo("%s: %.1e, chat %.1e", when.c_str(), off, chat_off);
    }
  }

  /// A LoftQ adapter goes into its base as that was quantised. Others go into the 16-bit one, so DoRA's
  /// logits on NF4 have no merged model.
  void a_merged_model_gives_the_logits_of_the_adapter_beside_its_base_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"rslora", "dora", "loftq"}) QTest::newRow(name) << QString(name);
  }
  void a_merged_model_gives_the_logits_of_the_adapter_beside_its_base() {
    QFETCH(QString, name);
    QTemporaryDir folder;
    const std::string adapter = folder.filePath("adapter").toStdString();
    golden::Training t(name.toStdString(), 0, 1);
    AdapterNotes notes;
    notes.quantization = "nf4";
    if (name == "loftq") notes.init = "loftq";
    LoraAdapter::load(t.model.backend(), t.model.spec(), golden::path(file_of(name, "adapter_final")))
        .save(t.model.backend(), adapter, notes);
    ExportRequest request;
    request.model_path = golden::path("tiny_llama");
    request.adapter_path = adapter;
    request.kind = "merged";
    request.type = "f32";
    request.out = folder.filePath("merged").toStdString();
    run_export(request);
    golden::TinyModel merged(request.out);
    const auto tensors = golden::read_tensors(file_of(name, "logits.safetensors"));
    const auto ids = tensors.at("ids").integers();
    const double off = golden::largest_difference(merged.logits(nullptr, ids, all_of(ids)),
                                                  tensors.at("logits_final").floats());
    QVERIFY2(off <= tolerance, qPrintable(QString::number(off)));
  }

  /// B A leaves at most a hundredth more of what quantisation lost than the whole decomposition of PyTorch
  /// does.
  void a_start_by_loftq_is_as_good_as_that_of_pytorch() {
    golden::TinyModel model("tiny_llama", 1, WeightFormat::nf4);
    Settings settings;
    settings.init = "loftq";
    settings.rank = 4;
    settings.alpha = 4;
    LoraAdapter adapter = LoraAdapter::create(model.backend(), model.spec(), settings);
    const auto source = open_weight_source(golden::path("tiny_llama"));
    start_adapter(model.base(), adapter, *source, settings);
    const auto best = golden::read_json("lora_variants/run.json").at("cases").at("loftq").at("best_residual");
    const auto plain = golden::read_tensors("tiny_llama/model.safetensors");
    double worst = 0;
    for (const LoraModule& module : adapter.modules()) {
      const Weight& kept = linear_weight(model.base().layers()[static_cast<std::size_t>(module.layer)],
                                         module.rows.front().role);
      const std::string name = "model.layers." + std::to_string(module.layer) + "." + module.name;
      const std::vector<float> whole = plain.at(name + ".weight").floats();
      const Tensor rows = model.backend().allocate({kept.out, kept.in}, DType::f32);
      model.backend().dequantize_rows(kept, 0, rows);
      double lost = 0, left = 0;
      for (std::int64_t i = 0; i < kept.out * kept.in; ++i) {
        double value = static_cast<double>(whole[static_cast<std::size_t>(i)] - rows.view().as<float>()[i]);
        lost += value * value;
        for (std::int64_t r = 0; r < 4; ++r)
          value -= static_cast<double>(module.b.as<float>()[i / kept.in * 4 + r]) *
                   static_cast<double>(module.a.as<float>()[r * kept.in + i % kept.in]);
        left += value * value;
      }
      const double ratio = std::sqrt(left / lost) / best.at(name).get<double>();
      QVERIFY2(ratio <= 1.01, qPrintable(QString("%1: %2").arg(QString::fromStdString(name)).arg(ratio)));
      worst = std::max(worst, ratio);
    }
    qInfo("residual over the best, worst of %zu: %.5f", adapter.modules().size(), worst);
  }

  void magnitudes_in_a_lora_gguf_are_refused_by_name() {
    QTemporaryDir folder;
    ExportRequest request;
    request.model_path = golden::path("tiny_llama");
    request.adapter_path = golden::path("lora_variants/dora/adapter_final");
    request.kind = "lora-gguf";
    request.out = folder.filePath("out").toStdString();
    try {
      plan_export(request);
      QFAIL("it was laid out");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains("DoRA"), error.what());
    }
  }

  void magnitudes_start_as_peft_starts_them() {
    for (const QString name : {"dora", "dora_nf4"}) {
      golden::Training t(name.toStdString(), 0, 1);
      const auto tensors = golden::read_tensors(file_of(name, "adapter_start/adapter_model.safetensors"));
      t.model.backend().fill_zero(t.adapter.modules().front().m);
      start_magnitudes(t.model.base(), t.adapter);
      for (const LoraModule& module : t.adapter.modules()) {
        const auto got =
            golden::module_values(t.model.backend(), t.adapter, t.adapter.parameters(), module, 'M');
        QVERIFY(golden::relative_difference(got, tensors.at(golden::peft_name(module, 'M')).floats()) <=
                1e-6);
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestGoldenVariants)
#include "test_golden_variants.moc"

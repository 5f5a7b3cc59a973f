// SPDX-License-Identifier: Apache-2.0
// Every family of models against transformers and PEFT (tests/golden/make_families.py): logits, adapters,
// gradients of adapters on all linear layers, chat, merged exports.
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/infer/session.h"
#include "core/publish/export.h"
#include "tests/golden_tests/tiny_model.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double logit_tolerance = 1e-4;
constexpr int sequences = 3;

/// A family's folder, its golden values and its adapter. Tables of positions reach as far as one of the
/// sequences: some kinds of RoPE depend on it.
struct Family {
  explicit Family(const std::string& name_, int sequence, int threads = 1)
      : name(name_),
        values(golden::read_tensors("families/" + name_ + "/golden.safetensors")),
        model("families/" + name_, threads, WeightFormat::f32,
              static_cast<std::int64_t>(ids(sequence).size())),
        adapter(LoraAdapter::load(model.backend(), model.spec(),
                                  golden::path("families/" + name_ + "/adapter"))) {}

  std::vector<TokenId> ids(int sequence) const {
    return values.at("ids_" + std::to_string(sequence)).integers();
  }
  std::vector<std::int32_t> positions(int sequence) const {
    return values.at("positions_" + std::to_string(sequence)).integers();
  }
  std::vector<float> wanted(const std::string& what, int sequence) const {
    return values.at(what + "_" + std::to_string(sequence)).floats();
  }

  std::string name;
  std::map<std::string, golden::GoldenTensor> values;
  golden::TinyModel model;
  LoraAdapter adapter;
};

}  // namespace

class TestGoldenFamilies : public QObject {
  Q_OBJECT

 private:
  static void add_families() {
    QTest::addColumn<QString>("name");
    const auto meta = golden::read_json("families/meta.json");
    for (const auto& [name, facts] : meta.at("models").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  static void near(const std::vector<float>& got, const std::vector<float>& want, const char* what) {
    const double off = golden::largest_difference(got, want);
    QVERIFY2(off <= logit_tolerance, qPrintable(QString("%1: %2").arg(what).arg(off)));
    qInfo("%s %.1e", what, off);
  }

 private slots:
  void logits_are_those_of_transformers_data() { add_families(); }
  void logits_are_those_of_transformers() {
    QFETCH(QString, name);
    for (int i = 0; i < sequences; ++i) {
      Family family(name.toStdString(), i);
      near(family.model.logits(nullptr, family.ids(i), family.positions(i)), family.wanted("logits", i),
           "base");
      near(family.model.logits(&family.adapter, family.ids(i), family.positions(i)),
           family.wanted("adapted", i), "adapted");
    }
  }

  void chat_gives_the_same_logits_data() { add_families(); }
  void chat_gives_the_same_logits() {
    QFETCH(QString, name);
    for (int i = 0; i < sequences; ++i) {
      Family family(name.toStdString(), i, 2);
      const std::vector<TokenId> ids = family.ids(i);
      const std::vector<std::int32_t> positions = family.positions(i);
      Session session(family.model.base(), DType::f32, static_cast<std::int64_t>(ids.size()));
      for (const bool adapted : {false, true}) {
        if (adapted) session.set_adapters({{&family.adapter, 1.0}});
        const std::vector<float> want = family.wanted(adapted ? "adapted" : "logits", i);
        const auto width = static_cast<std::ptrdiff_t>(family.model.spec().vocab_size);
        for (std::size_t p = 0; p < positions.size(); ++p) {
          // The first by itself, the others as a prompt that goes on; the last by single tokens.
          const auto end = ids.begin() + positions[p] + 1;
          if (p + 1 == positions.size() && p > 0) {
            for (auto at = ids.begin() + positions[p - 1] + 1; at != end; ++at) session.decode(*at);
          } else {
            session.prefill({ids.begin(), end});
          }
          const auto from = want.begin() + static_cast<std::ptrdiff_t>(p) * width;
          near(session.logits(), {from, from + width}, adapted ? "adapted" : "base");
        }
      }
    }
  }

  void a_gguf_file_by_llama_cpp_is_the_same_model_data() {
    QTest::addColumn<QString>("name");
    const auto meta = golden::read_json("families/meta.json");
    for (const auto& [name, facts] : meta.at("models").items()) {
      if (std::filesystem::exists(golden::path("families/" + name + "/model.gguf")))
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
  }
  void a_gguf_file_by_llama_cpp_is_the_same_model() {
    QFETCH(QString, name);
    for (int i = 0; i < sequences; ++i) {
      Family family(name.toStdString(), i);
      golden::TinyModel gguf(golden::path("families/" + family.name + "/model.gguf"), 1, WeightFormat::f32,
                             static_cast<std::int64_t>(family.ids(i).size()));
      near(gguf.logits(nullptr, family.ids(i), family.positions(i)), family.wanted("logits", i), "base");
    }
  }

  void gradients_are_those_of_peft_data() { add_families(); }
  void gradients_are_those_of_peft() {
    QFETCH(QString, name);
    for (const bool keep : {true, false}) {
      Family family(name.toStdString(), 1, keep ? 1 : 2);
      Backend& backend = family.model.backend();
      TokenRow row = golden::plain_row(family.values.at("grad_ids").integers());
      for (std::size_t t = 0; t + 1 < row.ids.size(); ++t) row.targets[t] = row.ids[t + 1];
      row.trained_tokens = static_cast<std::int64_t>(row.ids.size()) - 1;
      const TokenBatch batch = make_batch({row}, {0});
      Transformer transformer =
          family.model.transformer(&family.adapter, static_cast<std::int64_t>(row.ids.size()), keep);
      Tensor gradients = backend.allocate({family.adapter.parameter_count()}, DType::f32);
      backend.fill_zero(gradients);
      const BatchLoss loss = transformer.forward_backward(batch, 1, gradients);
      const double want = static_cast<double>(family.values.at("loss").floats()[0]);
      QVERIFY2(std::fabs(loss.loss_sum - want) <= 1e-5 * want,
               qPrintable(QString::number(loss.loss_sum - want)));
      double worst = 0;
      for (const LoraModule& module : family.adapter.modules()) {
        for (const char part : golden::parts_of(module)) {
          const std::string tensor = golden::peft_name(module, part);
          const double off = golden::relative_difference(
              golden::module_values(backend, family.adapter, gradients, module, part),
              family.values.at(tensor).floats());
          QVERIFY2(off <= 1e-3, qPrintable(QString("%1: %2").arg(QString::fromStdString(tensor)).arg(off)));
          worst = std::max(worst, off);
        }
      }
      qInfo("worst gradient %.1e", worst);
    }
  }

  void a_merged_model_is_the_base_with_the_adapter_data() { add_families(); }
  void a_merged_model_is_the_base_with_the_adapter() {
    QFETCH(QString, name);
    Family family(name.toStdString(), sequences - 1);
    QTemporaryDir folder;
    ExportRequest request;
    request.model_path = golden::path("families/" + family.name);
    request.adapter_path = request.model_path + "/adapter";
    request.kind = "merged";
    request.type = "f32";
    request.out = folder.filePath("merged").toStdString();
    run_export(request);
    golden::TinyModel merged(request.out, 1, WeightFormat::f32, 112);
    for (int i = 0; i < sequences; ++i) {
      const std::vector<float> beside =
          family.model.logits(&family.adapter, family.ids(i), family.positions(i));
      const std::vector<float> got = merged.logits(nullptr, family.ids(i), family.positions(i));
      const double off = golden::largest_difference(got, beside);
      QVERIFY2(
          off <= 1e-5 * std::max(1.0, golden::largest_difference(beside, std::vector<float>(beside.size()))),
          qPrintable(QString::number(off)));
    }
  }
};

QTEST_GUILESS_MAIN(TestGoldenFamilies)
#include "test_golden_families.moc"

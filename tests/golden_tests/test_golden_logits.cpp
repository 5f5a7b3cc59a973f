// SPDX-License-Identifier: Apache-2.0
// Logits of two tiny Llama models against transformers, and of one in NF4 against bitsandbytes
// (tests/golden/README.md): f32, at most 1e-4 apart.
#include <QtTest>
#include <algorithm>
#include <optional>

#include "tests/golden_tests/tiny_model.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double tolerance = 1e-4;
constexpr int sequences = 6;

std::string numbered(const char* name, int i) {
  return std::string(name) + "_" + std::to_string(i);
}

}  // namespace

class TestGoldenLogits : public QObject {
  Q_OBJECT

 private slots:
  void logits_are_those_of_transformers_data() {
    QTest::addColumn<QString>("folder");
    QTest::addColumn<int>("threads");
    QTest::newRow("GQA, tied head, F32, one thread") << "tiny_llama" << 1;
    QTest::newRow("GQA, tied head, F32, two threads") << "tiny_llama" << 2;
    QTest::newRow("llama3 RoPE, head_dim of its own, BF16 in shards") << "tiny_llama_llama3" << 2;
  }

  void logits_are_those_of_transformers() {
    QFETCH(QString, folder);
    QFETCH(int, threads);
    golden::TinyModel model(folder.toStdString(), threads);
    const auto tensors = golden::read_tensors(folder.toStdString() + "/golden/logits.safetensors");
    double worst = 0;
    for (int i = 0; i < sequences; ++i) {
      const auto got = model.logits(nullptr, tensors.at(numbered("ids", i)).integers(),
                                    tensors.at(numbered("positions", i)).integers());
      const double off = golden::largest_difference(got, tensors.at(numbered("logits", i)).floats());
      QVERIFY2(off <= tolerance, qPrintable(QString("sequence %1: %2").arg(i).arg(off)));
      worst = std::max(worst, off);
    }
    qInfo("%.1e", worst);
  }

  void packed_sequences_do_not_see_each_other() {
    golden::TinyModel model("tiny_llama");
    const auto tensors = golden::read_tensors("tiny_llama/golden/logits.safetensors");
    std::vector<TokenRow> rows;
    std::vector<std::int64_t> order;
    std::int64_t tokens = 0;
    for (int i = sequences - 1; i >= 0; --i) {
      rows.push_back(golden::plain_row(tensors.at(numbered("ids", i)).integers()));
      order.push_back(static_cast<std::int64_t>(order.size()));
      tokens += static_cast<std::int64_t>(rows.back().ids.size());
    }
    Transformer transformer = model.transformer(nullptr, tokens, false);
    const std::vector<float> all = transformer.logits(make_batch(rows, order));
    std::int32_t first = 0;
    for (int i = sequences - 1; i >= 0; --i) {
      auto positions = tensors.at(numbered("positions", i)).integers();
      for (std::int32_t& position : positions) position += first;
      const auto got = golden::picked_rows(all, model.spec().vocab_size, positions);
      QVERIFY(golden::largest_difference(got, tensors.at(numbered("logits", i)).floats()) <= tolerance);
      first += static_cast<std::int32_t>(tensors.at(numbered("ids", i)).shape[0]);
    }
  }

  void a_quantised_base_gives_the_logits_of_bitsandbytes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("double_quantised");
    QTest::addColumn<bool>("with_adapter");
    QTest::newRow("NF4") << "logits_nf4" << true << false;
    QTest::newRow("NF4 with f32 absmax") << "logits_nf4_single" << false << false;
    QTest::newRow("NF4 under an adapter") << "logits_nf4_adapter" << true << true;
    QTest::newRow("NF4 with f32 absmax under an adapter") << "logits_nf4_single_adapter" << false << true;
  }

  void a_quantised_base_gives_the_logits_of_bitsandbytes() {
    QFETCH(QString, name);
    QFETCH(bool, double_quantised);
    QFETCH(bool, with_adapter);
    golden::TinyModel model("tiny_llama", 1, double_quantised ? WeightFormat::nf4 : WeightFormat::nf4_single);
    std::optional<LoraAdapter> adapter;
    if (with_adapter)
      adapter = LoraAdapter::load(model.backend(), model.spec(), golden::path("lora_10_steps/adapter_final"));
    const auto tensors = golden::read_tensors("nf4_llama/logits.safetensors");
    const auto got = model.logits(adapter ? &*adapter : nullptr, tensors.at("ids").integers(),
                                  tensors.at("positions").integers());
    const double off = golden::largest_difference(got, tensors.at(name.toStdString()).floats());
    QVERIFY2(off <= tolerance, qPrintable(QString::number(off)));
    qInfo("%.1e", off);
  }
};

QTEST_GUILESS_MAIN(TestGoldenLogits)
#include "test_golden_logits.moc"

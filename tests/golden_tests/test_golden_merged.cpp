// SPDX-License-Identifier: Apache-2.0
// Merged exports against the logits PEFT gives with the adapter beside the base (tests/golden/README.md).
#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "core/publish/export.h"
#include "tests/golden_tests/tiny_model.h"
#include "tests/support/golden.h"

using namespace lorikeet;

class TestGoldenMerged : public QObject {
  Q_OBJECT

 private slots:
  void a_merged_model_gives_the_logits_of_peft_data() {
    QTest::addColumn<QString>("name");
    const auto all = golden::read_json("peft_adapters/meta.json");
    for (const auto& [name, facts] : all.at("adapters").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }

  void a_merged_model_gives_the_logits_of_peft() {
    QFETCH(QString, name);
    QTemporaryDir folder;
    ExportRequest request;
    request.model_path = golden::path("tiny_llama");
    request.adapter_path = golden::path("peft_adapters/" + name.toStdString());
    request.kind = "merged";
    request.type = "f32";
    request.out = folder.filePath("merged").toStdString();
    run_export(request);
    golden::TinyModel merged(request.out);
    const auto tensors = golden::read_tensors("peft_adapters/logits.safetensors");
    const auto got = merged.logits(nullptr, tensors.at("ids").integers(), tensors.at("positions").integers());
    const double off = golden::largest_difference(got, tensors.at("logits_" + name.toStdString()).floats());
    QVERIFY2(off <= 1e-4, qPrintable(QString::number(off)));
  }
};

QTEST_GUILESS_MAIN(TestGoldenMerged)
#include "test_golden_merged.moc"

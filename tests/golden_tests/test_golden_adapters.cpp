// SPDX-License-Identifier: Apache-2.0
// Adapters made by PEFT, and the same after writing them again, against PEFT's logits
// (tests/golden/README.md).
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden_tests/tiny_model.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double tolerance = 1e-4;

std::string folder_of(const QString& name) {
  return golden::path("peft_adapters/" + name.toStdString());
}

}  // namespace

class TestGoldenAdapters : public QObject {
  Q_OBJECT

 private:
  void compare(golden::TinyModel& model, const LoraAdapter* adapter, const std::string& name) {
    const auto tensors = golden::read_tensors("peft_adapters/logits.safetensors");
    const auto got = model.logits(adapter, tensors.at("ids").integers(), tensors.at("positions").integers());
    const double off = golden::largest_difference(got, tensors.at(name).floats());
    QVERIFY2(off <= tolerance, qPrintable(QString("%1: %2").arg(QString::fromStdString(name)).arg(off)));
    qInfo("%.1e", off);
  }

  static void add_adapters() {
    QTest::addColumn<QString>("name");
    const auto all = golden::read_json("peft_adapters/meta.json");
    for (const auto& [name, facts] : all.at("adapters").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }

 private slots:
  void no_adapter_gives_the_logits_of_the_base() {
    golden::TinyModel model("tiny_llama");
    compare(model, nullptr, "logits_without_adapter");
  }

  void scaling_follows_the_patterns_data() { add_adapters(); }
  void scaling_follows_the_patterns() {
    QFETCH(QString, name);
    golden::TinyModel model("tiny_llama");
    const LoraAdapter adapter = LoraAdapter::load(model.backend(), model.spec(), folder_of(name));
    const auto meta = golden::read_json("peft_adapters/meta.json");
    const auto& scaling = meta.at("adapters").at(name.toStdString()).at("scaling");
    QCOMPARE(adapter.modules().size(), scaling.size());
    for (const auto& [module_path, value] : scaling.items()) {
      const std::size_t dot = module_path.find('.', std::string("model.layers.").size());
      const auto layer = std::stoll(module_path.substr(std::string("model.layers.").size()));
      const LoraModule* module = adapter.find(layer, module_path.substr(dot + 1));
      QVERIFY2(module, module_path.c_str());
      const double off = std::fabs(module->scale - value.get<double>());
      QVERIFY2(off <= 1e-6 * value.get<double>(), module_path.c_str());
    }
  }

  void an_adapter_of_peft_gives_its_logits_data() { add_adapters(); }
  void an_adapter_of_peft_gives_its_logits() {
    QFETCH(QString, name);
    golden::TinyModel model("tiny_llama");
    const LoraAdapter adapter = LoraAdapter::load(model.backend(), model.spec(), folder_of(name));
    compare(model, &adapter, "logits_" + name.toStdString());
  }

  void an_adapter_written_again_gives_the_same_logits_data() { add_adapters(); }
  void an_adapter_written_again_gives_the_same_logits() {
    QFETCH(QString, name);
    golden::TinyModel model("tiny_llama");
    QTemporaryDir folder;
    const std::string copy = folder.filePath("adapter").toStdString();
    LoraAdapter::load(model.backend(), model.spec(), folder_of(name)).save(model.backend(), copy, {});
    const LoraAdapter adapter = LoraAdapter::load(model.backend(), model.spec(), copy);
    compare(model, &adapter, "logits_" + name.toStdString());
  }
};

QTEST_GUILESS_MAIN(TestGoldenAdapters)
#include "test_golden_adapters.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/base/files.h"
#include "tests/app/cli_support.h"
#include "tests/support/llama2c_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

/// A real trained model tells the story its makers published, letter for letter.
class TestPublishedText : public QObject {
  Q_OBJECT

 private slots:
  void stories260k_greedy_in_f32() {
    const std::string data = qEnvironmentVariable("LORIKEET_TEST_DATA").toStdString();
    if (data.empty()) QSKIP("LORIKEET_TEST_DATA is not set: stories260K is not there");
    const std::string source = data + "/weights/stories260K/";
    QTemporaryDir folder;
    const std::string model = folder.path().toStdString() + "/stories260K";
    convert_llama2c_model(source + "stories260K.bin", source + "tok512.bin", model);
    const Json published = read_json_file(source + "reference_generations.json");
    int checked = 0;
    for (const auto& example : published["cases"]) {
      if (example["temperature"].get<double>() != 0) continue;  // llama2.c draws with a generator of its own
      const std::string expected = example["expected"];
      const QStringList arguments = {"chat",
                                     "--model",
                                     QString::fromStdString(model),
                                     "--template",
                                     "none",
                                     "--prompt",
                                     QString::fromStdString(example["prompt"].get<std::string>()),
                                     "--greedy",
                                     "--max-new-tokens",
                                     QString::number(example["steps"].get<int>()),
                                     "--compute",
                                     "f32",
                                     "--quantization",
                                     "none"};
      const CliResult result = run_cli(arguments);
      QVERIFY2(result.code == 0, result.err.c_str());
      // llama2.c counts positions, the begin token among them, so its text may end a token earlier.
      QCOMPARE(QString::fromStdString(result.out.substr(0, expected.size())),
               QString::fromStdString(expected));
      QVERIFY(result.out.size() <= expected.size() + 16);
      ++checked;
    }
    QVERIFY(checked > 0);
  }
};

QTEST_GUILESS_MAIN(TestPublishedText)
#include "test_published_text.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>

#include "core/base/files.h"
#include "tests/app/cli_support.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// What leaves the house answers like what was trained.
class TestCliExport : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, gguf_, adapter_;

  QString path(const char* name) const { return folder_.path() + "/" + name; }
  QStringList chat(const QString& model, const QStringList& more = {}) const {
    return QStringList{
               "chat",     "--model",          model, "--template",     "alpaca", "--prompt",  "Say number 4",
               "--greedy", "--max-new-tokens", "24",  "--quantization", "none",   "--compute", "f32"} +
           more;
  }

 private slots:
  void initTestCase() {
    model_ = path("model");
    gguf_ = path("model.gguf");
    write_tiny_folder(model_.toStdString(), cli_model());
    write_tiny_gguf(gguf_.toStdString(), cli_model());
    write_file_atomically(model_.toStdString() + "/LICENSE", "licence of the base");
    write_alpaca(path("data.json").toStdString(), 30);
    const CliResult trained = run_cli({"train", "--model", model_, "--data", path("data.json"), "--run",
                                       path("run"), "--max-steps", "40", "--learning-rate", "1e-2",
                                       "--max-length", "320", "--quantization", "none", "--compute", "f32"});
    QVERIFY2(trained.code == 0, trained.err.c_str());
    adapter_ = path("run") + "/adapter";
  }

  void a_merged_model_answers_like_base_and_adapter_data() {
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("options");
    QTest::newRow("folder, f32") << model_ << QStringList{"--type", "f32"};
    QTest::newRow("folder, f32, in shards")
        << model_ << QStringList{"--type", "f32", "--shard-bytes", "40000"};
    QTest::newRow("from a GGUF file") << gguf_ << QStringList{"--type", "f32"};
  }
  void a_merged_model_answers_like_base_and_adapter() {
    QFETCH(QString, model);
    QFETCH(QStringList, options);
    const QString out = folder_.path() + "/out-" +
                        QString::fromLatin1(QTest::currentDataTag()).replace(QRegularExpression("\\W"), "");
    const CliResult exported = run_cli(
        QStringList{"export", "--model", model, "--adapter", adapter_, "--as", "merged", "--out", out} +
        options);
    QVERIFY2(exported.code == 0, exported.err.c_str());
    const CliResult together = run_cli(chat(model, {"--adapter", adapter_})), merged = run_cli(chat(out));
    QVERIFY2(merged.code == 0, merged.err.c_str());
    QCOMPARE(merged.out, together.out);
    QVERIFY(merged.out != run_cli(chat(model)).out);
    QCOMPARE(run_cli({"inspect", out}).code, 0);
  }

  void sixteen_bits_are_half_the_size_and_carry_the_licence() {
    for (const char* type : {"bf16", "f16"}) {
      const QString out = path(type);
      const CliResult exported = run_cli({"export", "--model", model_, "--adapter", adapter_, "--as",
                                          "merged", "--out", out, "--type", type, "--json"});
      QVERIFY2(exported.code == 0, exported.err.c_str());
      const auto bytes = static_cast<double>(fs::file_size(out.toStdString() + "/model.safetensors"));
      const auto base = static_cast<double>(fs::file_size(model_.toStdString() + "/model.safetensors"));
      QVERIFY2(bytes < 0.6 * base && bytes > 0.4 * base, type);
      QCOMPARE(read_file(out.toStdString() + "/LICENSE"), std::string("licence of the base"));
    }
  }

  void an_exported_adapter_is_the_adapter() {
    const QString out = path("adapter-out");
    const CliResult exported =
        run_cli({"export", "--model", model_, "--adapter", adapter_, "--as", "adapter", "--out", out});
    QVERIFY2(exported.code == 0, exported.err.c_str());
    QCOMPARE(run_cli(chat(model_, {"--adapter", out})).out,
             run_cli(chat(model_, {"--adapter", adapter_})).out);
  }

  void nothing_is_overwritten_and_nothing_half_made_is_left() {
    const QString full = path("full");
    fs::create_directories(full.toStdString());
    write_file_atomically(full.toStdString() + "/precious.txt", "keep me");
    const QStringList arguments = {"export", "--model", model_,  "--adapter", adapter_,
                                   "--as",   "merged",  "--out", full};
    QCOMPARE(run_cli(arguments).code, 1);
    QCOMPARE(read_file(full.toStdString() + "/precious.txt"), std::string("keep me"));
    const CliResult later =
        run_cli({"export", "--model", model_, "--adapter", adapter_, "--as", "gguf", "--out", path("g")});
    QCOMPARE(later.code, 1);
    QVERIFY(later.err.find("not built") != std::string::npos);
    QVERIFY(!fs::exists(path("g").toStdString()));
  }
};

QTEST_GUILESS_MAIN(TestCliExport)
#include "test_cli_export.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QRegularExpression>
#include <QtTest>
#include <filesystem>

#include "core/base/files.h"
#include "core/model/check_model.h"
#include "core/model/safetensors.h"
#include "tests/app/cli_support.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// Wrong input gives a sentence with what, where and what next, and exit code 1; wrong use gives 2.
class TestCliErrors : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  QString path(const QString& name) const { return folder_.path() + "/" + name; }
  void put(const QString& name, const std::string& content) const {
    write_file_atomically(path(name).toStdString(), content);
  }

 private slots:
  void initTestCase() {
    qputenv("CUDA_VISIBLE_DEVICES", "");  // on a machine that has a GPU, too
    write_tiny_folder(path("model").toStdString(), cli_model());
    write_alpaca(path("data.json").toStdString(), 20);
    put("empty.json", "");
    put("broken.json", "[{\"instruction\": \"a\", \"output\": ");
    put("no-answers.json", "[{\"instruction\": \"a\", \"output\": \"\"}, {\"instruction\": \"b\"}]");
    put("other.json", "[{\"foo\": 1}]");
    fs::create_directories(path("not-a-model").toStdString());
    put("not-a-model/readme.txt", "hello");
    fs::copy(path("model").toStdString(), path("pickle").toStdString());
    fs::remove(path("pickle").toStdString() + "/model.safetensors");
    put("pickle/pytorch_model.bin", std::string("PK\x03\x04", 4) + std::string(100, '\0') + "data.pkl");
    fs::copy(path("model").toStdString(), path("truncated").toStdString());
    fs::resize_file(path("truncated").toStdString() + "/model.safetensors", 5000);
    put("not.gguf", "GGUF\x03");
    fs::create_directories(path("not-an-adapter").toStdString());
  }

  void wrong_input_is_said_with_what_and_where_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    QTest::addColumn<QString>("where");
    const auto train = [&](const QString& model, const QString& data, const QStringList& more = {}) {
      return QStringList{"train", "--model", path(model), "--data", path(data), "--run", path("run")} + more;
    };
    QTest::newRow("no such model") << train("nowhere", "data.json") << "no base model"
                                   << "nowhere";
    QTest::newRow("not a model") << train("not-a-model", "data.json") << ""
                                 << "not-a-model";
    QTest::newRow("pickle weights") << train("pickle", "data.json") << "safetensors"
                                    << "pickle";
    QTest::newRow("a truncated model") << train("truncated", "data.json") << ""
                                       << "model.safetensors";
    QTest::newRow("a broken GGUF file") << train("not.gguf", "data.json") << ""
                                        << "not.gguf";
    QTest::newRow("no such data") << train("model", "nowhere.json") << "no such data"
                                  << "nowhere.json";
    QTest::newRow("empty data") << train("model", "empty.json") << ""
                                << "empty.json";
    QTest::newRow("broken data") << train("model", "broken.json") << ""
                                 << "broken.json";
    QTest::newRow("no usable row") << train("model", "no-answers.json") << ""
                                   << "no-answers.json";
    QTest::newRow("other columns") << train("model", "other.json") << "foo"
                                   << "other.json";
    QTest::newRow("an adapter that is none")
        << train("model", "data.json", {"--adapter", path("not-an-adapter")}) << ""
        << "not-an-adapter";
    QTest::newRow("memory too small")
        << train("model", "data.json",
                 {"--memory-limit", "64MB", "--rank", "1024", "--batch-size", "64", "--max-length", "40960"})
        << "does not fit"
        << "memory-limit";
    QTest::newRow("inspect nothing") << QStringList{"inspect", path("nowhere")} << ""
                                     << "nowhere";
    QTest::newRow("chat without a model")
        << QStringList{"chat", "--model", path("nowhere"), "--prompt", "x"} << ""
        << "nowhere";
    QTest::newRow("resume nothing") << QStringList{"resume", path("not-a-model")} << "job.json"
                                    << "not-a-model";
    QTest::newRow("export of nothing")
        << QStringList{"export", "--model", path("model"), "--adapter", path("not-an-adapter"),
                       "--as",   "adapter", "--out",       path("out")}
        << ""
        << "not-an-adapter";
    QTest::newRow("a value not built")
        << train("model", "data.json", {"--head-quantization", "int8"}) << "not built"
        << "--head-quantization";
  }
  void wrong_input_is_said_with_what_and_where() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    QFETCH(QString, where);
    fs::remove_all(path("run").toStdString());
    const CliResult result = run_cli(arguments);
    const QString text = QString::fromStdString(result.err);
    QVERIFY2(result.code == 1, qPrintable(QString("exit code %1: %2").arg(result.code).arg(text)));
    QVERIFY2(text.startsWith("lorikeet: "), qPrintable(text));
    QVERIFY2(text.contains(says), qPrintable(text));
    QVERIFY2(text.contains(where), qPrintable(text));
  }

  void M11_a_model_larger_than_memory_is_refused_with_numbers() {
    // A billion weights that take no room on the disk: a file of holes.
    TinyModel large = cli_model();
    large.hidden_size = 2048;
    large.intermediate_size = 8192;
    large.layers = 16;
    large.heads = 32;
    large.kv_heads = 8;
    large.head_dim = 64;
    large.dtype = "BF16";
    const std::string folder = path("large").toStdString();
    write_tiny_folder(folder, cli_model());
    write_text(folder + "/config.json", tiny_config(large));
    std::vector<SafetensorsPlan> tensors;
    for (const auto& [name, shape] : expected_tensors(tiny_spec(large)))
      tensors.push_back({name, "BF16", shape});
    const SafetensorsLayout layout = plan_safetensors(std::move(tensors));
    write_text(folder + "/model.safetensors", layout.header);
    fs::resize_file(folder + "/model.safetensors", layout.file_bytes);
    QElapsedTimer timer;
    timer.start();
    const CliResult chat = run_cli({"chat", "--model", path("large"), "--template", "alpaca", "--prompt",
                                    "Hi", "--memory-limit", "100MB"});
    QCOMPARE(chat.code, 1);
    const QString text = QString::fromStdString(chat.err);
    QVERIFY2(text.contains(QRegularExpression("needs \\d+ MiB of memory, \\d+ MiB are left")),
             qPrintable(text));
    QVERIFY2(text.contains("smaller model"), qPrintable(text));
    QVERIFY2(timer.elapsed() < 20'000, "it loaded first");
    const CliResult training = run_cli({"train", "--model", path("large"), "--data", path("data.json"),
                                        "--run", path("run"), "--memory-limit", "100MB"});
    QCOMPARE(training.code, 1);
    QVERIFY2(QString::fromStdString(training.err).contains("of memory are needed"), training.err.c_str());
  }

  void a_run_that_cannot_begin_leaves_nothing_data() {
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<QString>("where");
    QTest::newRow("no GPU") << QStringList{"--device", "cuda"} << "device";
    QTest::newRow("a compute type the processor lacks") << QStringList{"--compute", "f16"} << "compute";
    QTest::newRow("offload without a GPU") << QStringList{"--offload", "true"} << "offload";
    QTest::newRow("modules the model lacks") << QStringList{"--targets", "q_proj,w_proj"} << "w_proj";
    QTest::newRow("no such template") << QStringList{"--template", path("no.jinja")} << "no.jinja";
    QTest::newRow("no such evaluation data") << QStringList{"--eval-data", path("no.json")} << "no.json";
    QTest::newRow("an adapter that is none")
        << QStringList{"--adapter", path("not-an-adapter")} << "not-an-adapter";
  }
  void a_run_that_cannot_begin_leaves_nothing() {
    QFETCH(QStringList, more);
    QFETCH(QString, where);
    fs::remove_all(path("run").toStdString());
    const CliResult result = run_cli(
        QStringList{"train", "--model", path("model"), "--data", path("data.json"), "--run", path("run")} +
        more);
    QVERIFY2(result.code == 1, result.err.c_str());
    QVERIFY2(QString::fromStdString(result.err).contains(where), result.err.c_str());
    QVERIFY(!fs::exists(path("run").toStdString()));
  }

  void what_was_wrong_with_a_run_that_the_studio_has_made_stands_in_it() {
    fs::remove_all(path("run").toStdString());
    fs::create_directories(path("run").toStdString());
    const Json job = {{"model", path("model").toStdString()},
                      {"data", path("data.json").toStdString()},
                      {"settings", {{"device", "cuda"}}}};
    put("run/job.json", job.dump());
    QCOMPARE(run_cli({"train", "--run", path("run"), "--job", path("run/job.json")}).code, 1);
    const std::string events = read_file(path("run/events.jsonl").toStdString());
    QVERIFY2(events.find("\"unsupported\"") != std::string::npos, events.c_str());
  }

  void without_a_gpu_device_cuda_is_refused_at_once_data() {
    QTest::addColumn<QStringList>("arguments");
    const QString model = path("model"), data = path("data.json"), broken = path("broken.json");
    QTest::newRow("plan") << QStringList{"plan", "--model", model, "--data", data};
    QTest::newRow("eval, before the data are read")
        << QStringList{"eval", "--model", model, "--data", broken};
    QTest::newRow("chat") << QStringList{"chat", "--model", model, "--prompt", "x"};
    QTest::newRow("chat, as one object") << QStringList{"chat", "--model", model, "--prompt", "x", "--json"};
  }
  void without_a_gpu_device_cuda_is_refused_at_once() {
    QFETCH(QStringList, arguments);
    const CliResult result = run_cli(arguments + QStringList{"--device", "cuda"});
    QVERIFY2(result.code == 1, result.err.c_str());
    QVERIFY2(result.err.starts_with("lorikeet: ") && result.err.find("CUDA") != std::string::npos,
             result.err.c_str());
  }

  void a_chat_goes_on_after_a_device_that_is_not_there() {
    const auto chat = start_cli({"chat", "--json"});
    const auto answer = [&](const char* device) {
      const Json request = {{"op", "load"}, {"model", path("model").toStdString()}, {"device", device}};
      chat->write(QByteArray::fromStdString(request.dump() + "\n"));
      while (!chat->canReadLine() && chat->waitForReadyRead(60'000)) {
      }
      return parse_json(chat->readLine().toStdString(), "answer");
    };
    QCOMPARE(answer("cuda")["code"].get<std::string>(), std::string("unsupported"));
    QCOMPARE(answer("cpu")["type"].get<std::string>(), std::string("loaded"));
    chat->closeWriteChannel();
    QVERIFY(chat->waitForFinished());
    QCOMPARE(chat->exitCode(), 0);
  }

  void an_export_has_no_device() {
    const CliResult result = run_cli({"export", "--model", path("model"), "--adapter", path("not-an-adapter"),
                                      "--as", "merged", "--out", path("exported"), "--device", "cuda"});
    QCOMPARE(result.code, 2);
    QVERIFY2(result.err.find("--device") != std::string::npos, result.err.c_str());
    QVERIFY(!fs::exists(path("exported").toStdString()));
  }

  void wrong_use_is_told_from_wrong_input_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("nothing") << QStringList{};
    QTest::newRow("no such command") << QStringList{"fly"};
    QTest::newRow("no such flag") << QStringList{"devices", "--fast"};
    QTest::newRow("a flag without its value") << QStringList{"train", "--model"};
    QTest::newRow("a needed flag is missing") << QStringList{"tokenize"};
    QTest::newRow("a value out of range")
        << QStringList{"train", "--model", "x", "--data", "y", "--run", "z", "--rank", "0"};
  }
  void wrong_use_is_told_from_wrong_input() {
    QFETCH(QStringList, arguments);
    const CliResult result = run_cli(arguments);
    QVERIFY2(result.code == 2, qPrintable(QString::number(result.code)));
    QVERIFY(!result.err.empty() || !result.out.empty());
  }

  void help_and_version_end_well() {
    QCOMPARE(run_cli({"--help"}).code, 0);
    const CliResult version = run_cli({"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY(version.out.starts_with("lorikeet "));
    for (const char* command : {"devices", "inspect", "tokenize", "render", "plan", "train", "resume",
                                "pause", "stop", "chat", "eval", "export", "library"}) {
      const CliResult help = run_cli({command, "--help"});
      QVERIFY2(help.code == 0 && help.out.size() > 80, command);
    }
    QVERIFY(run_cli({"train", "--help"}).out.find("--learning-rate") != std::string::npos);
  }

  void errors_are_json_when_asked() {
    const CliResult result =
        run_cli({"plan", "--model", path("model"), "--data", path("broken.json"), "--json"});
    QCOMPARE(result.code, 1);
    QCOMPARE(result.json()["type"].get<std::string>(), std::string("error"));
    QVERIFY(result.json()["where"].get<std::string>().find("broken.json") != std::string::npos);
  }

  void the_machine_is_described() {
    const CliResult result = run_cli({"devices", "--json"});
    QCOMPARE(result.code, 0);
    const Json device = result.json()["devices"][0];
    QCOMPARE(device["kind"].get<std::string>(), std::string("cpu"));
    QVERIFY(device["threads"].get<int>() >= 1);
    QVERIFY(device["memory_free_bytes"].get<std::uint64_t>() > 1'000'000);
  }

  void a_model_a_run_and_data_are_inspected() {
    const CliResult model = run_cli({"inspect", path("model"), "--json"});
    QVERIFY2(model.code == 0, model.out.c_str());
    QCOMPARE(model.json()["kind"].get<std::string>(), std::string("model"));
    QCOMPARE(model.json()["layers"].get<int>(), 2);
    const CliResult data = run_cli({"inspect", path("data.json"), "--json"});
    QCOMPARE(data.json()["used"].get<int>(), 20);
    const CliResult truncated = run_cli({"inspect", path("truncated"), "--json"});
    QCOMPARE(truncated.code, 1);
    QVERIFY(!truncated.json()["problems"].empty());
  }
};

QTEST_GUILESS_MAIN(TestCliErrors)
#include "test_cli_errors.moc"

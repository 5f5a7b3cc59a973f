// SPDX-License-Identifier: Apache-2.0
#include <QProcess>
#include <QtTest>
#include <filesystem>

#include "core/base/files.h"
#include "core/train/checkpoint.h"
#include "core/train/run_folder.h"
#include "tests/app/cli_support.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// The engine with the CUDA plug-in it finds beside itself: the real one on a machine without a driver, none,
/// a wrong one, and one whose device fails. Each lies with a copy of the engine in a folder of its own.
class TestCudaPlugin : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// A folder with the engine and this plug-in ("" = none).
  std::string place(const std::string& name, const std::string& plugin) const {
    const fs::path folder = path(name);
    fs::create_directories(folder);
    fs::copy_file(LORIKEET_ENGINE, folder / "lorikeet");
    if (!plugin.empty()) fs::copy_file(plugin, folder / "liblorikeet_cuda.so");
    return folder.string();
  }

  static CliResult run(const std::string& folder, const QStringList& arguments, const QString& wish = {}) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LORIKEET_TEST_GPU", wish);
    process.setProcessEnvironment(environment);
    process.start(QString::fromStdString(folder + "/lorikeet"), arguments);
    CliResult result;
    if (!process.waitForFinished(120'000)) return result;
    result.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    result.out = process.readAllStandardOutput().toStdString();
    result.err = process.readAllStandardError().toStdString();
    return result;
  }

  QStringList train(const std::string& run, const QString& device) const {
    const auto text = [](const std::string& s) { return QString::fromStdString(s); };
    return {"train",
            "--model",
            text(path("model")),
            "--data",
            text(path("data.json")),
            "--run",
            text(run),
            "--rank",
            "4",
            "--max-steps",
            "6",
            "--save-every",
            "2",
            "--eval-fraction",
            "0",
            "--max-length",
            "320",
            "--device",
            device};
  }

  static std::string note(const CliResult& devices) {
    return devices.code == 0 && !devices.json()["notes"].empty()
               ? devices.json()["notes"][0].get<std::string>()
               : "";
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

 private slots:
  void initTestCase() {
    write_tiny_folder(path("model"), cli_model());
    write_alpaca(path("data.json"), 20);
  }

  void the_reason_is_told_and_cuda_refused_data() {
    QTest::addColumn<QString>("plugin");
    QTest::addColumn<QString>("reason");
    QTest::newRow("no plug-in") << ""
                                << "liblorikeet_cuda.so is not beside the program";
    QTest::newRow("another version") << LORIKEET_OTHER_PLUGIN << "belongs to another version of the program";
    QTest::newRow("not a library") << QString::fromStdString(path("data.json")) << "liblorikeet_cuda.so";
    QTest::newRow("no driver") << LORIKEET_CUDA_PLUGIN << "no NVIDIA driver was found, release";
  }
  void the_reason_is_told_and_cuda_refused() {
    QFETCH(QString, plugin);
    QFETCH(QString, reason);
    if (QString(QTest::currentDataTag()) == "no driver" && fs::exists("/dev/nvidiactl"))
      QSKIP("this machine has an NVIDIA driver");
    const std::string name = QString(QTest::currentDataTag()).replace(' ', '-').toStdString();
    const std::string folder = place(name, plugin.toStdString());

    const CliResult devices = run(folder, {"devices", "--json"});
    QVERIFY2(has(note(devices), "CUDA is not used: "), (devices.out + devices.err).c_str());
    QVERIFY2(has(note(devices), reason.toStdString()), devices.out.c_str());
    QVERIFY(has(run(folder, {"devices"}).out, note(devices)));

    const CliResult refused = run(folder, train(path(name + "-cuda"), "cuda"));
    QCOMPARE(refused.code, 1);
    QVERIFY2(has(refused.err, note(devices)), refused.err.c_str());
    QVERIFY(has(refused.err, "Use device cpu or auto"));
    QVERIFY(!fs::exists(path(name + "-cuda")));  // said before anything is made

    const CliResult automatic = run(folder, train(path(name + "-auto"), "auto"));
    QVERIFY2(automatic.code == 0, automatic.err.c_str());
    const Json job = read_json_file(path(name + "-auto/job.json"));
    QCOMPARE(job["machine"]["cuda"].get<std::string>(), note(devices));
  }

  void the_plug_in_needs_no_library_of_nvidias() {
    QProcess readelf;
    readelf.start("readelf", {"-d", LORIKEET_CUDA_PLUGIN});
    if (!readelf.waitForFinished()) QSKIP("readelf was not found");
    const QString sections = readelf.readAllStandardOutput();
    QVERIFY(sections.contains("libc.so"));
    for (const QString& line : sections.split('\n')) {
      if (!line.contains("NEEDED")) continue;
      const bool known = line.contains("[libc.so") || line.contains("[libm.so") ||
                         line.contains("[libstdc++.so") || line.contains("[libgcc_s.so") ||
                         line.contains("[ld-linux");
      QVERIFY2(known, qPrintable(line));
    }
  }

  void a_device_is_listed_and_chosen() {
    const std::string folder = place("working", LORIKEET_FAILING_PLUGIN);
    const Json devices = run(folder, {"devices", "--json"}).json();
    QCOMPARE(devices["devices"][1]["kind"].get<std::string>(), std::string("cuda"));
    QCOMPARE(devices["devices"][1]["driver"].get<std::string>(), std::string("13.0"));
    QCOMPARE(devices["devices"][1]["instruction_set"].get<std::string>(), std::string("compute 8.6"));
    QVERIFY(devices["notes"].empty());
    QCOMPARE(note(run(folder, {"devices", "--json"}, "note")), std::string("cuBLASLt was not found"));
    const CliResult text = run(folder, {"devices"});
    QVERIFY2(has(text.out, "cuda: Test GPU, compute 8.6") && has(text.out, "driver for CUDA 13.0"),
             text.out.c_str());

    QCOMPARE(run(folder, train(path("chosen"), "auto")).code, 0);
    const Json job = read_json_file(path("chosen/job.json"));
    QCOMPARE(job["machine"]["device"].get<std::string>(), std::string("Test GPU"));
    QVERIFY(!job["machine"].contains("cuda"));
    QCOMPARE(job["machine"]["driver"].get<std::string>(), std::string("580.65.06, for CUDA 13.0"));
    QCOMPARE(job["machine"]["cuda_runtime"].get<std::string>(), std::string("13.0"));
    QCOMPARE(job["machine"]["products"].get<std::string>(), std::string("own products"));
  }

  void a_device_that_cannot_be_had_is_an_error() {
    const std::string folder = place("refusing", LORIKEET_FAILING_PLUGIN);
    for (const char* device : {"cuda", "auto"}) {
      const CliResult result = run(folder, train(path(std::string("refused-") + device), device), "refuse");
      QCOMPARE(result.code, 1);
      QVERIFY2(has(result.err, "cudaStreamCreate failed: out of memory: GPU memory. Close other programs"),
               result.err.c_str());
    }
  }

  void a_device_without_code_gives_way_to_the_processor() {
    const std::string folder = place("codeless", LORIKEET_FAILING_PLUGIN),
                      reason = "no code for compute capability 8.6";
    const CliResult refused = run(folder, train(path("codeless-cuda"), "cuda"), "no code");
    QCOMPARE(refused.code, 1);
    QVERIFY2(has(refused.err, reason), refused.err.c_str());
    const CliResult automatic = run(folder, train(path("codeless-auto"), "auto"), "no code");
    QVERIFY2(automatic.code == 0, automatic.err.c_str());
    const Json job = read_json_file(path("codeless-auto/job.json"));
    QVERIFY(has(job["machine"]["cuda"].get<std::string>(), reason));
    QVERIFY(job["machine"]["device"].get<std::string>() != "Test GPU");
    QVERIFY(!job["machine"].contains("driver"));
  }

  void a_larger_memory_limit_than_the_device_has_is_told() {
    const std::string folder = place("asking", LORIKEET_FAILING_PLUGIN);
    const QStringList arguments{"plan",
                                "--model",
                                QString::fromStdString(path("model")),
                                "--data",
                                QString::fromStdString(path("data.json")),
                                "--json",
                                "--memory-limit",
                                "24GB"};
    const Json plan = run(folder, arguments).json();
    QVERIFY(plan["fits"].get<bool>());
    QVERIFY2(has(plan["warnings"].dump(), "memory-limit asks for 24.00 GB, the GPU has 1.00 GB free"),
             plan["warnings"].dump().c_str());
    const CliResult small = run(folder, arguments, "memory 20000");
    QVERIFY(!small.json()["fits"].get<bool>());
    QVERIFY2(has(small.json()["ways_out"].get<std::string>(), "or use --device cpu"), small.out.c_str());
    const CliResult run_small = run(folder, train(path("too-small"), "cuda"), "memory 20000");
    QVERIFY2(has(run_small.err, "or use --device cpu"), run_small.err.c_str());
  }

  void memory_of_the_device_bounds_the_run() {
    const std::string folder = place("small", LORIKEET_FAILING_PLUGIN);
    const QStringList arguments{"plan",
                                "--model",
                                QString::fromStdString(path("model")),
                                "--data",
                                QString::fromStdString(path("data.json")),
                                "--json"};
    QVERIFY(run(folder, arguments).json()["fits"].get<bool>());
    QVERIFY(!run(folder, arguments, "memory 20000").json()["fits"].get<bool>());
    QVERIFY(
        run(folder, arguments + QStringList{"--device", "cpu"}, "memory 20000").json()["fits"].get<bool>());
  }

  void a_lost_device_ends_the_engine_and_nothing_else() {
    const std::string folder = place("losing", LORIKEET_FAILING_PLUGIN), lost = path("lost");
    const CliResult result = run(folder, train(lost, "auto") + QStringList{"--rehearse", "no"}, "lost 4");
    QCOMPARE(result.code, 1);
    QVERIFY2(has(result.err, "an illegal memory access was encountered"), result.err.c_str());
    QVERIFY2(has(result.err, "The GPU has to be started anew"), result.err.c_str());

    const RunFolder run_folder = RunFolder::open(lost);
    QVERIFY(!run_folder.is_alive());
    const RunHistory history = run_folder.read_history();
    QCOMPARE(history.state, RunState::failed);
    QCOMPARE(history.steps.size(), std::size_t{3});
    QCOMPARE(history.error->code, std::string("device"));
    QVERIFY(has(history.error->hint, "started anew"));
    verify_checkpoint(run_folder.checkpoint_path(2));

    // Without the device the run goes on from its last checkpoint.
    fs::remove(folder + "/liblorikeet_cuda.so");
    const CliResult resumed = run(folder, {"resume", QString::fromStdString(lost)});
    QVERIFY2(resumed.code == 0, resumed.err.c_str());
    const RunHistory whole = run_folder.read_history();
    QCOMPARE(whole.state, RunState::done);
    QCOMPARE(whole.steps.size(), std::size_t{6});
  }
};

QTEST_GUILESS_MAIN(TestCudaPlugin)
#include "test_cuda_plugin.moc"

// SPDX-License-Identifier: Apache-2.0
// What is said and tried before a run begins: lorikeet plan, and the rehearsal.
#include <QtTest>
#include <filesystem>

#include "core/base/files.h"
#include "core/train/run_folder.h"
#include "tests/app/cli_support.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

class TestCliPlan : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, data_;

  QString path(const char* name) const { return folder_.path() + "/" + name; }
  CliResult plan(const QStringList& more) const {
    return run_cli(QStringList{"plan", "--json", "--model", model_, "--data", data_, "--max-length", "320"} +
                   more);
  }
  QStringList train(const QString& run, const QStringList& more = {}) const {
    return QStringList{"train", "--model",         model_, "--data", data_, "--run",
                       run,     "--max-steps",     "12",   "--rank", "8",   "--max-length",
                       "320",   "--eval-fraction", "0.1"} +
           more;
  }
  static std::string bytes(const QString& run) {
    return read_file(run.toStdString() + "/adapter/adapter_model.safetensors");
  }

 private slots:
  void initTestCase() {
    model_ = path("model");
    data_ = path("data.json");
    write_tiny_folder(model_.toStdString(), cli_model());
    write_alpaca(data_.toStdString(), 60);
  }

  void the_kinds_of_memory_sum_up() {
    const Json memory = plan({}).json()["memory"];
    std::uint64_t sum = 0;
    for (const char* kind : {"base_weights", "adapter", "gradients", "optimizer", "activations",
                             "dequantization", "logits", "workspace", "samples", "host"})
      sum += memory[kind].get<std::uint64_t>();
    QCOMPARE(memory["total"].get<std::uint64_t>(), sum);
  }

  void sample_prompts_and_disk_are_in_the_plan() {
    const Json without = plan({}).json(), with = plan({"--sample-prompts", "Hello"}).json();
    QCOMPARE(without["memory"]["samples"].get<int>(), 0);
    QVERIFY(with["memory"]["samples"].get<int>() > 0);
    const auto disk = [](const Json& json) { return json["disk_bytes"].get<std::uint64_t>(); };
    const auto keeping = [&](const char* count) {
      return disk(plan({"--keep-checkpoints", count, "--save-every", "1", "--max-steps", "50"}).json());
    };
    const auto one = without["checkpoint_bytes"].get<std::uint64_t>();
    QCOMPARE(keeping("5") - keeping("2"), 3 * one);
    QCOMPARE(keeping("1000") - keeping("2"), (50 + 5 - 4) * one);  // 50 saves and 5 best evaluations at most
  }

  void a_card_that_is_not_here_is_planned_for() {
    const Json small = plan({"--gpu", "8GB"}).json(), large = plan({"--gpu", "RTX 4090"}).json();
    QCOMPARE(small["gpu"].get<std::string>(), std::string("RTX 4060"));
    QVERIFY(small["memory_limit"].get<double>() < 8e9 && small["memory_limit"].get<double>() > 6.5e9);
    QVERIFY(large["memory_limit"].get<double>() > 20e9);
    QVERIFY(small["memory"]["host_is_apart"].get<bool>());
    QVERIFY(small["estimated_seconds"].get<double>() > large["estimated_seconds"].get<double>());
    const CliResult unknown = plan({"--gpu", "Voodoo 2"});
    QCOMPARE(unknown.code, 1);
    QVERIFY(unknown.err.find("RTX 3060 12GB") != std::string::npos);
  }

  void what_each_change_would_save_is_said_as_flags() {
    const Json fit =
        plan({"--fit", "--optimizer", "adamw", "--batch-size", "8", "--rank", "128"}).json()["fit"];
    QVERIFY(!fit["needed"].get<bool>() && fit["cheapest"].is_null());
    QStringList flags;
    for (const Json& option : fit["options"]) {
      QVERIFY(option["saved_bytes"].get<std::int64_t>() > 0);
      flags << QString::fromStdString(option["flags"].get<std::string>());
    }
    QVERIFY2(flags.contains("--optimizer adamw-8bit"), qPrintable(flags.join("; ")));
    QVERIFY(!flags.filter("--batch-size 4 --accumulation 8").isEmpty());
  }

  void a_run_with_and_without_rehearsal_gives_the_same_bytes() {
    QCOMPARE(run_cli(train(path("with"))).code, 0);
    QCOMPARE(run_cli(train(path("without"), {"--rehearse", "no"})).code, 0);
    QVERIFY(bytes(path("with")) == bytes(path("without")));
    QVERIFY(comparable_events(path("with").toStdString()) ==
            comparable_events(path("without").toStdString()));
    QVERIFY(!fs::exists((path("with") + "/rehearsal").toStdString()));
    const RunHistory history = RunFolder::open(path("with").toStdString()).read_history();
    QVERIFY(history.rehearsed && history.seconds_left.has_value());
    QVERIFY(!RunFolder::open(path("without").toStdString()).read_history().rehearsed);
  }

  void a_rehearsal_by_itself_trains_nothing_and_the_run_can_follow() {
    QCOMPARE(run_cli(train(path("only"), {"--rehearse", "only"})).code, 0);
    QVERIFY(!fs::exists((path("only") + "/adapter").toStdString()));
    QVERIFY(RunFolder::open(path("only").toStdString()).read_history().steps.empty());
    const CliResult resumed = run_cli({"resume", path("only")});
    QVERIFY2(resumed.code == 0, resumed.err.c_str());
    if (fs::exists((path("with") + "/adapter").toStdString()))
      QVERIFY(bytes(path("only")) == bytes(path("with")));
  }

  void a_base_that_gives_no_finite_loss_fails_before_the_first_step() {
    // The norm of the last layer is as large as a number can be: every logit overflows.
    const std::string broken = (path("broken")).toStdString();
    write_tiny_folder(broken, cli_model());
    std::string weights = read_file(broken + "/model.safetensors");
    const std::size_t header = weights.find("model.norm.weight");
    QVERIFY(header != std::string::npos);
    const std::size_t offsets = weights.find("data_offsets\":[", header) + 15;
    std::uint64_t length = 0;
    std::memcpy(&length, weights.data(), 8);
    const std::size_t begin = 8 + length + std::strtoull(weights.c_str() + offsets, nullptr, 10);
    const float huge = 3e38f;
    for (int i = 0; i < 8; ++i) std::memcpy(weights.data() + begin + 4 * i, &huge, 4);
    write_text(broken + "/model.safetensors", weights);
    QStringList arguments = train(path("doomed"));
    arguments[2] = path("broken");
    const CliResult result = run_cli(arguments);
    QCOMPARE(result.code, 1);
    QVERIFY2(result.err.find("not finite") != std::string::npos, result.err.c_str());
    const RunHistory history = RunFolder::open(path("doomed").toStdString()).read_history();
    QCOMPARE(history.state, RunState::failed);
    QVERIFY(history.error && history.steps.empty());
  }
};

QTEST_GUILESS_MAIN(TestCliPlan)
#include "test_cli_plan.moc"

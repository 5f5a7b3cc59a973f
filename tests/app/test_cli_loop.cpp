// SPDX-License-Identifier: Apache-2.0
// What the training loop does beside steps: early stopping, the best adapter, values that are not finite,
// going on from an adapter.
#include <sys/types.h>

#include <QtTest>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/train/run_folder.h"
#include "tests/app/cli_support.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

class TestCliLoop : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, data_;

  QString path(const char* name) const { return folder_.path() + "/" + name; }
  QStringList train(const QString& run, const QStringList& more = {}) const {
    return QStringList{"train", "--model",      model_, "--data",       data_, "--run",
                       run,     "--rank",       "4",    "--max-length", "320", "--eval-fraction",
                       "0.1",   "--eval-every", "10",   "--save-every", "1000"} +
           more;
  }
  static RunHistory history_of(const QString& run) {
    return RunFolder::open(run.toStdString()).read_history();
  }
  static std::string warnings_of(const QString& run) {
    std::string all;
    for (const auto& warning : history_of(run).warnings) all += warning.code + ": " + warning.what + "\n";
    return all;
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
  /// A copy of the first run's adapter in which every number is `value`.
  QString adapter_of(const char* name, float value) const {
    const std::string folder = path(name).toStdString();
    fs::copy(path("first").toStdString() + "/adapter", folder);
    std::string bytes = read_file(folder + "/adapter_model.safetensors");
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (std::size_t at = 8 + header; at < bytes.size(); at += sizeof value)
      std::memcpy(bytes.data() + at, &value, sizeof value);
    write_file_atomically(folder + "/adapter_model.safetensors", bytes);
    return path(name);
  }

 private slots:
  void initTestCase() {
    fs::remove_all(qEnvironmentVariable("LORIKEET_HOME").toStdString());
    model_ = path("model");
    data_ = path("data.json");
    write_tiny_folder(model_.toStdString(), cli_model());
    write_alpaca(data_.toStdString(), 40);
    const CliResult first =
        run_cli(train(path("first"), {"--max-steps", "20", "--learning-rate", "1e-2", "--name", "letters"}));
    QVERIFY2(first.code == 0, first.err.c_str());
  }

  void evaluations_without_gain_end_a_run() {
    const QString run = path("early");
    const CliResult result =
        run_cli(train(run, {"--max-steps", "200", "--learning-rate", "0", "--early-stop", "2"}));
    QVERIFY2(result.code == 0, result.err.c_str());
    RunHistory history = history_of(run);
    QCOMPARE(history.steps.back().step, std::int64_t{20});
    QCOMPARE(history.state, RunState::done);
    QVERIFY2(
        has(history.state_why, "Stopped early after step 20 of 200: 2 evaluations in a row brought no gain"),
        history.state_why.c_str());
    QCOMPARE(history.done->best_step, std::int64_t{10});
    QVERIFY(has(warnings_of(run), "no_gain"));
    QVERIFY(fs::exists(RunFolder::open(run.toStdString()).checkpoint_path(10)));
    // Whoever resumes it wants more: until the next evaluation without gain.
    QCOMPARE(run_cli({"resume", run}).code, 0);
    history = history_of(run);
    QCOMPARE(history.steps.back().step, std::int64_t{30});
    QCOMPARE(history.state, RunState::done);
    const CliResult blind =
        run_cli(train(path("blind"), {"--max-steps", "20", "--early-stop", "2", "--eval-fraction", "0"}));
    QCOMPARE(blind.code, 1);
    QVERIFY2(has(blind.err, "Without evaluation nothing tells when to stop early"), blind.err.c_str());
  }

  void adapters_are_found_by_run_and_by_name() {
    const auto loss = [&](const QString& adapter) {
      const CliResult result =
          run_cli({"eval", "--model", model_, "--adapter", adapter, "--data", data_, "--json"});
      return result.code == 0 ? result.json()["loss"].get<double>() : -1.0;
    };
    const double plain = loss(path("first") + "/adapter");
    QVERIFY(plain > 0);
    QCOMPARE(loss(path("first")), plain);
    const std::string name = run_cli({"library", "ls", "--json"}).json()["adapters"].back()["name"];
    QVERIFY(loss(QString::fromStdString(name)) > 0);
    QVERIFY(loss(path("first") + "/best") > 0);
    const CliResult nobody = run_cli({"eval", "--model", model_, "--adapter", "nobody", "--data", data_});
    QCOMPARE(nobody.code, 1);
    QVERIFY2(has(nobody.err, "There is no adapter at this path or of this name"), nobody.err.c_str());
  }

  void n11_steps_that_are_not_finite_pause_the_run_and_name_the_rows() {
    const QString run = path("not-finite");
    const auto engine = start_cli(train(run, {"--max-steps", "100", "--adapter", adapter_of("huge", 3e38f),
                                              "--packing", "false", "--rehearse", "no"}));
    QVERIFY(wait_for_state(run.toStdString(), "paused", *engine));
    RunHistory history = history_of(run);
    QCOMPARE(history.steps.size(), std::size_t{3});
    QVERIFY2(has(history.state_why, "3 steps in a row, up to step 3, gave values that are not finite"),
             history.state_why.c_str());
    QVERIFY2(has(history.state_why, "rows of the last: "), history.state_why.c_str());
    const std::string warnings = warnings_of(run);
    QVERIFY2(has(warnings, "evaluation: The evaluation failed, training goes on: the loss is not finite"),
             warnings.c_str());
    QVERIFY(has(warnings, "skipped_step: Step 2"));
    // It goes on behind those rows when asked to, and asks again.
    QCOMPARE(run_cli({"resume", run}).code, 0);
    QVERIFY(wait_for_step(run.toStdString(), 6, *engine));
    QVERIFY(wait_for_state(run.toStdString(), "paused", *engine));
    QCOMPARE(history_of(run).steps.size(), std::size_t{6});
    QCOMPARE(run_cli({"stop", run}).code, 0);
    QVERIFY(engine->waitForFinished(30'000));
    QCOMPARE(engine->exitCode(), 130);
    const CliResult infinite = run_cli(
        train(path("infinite"), {"--adapter", adapter_of("inf", std::numeric_limits<float>::infinity())}));
    QCOMPARE(infinite.code, 1);
    QVERIFY2(has(infinite.err, "The adapter holds a value that is not finite"), infinite.err.c_str());
  }

  void a_run_that_goes_on_from_an_adapter_says_so_and_needs_it_only_to_begin() {
    const QString run = path("child"), parent = path("parent");
    fs::copy(path("first").toStdString() + "/adapter", parent.toStdString());
    const auto arguments = train(run, {"--max-steps", "100000", "--adapter", parent, "--save-every", "5"});
    {
      const auto engine = start_cli(arguments);
      QVERIFY(wait_for_step(run.toStdString(), 12, *engine));
      ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
      QVERIFY(engine->waitForFinished());
    }
    const std::string sha = sha256_file(parent.toStdString() + "/adapter_model.safetensors");
    QCOMPARE(RunFolder::open(run.toStdString()).read_job().adapter_sha256, sha);
    fs::remove_all(parent.toStdString());
    const auto engine = start_cli({"resume", run});
    QVERIFY(wait_for_step(run.toStdString(), 14, *engine));
    QCOMPARE(run_cli({"stop", run}).code, 0);
    QVERIFY(engine->waitForFinished(30'000));
    const Json notes = read_json_file(run.toStdString() + "/adapter/lorikeet.json");
    QCOMPARE(notes["lineage"].size(), std::size_t{1});
    QCOMPARE(notes["lineage"][0]["sha256"].get<std::string>(), sha);
    QCOMPARE(notes["lineage"][0]["run_id"].get<std::string>(), std::string("first"));
    QVERIFY(has(read_file(run.toStdString() + "/adapter/README.md"),
                "It goes on from the adapter `first/parent`"));
    // The next generation knows both.
    QCOMPARE(run_cli(train(path("grandchild"), {"--max-steps", "1", "--adapter", run})).code, 0);
    QCOMPARE(read_json_file(path("grandchild").toStdString() + "/adapter/lorikeet.json")["lineage"].size(),
             std::size_t{2});
    QVERIFY(warnings_of(path("grandchild")).find("differs") == std::string::npos);
  }

  void what_is_most_likely_not_wanted_is_said_at_the_start() {
    const QString adapter = path("first") + "/adapter";
    QCOMPARE(run_cli(train(path("other-template"),
                           {"--max-steps", "1", "--adapter", adapter, "--template", "none"}))
                 .code,
             0);
    QVERIFY2(has(warnings_of(path("other-template")), "template_differs"),
             warnings_of(path("other-template")).c_str());
    QCOMPARE(run_cli(train(path("other-system"),
                           {"--max-steps", "1", "--adapter", adapter, "--system", "Be brief"}))
                 .code,
             0);
    QVERIFY2(has(warnings_of(path("other-system")), "system_differs"),
             warnings_of(path("other-system")).c_str());
    const QString foreign = path("foreign");
    fs::copy(adapter.toStdString(), foreign.toStdString());
    fs::remove(foreign.toStdString() + "/lorikeet.json");
    QCOMPARE(run_cli(train(path("unknown-template"), {"--max-steps", "1", "--adapter", foreign})).code, 0);
    QVERIFY(has(warnings_of(path("unknown-template")), "template_unknown"));
    Json rows = Json::array();
    for (int i = 0; i < 4; ++i) rows.push_back({{"instruction", "x"}, {"output", std::string(400, 'y')}});
    write_file_atomically(path("endless.json").toStdString(), rows.dump());
    QStringList endless = train(path("endless"), {"--max-steps", "1", "--eval-fraction", "0"});
    endless[endless.indexOf("--data") + 1] = path("endless.json");
    QCOMPARE(run_cli(endless).code, 0);
    QVERIFY2(has(warnings_of(path("endless")), "no_end_token"), warnings_of(path("endless")).c_str());
  }

  void rows_are_grouped_by_length_only_without_packing() {
    const CliResult both = run_cli(train(path("both"), {"--group-by-length", "true", "--max-steps", "2"}));
    QCOMPARE(both.code, 1);
    QVERIFY2(has(both.err, "Packing lays rows of any length together"), both.err.c_str());
    const CliResult grouped = run_cli(
        train(path("grouped"), {"--group-by-length", "true", "--packing", "false", "--max-steps", "2"}));
    QVERIFY2(grouped.code == 0, grouped.err.c_str());
  }
};

QTEST_GUILESS_MAIN(TestCliLoop)
#include "test_cli_loop.moc"

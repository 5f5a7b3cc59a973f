// SPDX-License-Identifier: Apache-2.0
#include <sys/types.h>

#include <QtTest>
#include <csignal>
#include <filesystem>
#include <functional>
#include <random>
#include <set>
#include <sstream>

#include "core/base/files.h"
#include "core/train/run_folder.h"
#include "kernels/base/error.h"
#include "tests/app/cli_support.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

class TestCliTrain : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, data_;

  QString path(const char* name) const { return folder_.path() + "/" + name; }
  QStringList train(const QString& run, const QStringList& more = {}) const {
    return QStringList{"train", "--model",         model_, "--data",       data_, "--run",
                       run,     "--max-steps",     "120",  "--rank",       "8",   "--max-length",
                       "320",   "--eval-fraction", "0.1",  "--save-every", "15",  "--eval-every",
                       "30",    "--learning-rate", "2e-2"} +
           more;
  }
  static std::string adapter_bytes(const QString& run) {
    return read_file(run.toStdString() + "/adapter/adapter_model.safetensors");
  }
  /// The first event that it is true of; keys an event lacks are null.
  static Json event_where(const QString& run, const std::function<bool(const Json&)>& is_wanted) {
    std::istringstream lines(read_file(run.toStdString() + "/events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      Json event = parse_json(line, "events.jsonl");
      for (const char* key : {"state", "step"}) {
        if (!event.contains(key)) event[key] = nullptr;
      }
      if (is_wanted(event)) return event;
    }
    return {};
  }

 private slots:
  void initTestCase() {
    fs::remove_all(qEnvironmentVariable("LORIKEET_HOME").toStdString());  // what an earlier test run left
    model_ = path("model");
    data_ = path("data.json");
    write_tiny_folder(model_.toStdString(), cli_model());
    write_alpaca(data_.toStdString(), 60);
    QCOMPARE(run_cli(train(path("whole"))).code, 0);
  }

  void a_run_leaves_an_adapter_events_and_a_library_entry() {
    const RunHistory history = RunFolder::open(path("whole").toStdString()).read_history();
    QCOMPARE(history.state, RunState::done);
    QCOMPARE(history.steps.size(), std::size_t{120});
    QCOMPARE(history.total_steps, std::int64_t{120});
    double first = 0, last = 0;
    for (std::size_t i = 0; i < 10; ++i) {
      first += history.steps[i].loss / 10;
      last += history.steps[110 + i].loss / 10;
    }
    QVERIFY2(last < 0.9 * first, qPrintable(QString("%1 after %2").arg(last).arg(first)));
    QVERIFY(history.evaluations.back().loss < history.evaluations.front().loss);
    QCOMPARE(history.evaluations.front().step, std::int64_t{0});
    QVERIFY(history.checkpoints.size() >= 8);
    // The last two checkpoints, and the best one beyond them.
    std::set<std::string> kept = {"step-105", "step-120"}, folders;
    kept.insert("step-" + std::to_string(history.done->best_step));
    for (const auto& entry : fs::directory_iterator(path("whole").toStdString() + "/checkpoints"))
      folders.insert(entry.path().filename().string());
    QVERIFY(folders == kept);
    QCOMPARE(history.done->best, std::string("best"));
    for (const char* folder : {"/adapter/", "/best/"}) {
      for (const char* file :
           {"adapter_config.json", "adapter_model.safetensors", "README.md", "lorikeet.json"}) {
        QVERIFY2(fs::exists(path("whole").toStdString() + folder + file), file);
      }
    }
    const auto best = RunFolder::open(path("whole").toStdString()).checkpoint_path(history.done->best_step);
    QVERIFY(read_file(path("whole").toStdString() + "/best/adapter_model.safetensors") ==
            read_file(best + "/adapter_model.safetensors"));
    const CliResult library = run_cli({"library", "ls", "--json"});
    QCOMPARE(library.code, 0);
    QCOMPARE(library.json()["adapters"].size(), std::size_t{1});
    QCOMPARE(library.json()["adapters"][0]["version"].get<int>(), 1);
  }

  void the_same_job_gives_the_same_bytes() {
    QCOMPARE(run_cli(train(path("again"))).code, 0);
    QVERIFY(adapter_bytes(path("again")) == adapter_bytes(path("whole")));
    QVERIFY(comparable_events(path("again").toStdString()) == comparable_events(path("whole").toStdString()));
    const QStringList from_job = {"train", "--job", path("whole") + "/job.json", "--run", path("from-job")};
    QCOMPARE(run_cli(from_job).code, 0);
    QVERIFY(adapter_bytes(path("from-job")) == adapter_bytes(path("whole")));
    const QStringList one_thread = train(path("one-thread"), {"--threads", "1"});
    QCOMPARE(run_cli(one_thread).code, 0);
    QVERIFY(adapter_bytes(path("one-thread")) == adapter_bytes(path("whole")));
  }

  void a_run_killed_at_any_moment_resumes_to_the_same_end() {
    std::mt19937 random(QDateTime::currentMSecsSinceEpoch() & 0xffffffff);
    for (int trial = 0; trial < 3; ++trial) {
      const QString run = path("killed-") + QString::number(trial);
      int at = static_cast<int>(random() % 100) + 1;
      {
        const auto engine = start_cli(train(run));
        QVERIFY(wait_for_step(run.toStdString(), at, *engine));
        ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
        QVERIFY(engine->waitForFinished());
      }
      QVERIFY(RunFolder::open(run.toStdString()).was_killed());
      {
        // Killed a second time while it goes on, and then let go.
        const auto engine = start_cli({"resume", run});
        at = std::min(110, at + 5);
        wait_for_step(run.toStdString(), at, *engine);
        ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
        QVERIFY(engine->waitForFinished());
      }
      const CliResult end = run_cli({"resume", run});
      QVERIFY2(end.code == 0, end.err.c_str());
      QVERIFY2(adapter_bytes(run) == adapter_bytes(path("whole")), qPrintable(QString::number(at)));
      QVERIFY(comparable_events(run.toStdString()) == comparable_events(path("whole").toStdString()));
    }
  }

  void a_stopped_run_keeps_its_steps_and_can_go_on() {
    const QString run = path("stopped");
    const auto engine = start_cli(train(run));
    QVERIFY(wait_for_step(run.toStdString(), 20, *engine));
    QCOMPARE(run_cli({"stop", run}).code, 0);
    QVERIFY(engine->waitForFinished(30'000));
    const RunHistory history = RunFolder::open(run.toStdString()).read_history();
    if (history.steps.size() < 120) {
      QCOMPARE(engine->exitCode(), 130);
      QVERIFY(fs::exists(run.toStdString() + "/adapter/adapter_model.safetensors"));
      QCOMPARE(run_cli({"resume", run}).code, 0);
    }
    QVERIFY(adapter_bytes(run) == adapter_bytes(path("whole")));
  }

  void a_paused_run_waits_and_goes_on() {
    const QString run = path("paused");
    const auto engine = start_cli(train(run, {"--max-steps", "100000"}));
    QVERIFY(wait_for_step(run.toStdString(), 3, *engine));
    QCOMPARE(run_cli({"pause", run}).code, 0);
    QVERIFY(wait_for_state(run.toStdString(), "paused", *engine));
    const auto steps = RunFolder::open(run.toStdString()).read_history().steps.size();
    QVERIFY(fs::exists(RunFolder::open(run.toStdString()).checkpoint_path(static_cast<std::int64_t>(steps))));
    QCOMPARE(run_cli({"resume", run}).code, 0);
    QVERIFY(wait_for_step(run.toStdString(), static_cast<int>(steps) + 2, *engine));
    const CliResult second = run_cli({"train", "--model", model_, "--data", data_, "--run", run});
    QCOMPARE(second.code, 1);
    const CliResult moved = run_cli({"resume", run, "--device", "cpu"});
    QCOMPARE(moved.code, 1);
    QVERIFY2(moved.err.find("--device") != std::string::npos, moved.err.c_str());
    QCOMPARE(run_cli({"stop", run}).code, 0);
    QVERIFY(engine->waitForFinished(30'000));
    QCOMPARE(engine->exitCode(), 130);
    QCOMPARE(run_cli({"pause", run}).code, 1);  // nobody is there any more
    // The pause is in no step's time and not in the time worked.
    const auto paused = event_where(run, [](const Json& event) { return event["state"] == "paused"; });
    const auto on = event_where(run, [&](const Json& event) {
      return event["state"] == "training" && event["time"] > paused["time"];
    });
    const auto at = [&](std::size_t step) {
      return event_where(run,
                         [&](const Json& event) { return event["type"] == "step" && event["step"] == step; });
    };
    const auto between = [](const char* key, const Json& from, const Json& to) {
      return to[key].get<double>() - from[key].get<double>();
    };
    const Json before = at(steps), after = at(steps + 1);
    const double pause = between("time", paused, on);
    QVERIFY(pause > 0.05);
    QVERIFY(between("elapsed_seconds", before, after) < between("time", before, after) - pause / 2);
    const double tokens = between("tokens", before, after);
    QVERIFY(tokens / after["tokens_per_second"].get<double>() < between("time", on, after) + 0.02);
  }

  void a_run_goes_on_with_other_settings_of_the_machine() {
    const QString run = path("moved");
    {
      const auto engine = start_cli(train(run, {"--threads", "2"}));
      QVERIFY(wait_for_step(run.toStdString(), 20, *engine));
      ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
      QVERIFY(engine->waitForFinished());
    }
    const RunFolder folder = RunFolder::open(run.toStdString());
    const std::string events = read_file(folder.path() + "/events.jsonl");
    qputenv("CUDA_VISIBLE_DEVICES", "");
    const CliResult none = run_cli({"resume", run, "--device", "cuda"});
    qunsetenv("CUDA_VISIBLE_DEVICES");
    QCOMPARE(none.code, 1);
    QVERIFY2(none.err.find("CUDA") != std::string::npos, none.err.c_str());
    QVERIFY(read_file(folder.path() + "/events.jsonl") == events);  // and the run is as it was
    QCOMPARE(run_cli({"resume", run, "--threads", "many"}).code, 2);
    const CliResult end = run_cli({"resume", run, "--device", "cpu", "--threads", "1"});
    QVERIFY2(end.code == 0, end.err.c_str());
    QVERIFY2(end.out.find("Look: The run goes on with another device") != std::string::npos, end.out.c_str());
    QVERIFY(adapter_bytes(run) == adapter_bytes(path("whole")));
    const Settings settings = folder.read_job().settings;
    QVERIFY(settings.device == "cpu" && settings.threads == 1);
    const auto warnings = folder.read_history().warnings;
    QVERIFY(std::any_of(warnings.begin(), warnings.end(),
                        [](const WarningEvent& warning) { return warning.code == "machine_changed"; }));
  }

  void changed_data_is_not_resumed() {
    const QString run = path("changed"), data = path("changing.json");
    write_alpaca(data.toStdString(), 40);
    const QStringList arguments = {"train", "--model", model_,        "--data", data,
                                   "--run", run,       "--max-steps", "100000"};
    const auto engine = start_cli(arguments);
    QVERIFY(wait_for_step(run.toStdString(), 12, *engine));
    ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
    QVERIFY(engine->waitForFinished());
    write_alpaca(data.toStdString(), 41);
    const CliResult result = run_cli({"resume", run});
    QCOMPARE(result.code, 1);
    QVERIFY2(result.err.find("changed since this run began") != std::string::npos, result.err.c_str());
  }

  void changed_evaluation_data_is_not_resumed() {
    const QString run = path("changed-evaluation"), data = path("evaluation.json");
    write_alpaca(data.toStdString(), 5);
    const auto engine = start_cli(train(run, {"--eval-data", data, "--max-steps", "100000"}));
    QVERIFY(wait_for_step(run.toStdString(), 16, *engine));
    ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
    QVERIFY(engine->waitForFinished());
    write_alpaca(data.toStdString(), 6);
    const CliResult result = run_cli({"resume", run});
    QCOMPARE(result.code, 1);
    QVERIFY2(result.err.find("The evaluation file") != std::string::npos, result.err.c_str());
    QVERIFY2(result.err.find("--adapter " + run.toStdString() + "/checkpoints/step-") != std::string::npos,
             result.err.c_str());
  }

  void R11_a_run_goes_on_as_it_began_but_for_watching_and_the_machine() {
    const QString run = path("settings");
    const auto engine = start_cli(train(run, {"--max-steps", "60"}));
    QVERIFY(wait_for_step(run.toStdString(), 16, *engine));
    ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
    QVERIFY(engine->waitForFinished());
    const CliResult other_batch = run_cli({"resume", run, "--batch-size", "8"});
    QCOMPARE(other_batch.code, 1);
    QVERIFY2(other_batch.err.find("batch-size was 2 and would be 8 now") != std::string::npos,
             other_batch.err.c_str());
    QVERIFY2(other_batch.err.find("lorikeet train --adapter") != std::string::npos, other_batch.err.c_str());
    // Behind our back, in the file, it is found as well: by what the checkpoint says.
    const std::string job = run.toStdString() + "/job.json", as_it_was = read_file(job);
    std::string changed = as_it_was;
    changed.replace(changed.find("\"accumulation\": 4"), 17, "\"accumulation\": 2");
    write_file_atomically(job, changed);
    const CliResult behind = run_cli({"resume", run});
    QCOMPARE(behind.code, 1);
    QVERIFY2(behind.err.find("accumulation was 4 and would be 2 now") != std::string::npos,
             behind.err.c_str());
    write_file_atomically(job, as_it_was);
    // What only watches may change.
    const CliResult watched = run_cli({"resume", run, "--save-every", "7", "--eval-every", "20"});
    QVERIFY2(watched.code == 0, watched.err.c_str());
    const RunFolder folder = RunFolder::open(run.toStdString());
    QCOMPARE(folder.read_job().settings.save_every, std::int64_t{7});
    QCOMPARE(folder.read_history().steps.size(), std::size_t{60});
    QCOMPARE(folder.read_history().total_steps, std::int64_t{60});
  }

  void R18_a_finished_run_is_not_resumed_but_trained_on() {
    const CliResult finished = run_cli({"resume", path("whole")});
    QCOMPARE(finished.code, 1);
    QVERIFY2(finished.err.find("This run is finished") != std::string::npos, finished.err.c_str());
    QVERIFY2(finished.err.find("lorikeet train --adapter") != std::string::npos, finished.err.c_str());
    const QString run = path("trained-on"), data = path("new.json");
    write_alpaca(data.toStdString(), 20);
    QStringList arguments = train(run, {"--adapter", path("whole") + "/adapter", "--max-steps", "3"});
    arguments[arguments.indexOf("--data") + 1] = data;
    const CliResult result = run_cli(arguments);
    QVERIFY2(result.code == 0, result.err.c_str());
    QCOMPARE(RunFolder::open(run.toStdString()).read_history().steps.size(), std::size_t{3});
    QVERIFY(adapter_bytes(run) != adapter_bytes(path("whole")));
  }

  void a_lock_of_a_killed_engine_is_no_obstacle() {
    const QString run = path("locked");
    const auto engine = start_cli(train(run, {"--max-steps", "100000"}));
    QVERIFY(wait_for_step(run.toStdString(), 3, *engine));
    // While it lives another one is refused, and it is not disturbed.
    const CliResult second = run_cli({"resume", run, "--json"});
    QVERIFY2(second.code == 0, second.err.c_str());  // a request: it is not paused, so nothing changes
    try {
      RunFolder other = RunFolder::open(run.toStdString());
      other.lock();
      QFAIL("two engines on one run");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::locked);
    }
    ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
    QVERIFY(engine->waitForFinished());
    QVERIFY(fs::exists(run.toStdString() + "/lock"));
    RunFolder other = RunFolder::open(run.toStdString());
    QVERIFY(!other.is_alive());
    other.lock();
  }

  void training_goes_on_from_an_adapter() {
    const QString run = path("further");
    const CliResult result =
        run_cli(train(run, {"--adapter", path("whole") + "/adapter", "--max-steps", "25"}));
    QVERIFY2(result.code == 0, result.err.c_str());
    const double first = RunFolder::open(run.toStdString()).read_history().steps.front().loss;
    const double fresh = RunFolder::open(path("whole").toStdString()).read_history().steps.front().loss;
    QVERIFY2(first < 0.8 * fresh, qPrintable(QString("%1 against %2").arg(first).arg(fresh)));
    // The adapter brings its rank along; another one is refused by name.
    const QStringList plain = {
        "train",       "--model", model_,         "--data", data_,  "--adapter", path("whole") + "/adapter",
        "--max-steps", "2",       "--max-length", "320",    "--run"};
    QCOMPARE(run_cli(plain + QStringList{path("carried")}).code, 0);
    QCOMPARE(RunFolder::open(path("carried").toStdString()).read_job().settings.rank, std::int64_t{8});
    const CliResult other = run_cli(plain + QStringList{path("other-rank"), "--rank", "16"});
    QCOMPARE(other.code, 1);
    QVERIFY2(other.err.find("rank 16 differs from the adapter's 8") != std::string::npos, other.err.c_str());
  }

  void evaluation_agrees_with_the_run() {
    const CliResult with = run_cli(
        {"eval", "--model", model_, "--adapter", path("whole") + "/adapter", "--data", data_, "--json"});
    const CliResult without =
        run_cli({"eval", "--model", model_, "--data", data_, "--template", "alpaca", "--json"});
    QVERIFY2(with.code == 0 && without.code == 0, with.err.c_str());
    QVERIFY(with.json()["loss"].get<double>() < 0.8 * without.json()["loss"].get<double>());
    QCOMPARE(with.json()["rows"].get<int>(), 60);
  }

  void plan_and_run_agree() {
    QStringList arguments = train(path("unused"));
    arguments[0] = "plan";
    arguments.removeAt(arguments.indexOf("--run") + 1);
    arguments.removeAt(arguments.indexOf("--run"));
    arguments.removeAt(arguments.indexOf("--max-steps") + 1);
    arguments.removeAt(arguments.indexOf("--max-steps"));
    const CliResult plan = run_cli(arguments + QStringList{"--json"});
    QVERIFY2(plan.code == 0, plan.err.c_str());
    QVERIFY(plan.json()["fits"].get<bool>());
    QCOMPARE(plan.json()["rows"].get<int>() + plan.json()["evaluation_rows"].get<int>(), 60);
    QVERIFY(plan.json()["steps"].get<int>() < 20);
    QVERIFY(!plan.json()["warnings"].empty());  // said to be too short
    // Sample prompts have a cache of their own, and it is counted.
    const Json memory = plan.json()["memory"];
    QCOMPARE(memory["samples"].get<std::uint64_t>(), std::uint64_t{0});
    const CliResult asking = run_cli(arguments + QStringList{"--sample-prompts", "Who?", "--json"});
    const Json more = asking.json()["memory"];
    const auto caches =
        static_cast<std::uint64_t>(2 * 2 * 512 * 16 * 2);  // layers, tokens, keys, bf16 at least
    QVERIFY(more["samples"].get<std::uint64_t>() >= caches);
    QVERIFY(more["total"].get<std::uint64_t>() >= memory["total"].get<std::uint64_t>() + caches);
    QVERIFY(run_cli(arguments + QStringList{"--sample-prompts", "Who?"}).out.find("sample answers") !=
            std::string::npos);
  }
};

QTEST_GUILESS_MAIN(TestCliTrain)
#include "test_cli_train.moc"

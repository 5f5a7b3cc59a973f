// SPDX-License-Identifier: Apache-2.0
// The coach on real runs of the sample model: twelve that go wrong in a known way and ten that do not. Each
// is a job as a person could write it, trained by run_job from a run folder; the coach reads what
// events.jsonl says.
#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <stop_token>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/safetensors.h"
#include "core/train/coach.h"
#include "core/train/run_job.h"
#include "core/train/run_report.h"
#include "kernels/base/error.h"

using namespace lorikeet;
namespace fs = std::filesystem;

namespace {

using Flags = std::vector<std::pair<std::string, std::string>>;
using Rows = std::vector<Json>;

/// A job: flags beside those of a good run, and what becomes of the sample's rows and model.
struct Script {
  const char* name;
  Flags flags;
  std::function<void(Rows&)> rows;
  bool broken_model = false;
  double seen = 1;  ///< share of the run that the coach has seen when it is asked
};

Rows first(Rows rows, std::size_t count) {
  rows.resize(std::min(rows.size(), count));
  return rows;
}

std::string random_words(std::mt19937_64& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (int letter = 0; letter < 4; ++letter) text += static_cast<char>('a' + random() % 26);
    text += ' ';
  }
  return text;
}

void answers_of_chance(Rows& rows) {
  std::mt19937_64 random(7);
  for (auto& row : rows) row["output"] = random_words(random, 12);
}
void long_questions_short_answers(Rows& rows) {
  std::string filler;
  for (int i = 0; i < 20; ++i) filler += "The fox and the hare went to the wood and saw the lantern. ";
  for (auto& row : rows) {
    row["input"] = filler;
    row["output"] = "y";
  }
}
void answers_of_one_word(Rows& rows) {
  for (auto& row : rows)
    row["output"] = row["instruction"].get<std::string>().find("fox") == std::string::npos ? "no" : "fox";
}

const std::vector<Script>& failures() {
  static const std::vector<Script> scripts = {
      {"divergence: rate a hundred times too high", {{"learning-rate", "0.8"}}, {}},
      {"divergence: a rate that grows for the whole run",
       {{"learning-rate", "0.4"}, {"warmup-ratio", "1"}, {"max-steps", "120"}},
       {}},
      {"rate_too_high: no clipping, no warm-up",
       {{"learning-rate", "0.3"}, {"max-grad-norm", "0"}, {"warmup-ratio", "0"}},
       {}},
      {"rate_too_high: small batches",
       {{"learning-rate", "0.12"}, {"batch-size", "1"}, {"packing", "false"}},
       {}},
      {"rate_too_low: of big models' full training", {{"learning-rate", "1e-6"}}, {}},
      {"rate_too_low: constant", {{"learning-rate", "3e-6"}, {"schedule", "constant"}}, {}},
      {"overfitting: few rows, many epochs",
       {{"eval-fraction", "0.5"}, {"eval-every", "10"}, {"max-steps", "100"}, {"batch-size", "4"}},
       [](Rows& rows) { rows = first(rows, 24); }},
      {"overfitting: answers that have no rule",
       {{"eval-fraction", "0.3"},
        {"eval-every", "20"},
        {"max-steps", "240"},
        {"schedule", "constant"},
        {"batch-size", "4"}},
       [](Rows& rows) {
         rows = first(rows, 20);
         answers_of_chance(rows);
       }},
      {"masked_out: a letter after pages",
       {{"max-length", "512"}, {"max-steps", "20"}, {"batch-size", "2"}},
       long_questions_short_answers},
      {"masked_out: cut just behind the question",
       {{"max-length", "512"}, {"max-steps", "20"}, {"batch-size", "2"}},
       [](Rows& rows) {
         long_questions_short_answers(rows);
         for (std::size_t i = 0; i < rows.size(); i += 3)
           rows[i]["input"] = rows[i]["input"].get<std::string>() + "Once more.";
       }},
      {"not_finite: a broken weight", {{"max-steps", "30"}}, {}, true},
      {"plateau: answers of chance",
       {{"schedule", "constant"}, {"max-steps", "160"}, {"epochs", "1"}, {"eval-every", "16"}},
       answers_of_chance,
       false,
       0.6},
  };
  return scripts;
}

const std::vector<Script>& good_runs() {
  static const std::vector<Script> scripts = {
      {"the sample", {}, {}},
      {"another seed, cosine", {{"seed", "11"}, {"schedule", "cosine"}}, {}},
      {"constant rate", {{"schedule", "constant"}, {"learning-rate", "0.004"}}, {}},
      {"small batches without packing",
       {{"packing", "false"}, {"batch-size", "2"}, {"accumulation", "2"}, {"learning-rate", "0.004"}},
       {}},
      {"32-bit optimiser, 16-bit base", {{"optimizer", "adamw"}, {"quantization", "none"}}, {}},
      {"a rank of 4 on attention alone", {{"rank", "4"}, {"alpha", "8"}, {"targets", "q_proj,v_proj"}}, {}},
      {"no evaluation", {{"eval-fraction", "0"}}, {}},
      {"answers of one word", {{"max-steps", "40"}}, answers_of_one_word},
      {"few rows, one epoch",
       {{"max-steps", "0"}, {"epochs", "1"}, {"batch-size", "2"}},
       [](Rows& rows) { rows = first(rows, 60); }},
      {"a long warm-up", {{"warmup-ratio", "0.5"}, {"schedule", "inverse-sqrt"}}, {}},
  };
  return scripts;
}

/// The history as it was when `share` of the steps were done.
RunHistory prefix(const RunHistory& whole, double share) {
  RunHistory part = whole;
  const auto last = static_cast<std::int64_t>(share * static_cast<double>(whole.total_steps));
  const auto beyond = [&](const auto& event) { return event.step > last; };
  std::erase_if(part.steps, beyond);
  std::erase_if(part.evaluations, beyond);
  std::erase_if(part.norms, beyond);
  if (share < 1) part.done.reset();
  return part;
}

std::string names_of(const std::vector<Advice>& advice) {
  std::string names;
  for (const auto& one : advice) names += std::string(names.empty() ? "" : ", ") + to_string(one.trouble);
  return names.empty() ? "nothing" : names;
}

}  // namespace

class TestCoach : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  Rows rows_;
  int count_ = 0, named_ = 0;

  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// A copy of the sample model with a weight of its last norm that no product survives.
  std::string broken_model() const {
    const std::string copy = path("broken");
    if (fs::exists(copy)) return copy;
    fs::copy(LORIKEET_SAMPLES "/nest", copy, fs::copy_options::recursive);
    const std::string name = copy + "/model.safetensors";
    std::string bytes = read_file(name);
    const SafetensorsHeader header = parse_safetensors(std::as_bytes(std::span(bytes)), name);
    const auto norm = std::find_if(header.tensors.begin(), header.tensors.end(),
                                   [](const auto& tensor) { return tensor.name == "model.norm.weight"; });
    if (norm == header.tensors.end()) throw Error(ErrorCode::bad_format, "The sample model has no last norm");
    bytes.replace(header.data_start + norm->begin, 4, 4, '\x7f');  // 3.4e38 in f32 and in bf16
    std::ofstream(name, std::ios::binary) << bytes;
    return copy;
  }

  std::pair<RunHistory, Settings> run(const Script& script) {
    Rows rows = rows_;
    if (script.rows) script.rows(rows);
    const std::string data = path("data-" + std::to_string(++count_) + ".json");
    std::ofstream(data) << Json(rows).dump();
    Job job;
    job.name = script.name;
    job.model_path = script.broken_model ? broken_model() : LORIKEET_SAMPLES "/nest";
    job.data_path = data;
    Flags flags = {
        {"template", "alpaca"},    {"rank", "32"},       {"alpha", "32"},        {"max-length", "256"},
        {"max-steps", "80"},       {"batch-size", "8"},  {"accumulation", "1"},  {"learning-rate", "0.008"},
        {"eval-fraction", "0.05"}, {"eval-every", "20"}, {"save-every", "1000"}, {"threads", "1"}};
    flags.insert(flags.end(), script.flags.begin(), script.flags.end());
    for (const auto& [key, value] : flags) set_setting(job.settings, key, value);
    RunFolder folder = RunFolder::create(path("run-" + std::to_string(count_)), job);
    // Values that are not finite pause a run; nobody is here to go on with it.
    std::stop_source stop;
    RunJobOptions options;
    options.stop = stop.get_token();
    options.progress = [&](const RunProgress& progress) {
      if (progress.state == RunState::paused) stop.request_stop();
    };
    run_job(folder, options);
    return {folder.read_history(), job.settings};
  }

 private slots:
  void initTestCase() {
    const Json rows = parse_json(read_file(LORIKEET_SAMPLES "/stories.json"), "stories.json");
    for (const auto& row : rows) rows_.push_back(row);
  }

  void failures_are_named_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < failures().size(); ++i)
      QTest::newRow(failures()[i].name) << static_cast<int>(i);
  }
  void failures_are_named() {
    QFETCH(int, index);
    const Script& script = failures()[static_cast<std::size_t>(index)];
    const std::string expected = std::string(script.name).substr(0, std::string(script.name).find(':'));
    const auto [history, settings] = run(script);
    const auto advice = coach(prefix(history, script.seen), settings);
    const std::string named = advice.empty() ? "nothing" : to_string(advice.front().trouble);
    qInfo("%-52s -> %s%s%s", script.name, names_of(advice).c_str(), advice.empty() ? "" : " | ",
          advice.empty() ? "" : advice.front().evidence.c_str());
    named_ += named == expected;
    if (advice.empty() || named != expected) return;
    QVERIFY(!advice.front().what.empty() && !advice.front().suggestion.empty());
    Settings next = settings;
    for (const auto& [key, value] : advice.front().settings)
      set_setting(next, key, value);  // throws when not allowed
  }
  void eleven_of_twelve_failures_are_named_right() {
    qInfo("%d of %d named right", named_, static_cast<int>(failures().size()));
    QVERIFY2(named_ >= 11, qPrintable(QString::number(named_)));
  }

  void good_runs_give_no_alarm_at_any_time_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < good_runs().size(); ++i)
      QTest::newRow(good_runs()[i].name) << static_cast<int>(i);
  }
  void good_runs_give_no_alarm_at_any_time() {
    QFETCH(int, index);
    const Script& script = good_runs()[static_cast<std::size_t>(index)];
    const auto [history, settings] = run(script);
    QVERIFY(history.done.has_value());
    qInfo("%-52s loss %.3f -> %.3f", script.name, history.steps.front().loss, history.steps.back().loss);
    for (int percent = 5; percent <= 100; percent += 5) {
      const auto advice = coach(prefix(history, percent / 100.0), settings);
      QVERIFY2(advice.empty(), qPrintable(QString("at %1 %: %2: %3")
                                              .arg(percent)
                                              .arg(QString::fromStdString(names_of(advice)))
                                              .arg(advice.empty() ? "" : advice.front().evidence.c_str())));
    }
  }

  void a_run_tells_norms_data_and_phases() {
    const auto [history, settings] = run({"facts", {{"max-steps", "12"}, {"eval-every", "6"}}, {}});
    QVERIFY(history.data && history.data->rows > 0 && history.data->trained_tokens < history.data->tokens);
    QCOMPARE(history.norms.size(), std::size_t{12});
    for (const auto& norms : history.norms) {
      double squares = 0;
      for (const double gradient : norms.gradient) squares += gradient * gradient;
      const double whole = history.steps[static_cast<std::size_t>(norms.step - 1)].grad_norm;
      QVERIFY(std::abs(std::sqrt(squares) - whole) <= 1e-3 * whole);
      QCOMPARE(norms.update.size(), norms.gradient.size());
      for (const double parameter : norms.parameter) QVERIFY(parameter > 0);
    }
    double sum = 0;
    for (const auto& [name, seconds] : history.seconds_by_phase) sum += seconds;
    const auto has = [&](const char* phase) {
      return std::any_of(history.seconds_by_phase.begin(), history.seconds_by_phase.end(),
                         [&](const auto& entry) { return entry.first == phase; });
    };
    QVERIFY(has("load") && has("train") && has("evaluate") && has("save"));
    QVERIFY(sum >= history.steps.back().elapsed_seconds * 0.9);

    const Json report = run_report(history, settings);
    QCOMPARE(report["steps"].get<int>(), 12);
    QCOMPARE(report["evaluations"].size(), std::size_t{3});
    QCOMPARE(report["layers"].size(), history.norms.back().update.size());
    QVERIFY(report["layers"][0]["update_share"].get<double>() > 0);
    QVERIFY(report["phases"]["train"]["share"].get<double>() > 0);
    QCOMPARE(report["rows"]["training"].get<std::int64_t>(), history.data->rows);
    QVERIFY(report["coach"].is_array());
  }
};

QTEST_GUILESS_MAIN(TestCoach)
#include "test_coach.moc"

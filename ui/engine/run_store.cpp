// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_store.h"

#include <QFileInfo>
#include <QTimer>
#include <algorithm>
#include <map>

#include "kernels/base/error.h"
#include "ui/engine/run_tail.h"
#include "ui/widgets/background.h"
#include "ui/widgets/banner.h"

namespace lorikeet::ui {

std::optional<double> RunSummary::secondsLeft() const {
  if (!alive || step < 2 || totalSteps <= step || elapsedSeconds <= 0) return std::nullopt;
  return elapsedSeconds / static_cast<double>(step) * static_cast<double>(totalSteps - step);
}

/// Keeps what was read of each run, so that a scan reads only what is new. One scan runs at a time.
struct RunStore::Scanner {
  struct Known {
    explicit Known(const std::string& path) : tail(path) {}
    RunTail tail;
    Job job;
    bool hasJob = false;
  };
  std::string folder;
  std::map<std::string, std::unique_ptr<Known>> known;

  std::vector<RunSummary> scan();
  static std::optional<RunSummary> summarise(const std::string& path, Known& known);
};

std::vector<RunSummary> RunStore::Scanner::scan() {
  std::vector<RunSummary> runs;
  std::map<std::string, std::unique_ptr<Known>> still;
  for (const std::string& path : list_runs(folder)) {
    auto& entry = still[path];
    const auto before = known.find(path);
    entry = before != known.end() ? std::move(before->second) : std::make_unique<Known>(path);
    if (auto run = summarise(path, *entry)) runs.push_back(std::move(*run));
  }
  known = std::move(still);
  std::stable_sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) {
    return a.alive != b.alive ? a.alive : a.changed > b.changed;
  });
  return runs;
}

std::optional<RunSummary> RunStore::Scanner::summarise(const std::string& path, Known& known) {
  RunSummary run;
  run.path = QString::fromStdString(path);
  try {
    const RunFolder folder = RunFolder::open(path);
    run.alive = folder.is_alive();
    if (!known.hasJob || run.alive) {
      known.job = folder.read_job();
      known.hasJob = true;
    }
  } catch (const std::exception&) {
    return std::nullopt;  // not a run, or a job.json written by a newer version
  }
  known.tail.poll();
  const RunHistory& history = known.tail.history();
  const QFileInfo model(QString::fromStdString(known.job.model_path));
  run.modelPath = model.filePath();
  run.modelName =
      known.job.base_name.empty() ? model.fileName() : QString::fromStdString(known.job.base_name);
  if (run.modelName.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) run.modelName.chop(5);
  run.dataName = QFileInfo(QString::fromStdString(known.job.data_path)).fileName();
  run.name = known.job.name.empty() ? QFileInfo(run.path).fileName() : QString::fromStdString(known.job.name);
  run.state = history.state;
  run.started = history.last_time > 0;
  run.killed = run.started && !run.alive && run.state != RunState::done && run.state != RunState::failed;
  run.why = QString::fromStdString(history.error ? history.error->what : history.state_why);
  run.totalSteps = history.total_steps;
  if (!history.steps.empty()) {
    const StepEvent& last = history.steps.back();
    run.step = last.step;
    run.loss = last.loss;
    run.tokensPerSecond = last.tokens_per_second;
    run.elapsedSeconds = last.elapsed_seconds;
  }
  for (const EvalEvent& eval : history.evaluations) {
    if (!run.evalLoss || eval.loss < *run.evalLoss) run.evalLoss = eval.loss;
  }
  run.changed = run.started ? QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(history.last_time * 1000))
                            : QFileInfo(run.path + QStringLiteral("/job.json")).lastModified();
  if (history.done)
    run.adapterPath = run.path + QLatin1Char('/') + QString::fromStdString(history.done->adapter);
  return run;
}

RunStore::RunStore(QString runsFolder, QObject* parent)
    : QObject(parent),
      m_folder(std::move(runsFolder)),
      m_scanner(std::make_shared<Scanner>()),
      m_timer(new QTimer(this)) {
  m_scanner->folder = m_folder.toStdString();
  connect(m_timer, &QTimer::timeout, this, &RunStore::refresh);
}

RunStore::~RunStore() = default;

void RunStore::watch(bool on) {
  on ? m_timer->start(1000) : m_timer->stop();
  if (on) refresh();
}

void RunStore::refresh() {
  if (m_busy) return;
  m_busy = true;
  inBackground<std::vector<RunSummary>>(
      this, [scanner = m_scanner] { return scanner->scan(); },
      [this](std::vector<RunSummary> runs) {
        m_busy = false;
        const bool first = !m_loaded;
        m_loaded = true;
        if (!first && runs == m_runs) return;
        std::vector<RunSummary> ended;
        for (const RunSummary& run : runs) {
          const RunSummary* before = find(run.path);
          if (before && before->alive && !run.alive) ended.push_back(run);
        }
        m_runs = std::move(runs);
        emit changed();
        for (const RunSummary& run : ended) emit finished(run);
      });
}

const RunSummary* RunStore::find(const QString& path) const {
  const auto found =
      std::find_if(m_runs.begin(), m_runs.end(), [&](const RunSummary& run) { return run.path == path; });
  return found == m_runs.end() ? nullptr : &*found;
}

const RunSummary* RunStore::live() const {
  const auto found =
      std::find_if(m_runs.begin(), m_runs.end(), [](const RunSummary& run) { return run.alive; });
  return found == m_runs.end() ? nullptr : &*found;
}

void RunStore::request(const QString& runPath, ControlRequest request) {
  inBackground<QString>(
      this,
      [path = runPath.toStdString(), request]() -> QString {
        try {
          RunFolder::open(path).request(request);
          return {};
        } catch (const std::exception&) {
          const Problem problem = currentProblem();
          return problem.where.isEmpty() ? problem.what
                                         : problem.what + QStringLiteral(" · ") + problem.where;
        }
      },
      [this](const QString& problem) {
        if (!problem.isEmpty()) emit requestFailed(problem);
      });
}

}  // namespace lorikeet::ui

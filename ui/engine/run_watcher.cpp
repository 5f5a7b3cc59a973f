// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_watcher.h"

#include <QTimer>

#include "kernels/base/error.h"
#include "ui/engine/run_tail.h"
#include "ui/widgets/background.h"

namespace lorikeet::ui {

/// Lives on whichever pool thread polls; only one poll runs at a time.
struct RunWatcher::Shared {
  explicit Shared(std::string path) : tail(std::move(path)) {}
  RunTail tail;
  std::size_t sent = 0;
  StepEvent lastSent;

  struct Result {
    bool changed = false;
    RunUpdate update;
  };
  Result poll();
};

namespace {

bool runIsAlive(const std::string& path) {
  try {
    return RunFolder::open(path).is_alive();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

RunWatcher::Shared::Result RunWatcher::Shared::poll() {
  Result result;
  // Alive is read before the events: an engine that says "done" and leaves is never seen as killed.
  result.update.alive = runIsAlive(tail.runPath());
  result.changed = tail.poll();
  const RunHistory& history = tail.history();
  RunUpdate& update = result.update;
  update.reset = history.steps.size() < sent ||
                 (sent > 0 && (history.steps[sent - 1].step != lastSent.step ||
                               history.steps[sent - 1].elapsed_seconds != lastSent.elapsed_seconds));
  const std::size_t from = update.reset ? 0 : sent;
  update.steps.assign(history.steps.begin() + static_cast<std::ptrdiff_t>(from), history.steps.end());
  sent = history.steps.size();
  if (sent > 0) lastSent = history.steps.back();
  update.evaluations = history.evaluations;
  update.samples = history.samples;
  update.checkpoints = history.checkpoints;
  update.warnings = history.warnings;
  update.state = history.state;
  update.why = QString::fromStdString(history.state_why);
  update.totalSteps = history.total_steps;
  update.lastTime = history.last_time;
  update.error = history.error;
  update.done = history.done;
  update.started = history.last_time > 0;
  return result;
}

RunWatcher::RunWatcher(QString runPath, QObject* parent)
    : QObject(parent),
      m_path(std::move(runPath)),
      m_shared(std::make_shared<Shared>(m_path.toStdString())),
      m_timer(new QTimer(this)) {
  connect(m_timer, &QTimer::timeout, this, &RunWatcher::pollNow);
}

RunWatcher::~RunWatcher() = default;

void RunWatcher::start(int milliseconds) {
  m_timer->start(milliseconds);
  pollNow();
}

void RunWatcher::stop() {
  m_timer->stop();
}

void RunWatcher::pollNow() {
  if (m_busy) return;
  m_busy = true;
  inBackground<Shared::Result>(
      this, [shared = m_shared] { return shared->poll(); },
      [this](Shared::Result result) {
        m_busy = false;
        const bool news = m_first || result.changed || result.update.alive != m_wasAlive;
        m_first = false;
        m_wasAlive = result.update.alive;
        if (news) emit updated(result.update);
      });
}

}  // namespace lorikeet::ui

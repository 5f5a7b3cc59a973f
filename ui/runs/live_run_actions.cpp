// SPDX-License-Identifier: GPL-3.0-or-later
// What LiveRun offers in each phase of a run, and what it says when something went wrong.
#include <QFileInfo>
#include <QPushButton>
#include <QTimer>

#include "ui/charts/loss_chart.h"
#include "ui/engine/run_launcher.h"
#include "ui/engine/run_store.h"
#include "ui/runs/live_run.h"
#include "ui/runs/loss_card.h"
#include "ui/runs/run_words.h"
#include "ui/widgets/background.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

LiveRun::Phase LiveRun::phase() const {
  if (!m_now.started) {
    return m_now.alive || m_sinceOpened.elapsed() < 8000 ? Phase::starting : Phase::ended;
  }
  if (m_now.state == RunState::done) return Phase::done;
  if (m_now.state == RunState::failed) return Phase::ended;
  if (!m_now.alive) {
    // A resumed engine needs a moment until it holds the run again.
    if (m_sinceOpened.elapsed() < 8000 && m_asked) return Phase::starting;
    return m_now.state == RunState::paused ? Phase::closed : Phase::ended;
  }
  switch (m_now.state) {
    case RunState::pausing:
      return Phase::pausing;
    case RunState::paused:
      return Phase::paused;
    case RunState::waiting:
      return Phase::waiting;
    case RunState::stopping:
      return Phase::stopping;
    case RunState::loading:
      return Phase::starting;
    default:
      return Phase::running;
  }
}

void LiveRun::showState() {
  if (m_path.isEmpty()) return;
  RunSummary summary;
  summary.state = m_now.state;
  summary.started = m_now.started;
  summary.alive = m_now.alive;
  summary.killed = m_now.killed();
  summary.totalSteps = m_now.totalSteps;
  const auto& steps = m_loss->chart()->series().steps();
  summary.step = steps.empty() ? 0 : steps.back().step;
  const Phase now = phase();
  if (now == Phase::starting) summary.alive = true;
  const RunWords words = runWords(summary);
  m_head->setChip(words.state, words.tone, words.icon);
  showActions(now);
  showTrouble(now);
}

void LiveRun::showActions(Phase now) {
  struct Offer {
    QString primary, icon;
    bool primaryOn, checkpoint, stop;
  };
  const bool hasCheckpoint = !m_now.checkpoints.empty();
  const auto offer = [&]() -> Offer {
    switch (now) {
      case Phase::starting:
        return {tr("Pause"), QStringLiteral("pause"), false, false, m_now.alive};
      case Phase::running:
        return {tr("Pause"), QStringLiteral("pause"), true, true, true};
      case Phase::pausing:
        return {tr("Pauses after this step …"), QStringLiteral("pause"), false, false, true};
      case Phase::paused:
        return {tr("Go on"), QStringLiteral("play"), true, false, true};
      case Phase::stopping:
        return {tr("Stopping …"), QStringLiteral("stop"), false, false, false};
      case Phase::waiting:
        return {tr("Try again"), QStringLiteral("refresh"), true, false, true};
      case Phase::closed:
        return {tr("Go on"), QStringLiteral("play"), true, false, false};
      case Phase::ended:
        return {hasCheckpoint ? tr("Go on from step %1").arg(countText(m_now.checkpoints.back().step))
                              : tr("Start again"),
                QStringLiteral("play"), true, false, false};
      case Phase::done:
        return {tr("Compare in chat"), QStringLiteral("chat"), true, false, true};
    }
    return {};
  }();
  const bool done = now == Phase::done;
  m_primary->setText(offer.primary);
  setButtonKind(m_primary, ButtonKind::primary, offer.icon);
  m_primary->setEnabled(offer.primaryOn && !m_asked);
  m_checkpoint->setVisible(!done && now != Phase::ended && now != Phase::closed);
  m_checkpoint->setEnabled(offer.checkpoint && !m_asked);
  m_stop->setVisible(now != Phase::ended && now != Phase::closed);
  m_stop->setEnabled(offer.stop);
  m_stop->setText(done ? tr("Export…") : tr("Stop and keep"));
  setButtonKind(m_stop, ButtonKind::plain, done ? QStringLiteral("export") : QStringLiteral("stop"));
}

void LiveRun::showTrouble(Phase now) {
  const auto& steps = m_loss->chart()->series().steps();
  const QString step = steps.empty() ? QString() : countText(steps.back().step);
  const bool waits = now == Phase::waiting;
  if (now != Phase::ended && !waits) {
    m_banner->clear();
  } else if (m_now.error) {
    m_banner->showProblem(
        {fromUtf8(m_now.error->what), shortPath(fromUtf8(m_now.error->where)), fromUtf8(m_now.error->hint)});
  } else if (!m_now.started) {
    m_banner->showProblem({tr("The engine ended before it could start"),
                           shortPath(m_path + QStringLiteral("/engine.log")), tr("The log says why")});
  } else if (waits) {
    m_banner->showProblem({m_now.why.isEmpty() ? tr("The run waits for you") : m_now.why, {}, {}});
  } else {
    m_banner->showProblem(
        {step.isEmpty() ? tr("The engine was killed while it loaded, probably out of memory")
                        : tr("The engine was killed after step %1, probably out of memory").arg(step),
         {},
         m_now.checkpoints.empty() ? tr("Nothing else was touched. No checkpoint was written yet.")
                                   : tr("Nothing else was touched. The checkpoint of step %1 is kept.")
                                         .arg(countText(m_now.checkpoints.back().step))});
  }
  if (m_banner->isVisibleTo(this)) {
    QPushButton* log = makeButton(tr("Show log"), ButtonKind::plain, QStringLiteral("terminal"));
    connect(log, &QPushButton::clicked, this, [this] {
      showLog(window(), tr("Log of %1").arg(m_name.isEmpty() ? QFileInfo(m_path).fileName() : m_name),
              m_path + QStringLiteral("/engine.log"));
    });
    m_banner->setButtons({log});
  }
  const auto warnings = static_cast<std::int64_t>(m_now.warnings.size());
  if (warnings > m_dismissedWarnings) {
    m_coach->show(BannerKind::coach, fromUtf8(m_now.warnings.back().what));
    QPushButton* close = makeButton(tr("Dismiss"), ButtonKind::quiet);
    connect(close, &QPushButton::clicked, this, [this, warnings] {
      m_dismissedWarnings = warnings;
      m_coach->clear();
    });
    m_coach->setButtons({close});
  }
}

void LiveRun::request(ControlRequest request) {
  m_context.runs->request(m_path, request);
  m_asked = true;
  // The engine answers within two seconds; if it does not, the buttons come back.
  QTimer::singleShot(4000, this, [this] {
    m_asked = false;
    showState();
  });
  showState();
}

void LiveRun::pauseOrGoOn() {
  switch (phase()) {
    case Phase::running:
      request(ControlRequest::pause);
      break;
    case Phase::paused:
    case Phase::waiting:
      request(ControlRequest::resume);
      break;
    case Phase::closed:
    case Phase::ended:
      goOn();
      break;
    case Phase::done:
      emit chatRequested(m_path);
      break;
    default:
      break;
  }
}

void LiveRun::checkpointNow() {
  if (phase() == Phase::running) request(ControlRequest::checkpoint);
}

void LiveRun::stopAndKeep() {
  const Phase now = phase();
  if (now != Phase::running && now != Phase::paused && now != Phase::waiting && now != Phase::starting &&
      now != Phase::pausing)
    return;
  const auto& steps = m_loss->chart()->series().steps();
  const QString detail =
      steps.empty()
          ? tr("No step is done yet, so there is no adapter to keep.")
          : tr("What was learnt up to step %1 is kept as an adapter; only the step that runs now is dropped.")
                .arg(countText(steps.back().step));
  if (ask(window(), QStringLiteral("stop"), tr("Stop this run and keep what it learnt?"), detail,
          tr("Stop and keep"))) {
    request(ControlRequest::stop);
  }
}

void LiveRun::goOn() {
  m_asked = true;
  m_sinceOpened.start();
  showState();
  inBackground<Problem>(
      this,
      [path = m_path, engine = m_context.paths.engine]() -> Problem {
        try {
          RunLauncher(engine).resume(path);
          return {};
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this](const Problem& problem) {
        if (!problem.isEmpty()) m_coach->showProblem(problem);
      });
  QTimer::singleShot(8100, this, [this] {
    m_asked = false;
    showState();
  });
}

}  // namespace lorikeet::ui

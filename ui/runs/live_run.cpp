// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/live_run.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/charts/loss_chart.h"
#include "ui/charts/mini_chart.h"
#include "ui/engine/run_launcher.h"
#include "ui/engine/run_store.h"
#include "ui/runs/loss_card.h"
#include "ui/runs/metric_row.h"
#include "ui/runs/run_words.h"
#include "ui/runs/sample_strip.h"
#include "ui/widgets/background.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

enum Figure { smoothed, evaluation, best, perplexity, epoch, tokenCount, elapsed };

/// How long an engine may take from its start until it holds the run.
constexpr qint64 kStartMilliseconds = 8000;

struct JobText {
  QString name, caption;
};

}  // namespace

LiveRun::LiveRun(const StudioContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_startTimer(new QTimer(this)) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(24, 0, 24, 16);
  outer->setSpacing(0);
  auto* column = new QVBoxLayout;
  column->setSpacing(12);
  makeHead();
  auto* headRow = new QHBoxLayout;
  QToolButton* back = makeIconButton(QStringLiteral("chevron-left"), tr("All runs"));
  connect(back, &QToolButton::clicked, this, &LiveRun::backRequested);
  headRow->setSpacing(8);
  headRow->addWidget(back);
  headRow->addWidget(m_head, 1);
  m_banner = new Banner;
  m_metrics = new MetricRow({tr("Loss, smoothed"), tr("Evaluation loss"), tr("Best"), tr("Perplexity"),
                             tr("Epoch"), tr("Tokens"), tr("Elapsed")},
                            {smoothed, evaluation, perplexity, elapsed});
  m_coach = new Banner;
  m_strip = new SampleStrip;
  outer->addLayout(headRow);
  outer->addLayout(column, 1);
  column->addWidget(m_banner);
  column->addWidget(m_metrics);
  column->addWidget(makeCharts(), 1);
  column->addWidget(m_coach);
  column->addWidget(m_strip);
  connect(m_loss->chart(), &LossChart::cursorMoved, m_strip, &SampleStrip::setCursorStep);
  connect(m_loss, &LossCard::saveFailed, this, [this](const QString& path) {
    m_coach->show(BannerKind::danger, tr("Cannot write the file"), shortPath(path));
  });
  connect(m_context.runs, &RunStore::requestFailed, this,
          [this](const QString& sentence) { m_coach->show(BannerKind::danger, sentence); });
  m_startTimer->setSingleShot(true);
  connect(m_startTimer, &QTimer::timeout, this, &LiveRun::showState);
}

void LiveRun::makeHead() {
  m_head = new PageHead({});
  m_checkpoint = makeButton(tr("Checkpoint now"), ButtonKind::plain, QStringLiteral("checkpoint"));
  m_stop = makeButton(tr("Stop and keep"), ButtonKind::plain, QStringLiteral("stop"));
  m_primary = makeButton(tr("Pause"), ButtonKind::primary, QStringLiteral("pause"));
  for (QPushButton* button : {m_checkpoint, m_stop, m_primary}) m_head->addAction(button);
  connect(m_checkpoint, &QPushButton::clicked, this, &LiveRun::checkpointNow);
  connect(m_stop, &QPushButton::clicked, this,
          [this] { phase() == Phase::done ? emit exportRequested(m_path) : stopAndKeep(); });
  connect(m_primary, &QPushButton::clicked, this, &LiveRun::pauseOrGoOn);
}

QWidget* LiveRun::makeCharts() {
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(12);
  m_loss = new LossCard;
  row->addWidget(m_loss, 1);
  auto* small = new Card;
  small->setFixedWidth(296);
  small->body()->setSpacing(4);
  small->body()->setContentsMargins(16, 10, 16, 8);
  m_rate = new MiniChart(tr("Learning rate"), [](double v) { return rateText(v); });
  m_norm = new MiniChart(
      tr("Gradient norm"), [](double v) { return numberText(v, 2); }, 1);
  m_speed = new MiniChart(
      tr("Tokens a second"), [](double v) { return numberText(v, 0); }, 1);
  m_memory = new MiniChart(
      tr("Memory, GB"), [](double v) { return numberText(v, 2); }, 1);
  m_rate->setAxisFormat([](double v) { return rateText(v); });
  for (MiniChart* chart : {m_rate, m_norm, m_speed, m_memory}) small->body()->addWidget(chart, 1);
  row->addWidget(small);
  return box;
}

void LiveRun::setRun(const QString& runPath) {
  if (runPath == m_path) return;
  m_path = runPath;
  m_now = {};
  m_asked = m_userStopped = false;
  m_dismissedWarnings = 0;
  m_banner->clear();
  m_coach->clear();
  m_loss->chart()->clear();
  for (MiniChart* chart : {m_rate, m_norm, m_speed, m_memory}) chart->clear();
  m_strip->setSamples({});
  delete m_watcher;
  m_watcher = new RunWatcher(runPath, this);
  connect(m_watcher, &RunWatcher::updated, this, &LiveRun::apply);
  m_sinceOpened.start();
  m_startTimer->start(static_cast<int>(kStartMilliseconds) + 100);
  m_head->setTitle(QFileInfo(runPath).fileName());
  readJob();
  showFigures();
  showState();
  setActive(m_active);
}

void LiveRun::setActive(bool active) {
  m_active = active;
  if (m_watcher) active ? m_watcher->start() : m_watcher->stop();
}

void LiveRun::readJob() {
  inBackground<JobText>(
      this,
      [path = m_path]() -> JobText {
        try {
          const Job job = RunFolder::open(path.toStdString()).read_job();
          JobText text;
          text.name = fromUtf8(job.name);
          QStringList parts{QFileInfo(fromUtf8(job.model_path)).fileName(),
                            QFileInfo(fromUtf8(job.data_path)).fileName(),
                            tr("rank %1").arg(job.settings.rank)};
          text.caption = parts.join(QStringLiteral(" · "));
          return text;
        } catch (const std::exception&) {
          return {{}, currentProblem().what};
        }
      },
      [this, path = m_path](const JobText& text) {
        if (path != m_path) return;
        if (!text.name.isEmpty()) m_head->setTitle(m_name = text.name);
        m_head->setCaption(text.caption);
      });
}

void LiveRun::apply(const RunUpdate& update) {
  if (update.state != m_now.state || update.alive != m_now.alive) m_asked = false;
  const bool checkpointWritten = update.checkpoints.size() != m_now.checkpoints.size();
  if (checkpointWritten) m_asked = false;
  m_now = update;
  addSteps(update);
  m_now.steps.clear();
  LossChart* chart = m_loss->chart();
  chart->setEvaluations(update.evaluations);
  chart->setCheckpoints(update.checkpoints);
  m_strip->setSamples(update.samples);
  showFigures();
  showState();
}

void LiveRun::addSteps(const RunUpdate& update) {
  LossChart* chart = m_loss->chart();
  if (update.reset) {
    chart->clear();
    for (MiniChart* mini : {m_rate, m_norm, m_speed, m_memory}) mini->clear();
  }
  chart->setTotalSteps(update.totalSteps);
  m_loss->suggestSmoothing(update.totalSteps);
  chart->appendSteps(update.steps);
  std::vector<double> x, rate, norm, speed, memory;
  for (const StepEvent& step : update.steps) {
    x.push_back(static_cast<double>(step.step));
    rate.push_back(step.learning_rate);
    norm.push_back(step.grad_norm);
    speed.push_back(step.tokens_per_second);
    memory.push_back(static_cast<double>(step.memory_bytes) / 1e9);
  }
  m_rate->append(x, rate);
  m_norm->append(x, norm);
  m_speed->append(x, speed);
  m_memory->append(x, memory);
  const double end = chart->series().end(update.totalSteps, RunAxis::step);
  for (MiniChart* mini : {m_rate, m_norm, m_speed, m_memory}) mini->setEnd(end);
}

QString LiveRun::timeLeft() const {
  const auto& steps = m_loss->chart()->series().steps();
  if (steps.size() < 2 || m_now.totalSteps <= steps.back().step || !m_now.alive) return {};
  const StepEvent& from = steps[steps.size() > 50 ? steps.size() - 50 : 0];
  const StepEvent& to = steps.back();
  if (to.step <= from.step) return {};
  const double each = (to.elapsed_seconds - from.elapsed_seconds) / static_cast<double>(to.step - from.step);
  const double left = each * static_cast<double>(m_now.totalSteps - to.step);
  const QTime end = QTime::currentTime().addSecs(static_cast<int>(left));
  return left > 90 ? tr("%1 left, about %2")
                         .arg(durationText(left), QLocale().toString(end, QStringLiteral("HH:mm")))
                   : tr("%1 left").arg(durationText(left));
}

void LiveRun::showFigures() {
  const RunSeries& series = m_loss->chart()->series();
  const bool any = !series.steps().empty();
  const StepEvent last = any ? series.steps().back() : StepEvent{};
  m_metrics->setValue(smoothed, any ? lossText(series.smoothed().back()) : unknownText());
  std::optional<double> newest, lowest;
  for (const EvalEvent& eval : m_now.evaluations) {
    newest = eval.loss;
    lowest = std::min(lowest.value_or(eval.loss), eval.loss);
  }
  m_metrics->setValue(evaluation, lossText(newest));
  m_metrics->setValue(best, lossText(lowest));
  m_metrics->setValue(perplexity, m_now.evaluations.empty()
                                      ? unknownText()
                                      : numberText(m_now.evaluations.back().perplexity, 2));
  m_metrics->setValue(epoch, any ? numberText(last.epoch, 2) : unknownText());
  m_metrics->setValue(tokenCount, any ? shortCountText(static_cast<double>(last.tokens)) : unknownText());
  m_metrics->setValue(elapsed, any ? clockText(last.elapsed_seconds) : unknownText());
  const double fraction =
      m_now.totalSteps > 0 ? static_cast<double>(last.step) / static_cast<double>(m_now.totalSteps) : 0;
  const QString strong = m_now.totalSteps > 0
                             ? tr("Step %1 of %2").arg(countText(last.step), countText(m_now.totalSteps))
                         : any ? tr("Step %1").arg(countText(last.step))
                               : m_now.why;
  const bool waits = m_now.state == RunState::waiting;
  m_metrics->setProgress(fraction, strong, waits ? tr("Waits for you") : timeLeft(), waits);
}

}  // namespace lorikeet::ui

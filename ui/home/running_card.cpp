// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/home/running_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/charts/loss_chart.h"
#include "ui/engine/run_watcher.h"
#include "ui/runs/run_words.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"

namespace lorikeet::ui {

RunningCard::RunningCard(RunStore* store, QWidget* parent) : Card(tr("Running now"), parent), m_store(store) {
  auto* first = new QHBoxLayout;
  first->setSpacing(8);
  m_name = new Label({}, Role::strong);
  m_name->setElided(true);
  m_name->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  m_chip = new Chip;
  m_left = new Label({}, Role::body, &Palette::text2);
  first->addWidget(m_name);
  first->addWidget(m_chip);
  first->addStretch();
  first->addWidget(m_left);
  m_left->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_bar = new ThinBar;
  auto* second = new QHBoxLayout;
  m_step = new Label({}, Role::caption, &Palette::text2);
  m_figures = new Label({}, Role::caption, &Palette::text2);
  m_figures->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  second->addWidget(m_step);
  second->addStretch();
  second->addWidget(m_figures);
  m_chart = new LossChart(true);
  m_chart->setFixedHeight(136);
  auto* actions = new QHBoxLayout;
  actions->setSpacing(8);
  m_open = makeButton(tr("Open live run"), ButtonKind::primary);
  m_pause = makeButton(tr("Pause"), ButtonKind::plain, QStringLiteral("pause"));
  m_checkpoint = makeButton(tr("Checkpoint now"), ButtonKind::quiet, QStringLiteral("checkpoint"));
  actions->addWidget(m_open);
  actions->addWidget(m_pause);
  actions->addStretch();
  actions->addWidget(m_checkpoint);
  body()->addLayout(first);
  body()->addWidget(m_bar);
  body()->addLayout(second);
  body()->addWidget(m_chart);
  body()->addLayout(actions);
  connect(m_open, &QPushButton::clicked, this, [this] { emit openRequested(m_path); });
  connect(m_pause, &QPushButton::clicked, this,
          [this] { m_store->request(m_path, m_paused ? ControlRequest::resume : ControlRequest::pause); });
  connect(m_checkpoint, &QPushButton::clicked, this,
          [this] { m_store->request(m_path, ControlRequest::checkpoint); });
}

void RunningCard::showRun(const RunSummary* run) {
  follow(run ? run->path : QString());
  if (!run) return;
  const RunWords words = runWords(*run);
  m_name->setText(run->name);
  m_chip->setState(words.state, words.tone, words.icon);
  const auto left = run->secondsLeft();
  m_left->setText(left ? tr("About %1 left").arg(durationText(*left)) : QString());
  m_bar->setValue(static_cast<int>(run->fraction() * 1000));
  m_bar->setAccessibleName(tr("Progress %1").arg(percentText(run->fraction())));
  m_step->setText(run->totalSteps > 0
                      ? tr("Step %1 of %2").arg(countText(run->step), countText(run->totalSteps))
                      : run->why);
  QStringList figures;
  if (run->loss) figures << tr("Loss %1").arg(lossText(run->loss));
  if (run->evalLoss) figures << tr("evaluation %1").arg(lossText(run->evalLoss));
  if (run->tokensPerSecond > 0) figures << tr("%1 tokens/s").arg(numberText(run->tokensPerSecond, 0));
  m_figures->setText(figures.join(QStringLiteral(" · ")));
  m_chart->setTotalSteps(run->totalSteps);
  m_paused = run->state == RunState::paused;
  m_pause->setText(m_paused ? tr("Go on") : tr("Pause"));
  setButtonKind(m_pause, ButtonKind::plain, m_paused ? QStringLiteral("play") : QStringLiteral("pause"));
  const bool trains = run->state == RunState::training || run->state == RunState::evaluating;
  m_pause->setEnabled(trains || m_paused);
  m_checkpoint->setEnabled(trains);
}

void RunningCard::follow(const QString& runPath) {
  if (runPath == m_path) return;
  m_path = runPath;
  delete m_watcher;
  m_watcher = nullptr;
  m_chart->clear();
  if (runPath.isEmpty()) return;
  m_watcher = new RunWatcher(runPath, this);
  connect(m_watcher, &RunWatcher::updated, this, [this](const RunUpdate& update) {
    if (update.reset) m_chart->clear();
    m_chart->appendSteps(update.steps);
    m_chart->setTotalSteps(update.totalSteps);
  });
  m_watcher->start(500);
}

}  // namespace lorikeet::ui

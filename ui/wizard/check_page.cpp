// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/check_page.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/engine/device_monitor.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {

CheckPage::CheckPage(WizardModel* model, QWidget* parent)
    : StepPage(model, tr("Check"),
               tr("What would stop the run or make it useless. Estimated, nothing has started yet."),
               parent) {
  m_banner = new Banner;
  body()->addWidget(m_banner);
  QFrame* card = makeFrame("card");
  m_list = new QVBoxLayout(card);
  m_list->setContentsMargins(1, 1, 1, 1);
  m_list->setSpacing(0);
  body()->addWidget(card);
  body()->addStretch();
  connect(model, &WizardModel::planChanged, this, &CheckPage::update);
  connect(model, &WizardModel::preparedChanged, this, &CheckPage::update);
  connect(model->context().devices, &DeviceMonitor::changed, this, &CheckPage::update);
  update();
}

void CheckPage::enter() {
  update();
}

void CheckPage::update() {
  m_items = runChecks(model()->state(), model()->memoryLimit(), model()->context().devices->machine());
  showItems();
  showFit();
  emit stateChanged();
}

void CheckPage::showItems() {
  discard(m_rows);
  m_rows = new QWidget;
  auto* column = new QVBoxLayout(m_rows);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  if (m_items.empty()) {
    Label* waiting = wrapped(obstacle(), Role::body);
    waiting->setContentsMargins(16, 16, 16, 16);
    column->addWidget(waiting);
  }
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    const CheckItem& item = m_items[i];
    if (i > 0) column->addWidget(horizontalLine());
    auto* row = new QHBoxLayout;
    row->setContentsMargins(16, 7, 16, 7);
    row->setSpacing(12);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(0);
    texts->addWidget(new Label(item.name, Role::strong));
    texts->addWidget(wrapped(item.sentence, Role::caption));
    auto* value = new Label(item.value);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* light = new Light(item.state);
    light->setAccessibleName(
        QStringLiteral("%1: %2. %3 %4").arg(Light::word(item.state), item.name, item.sentence, item.value));
    row->addWidget(light);
    row->addLayout(texts, 1);
    row->addWidget(value);
    if (!item.fix.isEmpty()) {
      QPushButton* fix = makeButton(item.fix, ButtonKind::quiet);
      fix->setAccessibleName(QStringLiteral("%1: %2").arg(item.fix, item.name));
      connect(fix, &QPushButton::clicked, this, [this, step = item.fixStep] { emit stepWanted(step); });
      row->addWidget(fix);
    }
    column->addLayout(row);
  }
  m_list->addWidget(m_rows);
}

void CheckPage::showFit() {
  const WizardState& state = model()->state();
  m_makeFit = nullptr;
  if (!state.plan || !state.prepared || state.plan->fits) {
    m_banner->clear();
    return;
  }
  const std::uint64_t limit = model()->memoryLimit(), needed = state.plan->memory.total();
  const QString missing = bytesText(needed - std::min(needed, limit));
  const auto better = settingsThatFit(*model());
  QString detail = tr("Take a smaller base model, or free memory on this machine.");
  if (better) {
    QStringList changes;
    const Settings& now = state.settings;
    if (better->batch_size != now.batch_size) {
      changes << tr("rows at once %1 → %2, collected %3 → %4")
                     .arg(countText(now.batch_size), countText(better->batch_size),
                          countText(now.accumulation), countText(better->accumulation));
    }
    if (better->max_length != now.max_length)
      changes
          << tr("max length %1 → %2").arg(countText(state.plan->max_length), countText(better->max_length));
    if (better->rank != now.rank)
      changes << tr("rank %1 → %2").arg(countText(now.rank), countText(better->rank));
    detail = tr("Cheapest change: %1.").arg(changes.join(QStringLiteral(", ")));
    if (better->max_length == now.max_length && better->rank == now.rank)
      detail += QLatin1Char(' ') + tr("Still the same rows a step, so the result is the same.");
  }
  m_banner->show(BannerKind::danger, tr("Cannot start like this: %1 of memory is missing").arg(missing),
                 detail);
  if (!better) {
    m_banner->setButtons({});
    return;
  }
  m_makeFit = makeButton(tr("Make it fit"), ButtonKind::primary);
  connect(m_makeFit, &QPushButton::clicked, this,
          [this, settings = *better] { model()->setSettings(settings); });
  m_banner->setButtons({m_makeFit});
}

QString CheckPage::obstacle() const {
  const WizardState& state = model()->state();
  if (model()->memoryLimit() == 0) return tr("Asking the engine what this machine can do …");
  if (!state.base || !state.data) return tr("Choose a base model and data first.");
  if (!state.prepared || model()->isPreparing()) return tr("Counting tokens …");
  if (!state.plan) return tr("This cannot be planned: a setting names layers the model does not have.");
  for (const CheckItem& item : m_items) {
    if (item.state == LightState::stops) return tr("Next opens when nothing stops the run.");
  }
  return {};
}

StepMark CheckPage::mark() const {
  if (!obstacle().isEmpty()) return StepMark::look;
  return StepMark::done;
}

QPushButton* CheckPage::primaryButton() const {
  return m_makeFit;
}

}  // namespace lorikeet::ui

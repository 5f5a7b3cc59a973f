// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/start_page.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QGridLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTimer>

#include "ui/engine/run_launcher.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {

StartPage::StartPage(WizardModel* model, QWidget* parent)
    : StepPage(model, tr("Start"), tr("Everything below is stored with the run, so it can be repeated."),
               parent) {
  m_banner = new Banner;
  body()->addWidget(m_banner);
  auto* name = new Card(tr("Name"));
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  m_name = new QLineEdit;
  m_name->setAccessibleName(tr("Run name"));
  m_name->setMaxLength(120);
  row->addWidget(new Label(tr("Run name")));
  row->addWidget(m_name, 1);
  name->body()->addLayout(row);
  body()->addWidget(name);

  auto* saved = new Card(tr("What will be saved"));
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(6);
  grid->setColumnStretch(1, 1);
  grid->setColumnMinimumWidth(0, 220);
  grid->addWidget(new Label(tr("What"), Role::body, &Palette::text3), 0, 0);
  grid->addWidget(new Label(tr("Where"), Role::body, &Palette::text3), 0, 1);
  auto* size = new Label(tr("Size"), Role::body, &Palette::text3);
  size->setAlignment(Qt::AlignRight);
  grid->addWidget(size, 0, 2);
  const QString what[] = {tr("Adapter, PEFT"), tr("Checkpoints"), tr("Log, curves, sample answers"),
                          tr("Job file, repeats the run exactly")};
  for (int i = 0; i < 4; ++i) {
    m_where[i] = new Label({}, Role::mono, &Palette::text2);
    m_where[i]->setElided(true, Qt::ElideMiddle);
    m_size[i] = new Label;
    m_size[i]->setAlignment(Qt::AlignRight);
    grid->addWidget(horizontalLine(), 2 * i + 1, 0, 1, 3);
    grid->addWidget(new Label(what[i]), 2 * i + 2, 0);
    grid->addWidget(m_where[i], 2 * i + 2, 1);
    grid->addWidget(m_size[i], 2 * i + 2, 2);
  }
  saved->body()->addLayout(grid);
  body()->addWidget(saved);

  auto* command = new Card(tr("The same as a command"));
  QPushButton* copy = makeButton(tr("Copy"), ButtonKind::quiet, QStringLiteral("copy"));
  command->head()->addWidget(copy);
  m_command = new QPlainTextEdit;
  m_command->setReadOnly(true);
  m_command->setProperty("kind", QStringLiteral("code"));
  m_command->setFont(roleFont(Role::mono));
  m_command->setAccessibleName(tr("The same as a command"));
  m_command->setTabChangesFocus(true);
  m_command->setFixedHeight(132);
  command->body()->addWidget(m_command);
  body()->addWidget(command);
  body()->addStretch();
  connect(copy, &QPushButton::clicked, this, [this, copy] {
    QApplication::clipboard()->setText(m_command->toPlainText());
    copy->setText(tr("Copied"));
    QTimer::singleShot(1500, copy, [copy] { copy->setText(tr("Copy")); });
  });
  connect(m_name, &QLineEdit::textEdited, this, [this](const QString& text) {
    this->model()->edit().runName = text;
    this->model()->edit().nameByHand = true;
    update();
    emit stateChanged();
  });
  connect(model, &WizardModel::planChanged, this, &StartPage::update);
}

void StartPage::enter() {
  m_banner->clear();
  if (m_name->text() != model()->state().runName) m_name->setText(model()->state().runName);
  update();
}

void StartPage::update() {
  if (!isVisible() && m_runPath.isEmpty() && m_name->text().isEmpty()) return;
  const EnginePaths& paths = model()->context().paths;
  m_runPath = RunLauncher::freeRunFolder(paths.runsFolder(), model()->state().runName);
  const QString folder = shortPath(m_runPath);
  const QString where[] = {folder + QStringLiteral("/adapter"), folder + QStringLiteral("/checkpoints"),
                           folder, folder + QStringLiteral("/job.json")};
  for (int i = 0; i < 4; ++i) {
    m_where[i]->setText(where[i]);
    m_where[i]->setToolTip({});
  }
  const auto& plan = model()->state().plan;
  const auto adapter = plan ? static_cast<std::uint64_t>(plan->adapter_parameters) * 4 : 0;
  m_size[0]->setText(plan ? bytesText(adapter) : unknownText());
  m_size[1]->setText(
      plan ? tr("up to %1").arg(bytesText(plan->disk_bytes - std::min(plan->disk_bytes, adapter)))
           : unknownText());
  m_size[2]->setText(plan ? bytesText(static_cast<std::uint64_t>(plan->steps) * 330 + 4000) : unknownText());
  m_size[3]->setText(bytesText(4000));
  if (model()->state().base) m_command->setPlainText(RunLauncher::commandText(model()->makeJob(), m_runPath));
}

QString StartPage::command() const {
  return m_command->toPlainText();
}

void StartPage::showProblem(const Problem& problem) {
  m_banner->showProblem(problem);
}

QString StartPage::obstacle() const {
  if (model()->state().runName.trimmed().isEmpty()) return tr("Give the run a name.");
  return {};
}

QWidget* StartPage::firstFocus() const {
  return m_name;
}

}  // namespace lorikeet::ui

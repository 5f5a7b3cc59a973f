// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/training_page.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/settings_form.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {

TrainingPage::TrainingPage(WizardModel* model, QWidget* parent)
    : StepPage(model, tr("Training"),
               tr("How long it learns and how you watch it. Advanced shows schedule, packing and seed."),
               parent) {
  auto* learning = new Card(tr("Learning"));
  m_learning = new SettingsForm(model, {"epochs", "max-steps", "learning-rate", "batch-size", "accumulation",
                                        "max-length", "train-on"});
  learning->body()->addWidget(m_learning);
  body()->addWidget(learning);
  auto* watching = new Card(tr("Watching and keeping"));
  m_watching = new SettingsForm(model, {"eval-every", "save-every", "keep-checkpoints", "early-stop"});
  watching->body()->addWidget(m_watching);
  watching->body()->addSpacing(8);
  watching->body()->addWidget(makePrompts());
  body()->addWidget(watching);
  m_moreCard = new Card(tr("Schedule, rows and machine"));
  m_more = new SettingsForm(
      model,
      {"schedule",      "min-rate", "warmup-ratio",    "warmup-steps",  "optimizer",     "weight-decay",
       "max-grad-norm", "neftune",  "system",          "columns",       "empty-answers", "nested-values",
       "duplicates",    "packing",  "group-by-length", "eval-fraction", "shuffle",       "seed",
       "device",        "threads",  "memory-limit",    "offload"});
  m_moreCard->body()->addWidget(m_more);
  body()->addWidget(m_moreCard);
  body()->addStretch();
  for (SettingsForm* form : {m_learning, m_watching, m_more})
    connect(form, &SettingsForm::validityChanged, this, &StepPage::stateChanged);
  setAdvanced(false);
}

Card* TrainingPage::makePrompts() {
  auto* box = new Card;
  box->setProperty("kind", QVariant());
  box->body()->setContentsMargins(0, 0, 0, 0);
  box->body()->addWidget(new Label(tr("Sample prompts, answered at each evaluation")));
  QFrame* list = makeFrame("card");
  m_promptList = new QVBoxLayout(list);
  m_promptList->setContentsMargins(1, 1, 1, 1);
  m_promptList->setSpacing(0);
  auto* add = new QWidget;
  auto* row = new QHBoxLayout(add);
  row->setContentsMargins(4, 2, 4, 2);
  m_newPrompt = new QLineEdit;
  m_newPrompt->setProperty("flat", true);
  m_newPrompt->setPlaceholderText(tr("Add a prompt"));
  m_newPrompt->setAccessibleName(tr("New sample prompt"));
  QToolButton* plus = makeIconButton(QStringLiteral("plus"), tr("Add the prompt"));
  row->addWidget(m_newPrompt, 1);
  row->addWidget(plus);
  m_promptList->addWidget(add);
  box->body()->addWidget(list);
  const auto addPrompt = [this] {
    const QString text = m_newPrompt->text().simplified();
    if (text.isEmpty()) return;
    std::vector<std::string> prompts = model()->state().settings.sample_prompts;
    prompts.push_back(text.toStdString());
    m_newPrompt->clear();
    setPrompts(prompts);
  };
  connect(m_newPrompt, &QLineEdit::returnPressed, this, addPrompt);
  connect(plus, &QToolButton::clicked, this, addPrompt);
  return box;
}

void TrainingPage::setPrompts(const std::vector<std::string>& prompts) {
  Settings settings = model()->state().settings;
  settings.sample_prompts = prompts;
  model()->setSettings(settings);
  showPrompts();
}

void TrainingPage::showPrompts() {
  discard(m_promptRows);
  m_promptRows = new QWidget;
  auto* column = new QVBoxLayout(m_promptRows);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  const auto& prompts = model()->state().settings.sample_prompts;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(13, 0, 4, 0);
    auto* text = new Label(fromUtf8(prompts[i]));
    text->setElided(true);
    QToolButton* remove = makeIconButton(QStringLiteral("close"), tr("Remove the prompt"));
    row->addWidget(text, 1);
    row->addWidget(remove);
    column->addLayout(row);
    column->addWidget(horizontalLine());
    connect(remove, &QToolButton::clicked, this, [this, i] {
      std::vector<std::string> rest = model()->state().settings.sample_prompts;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      setPrompts(rest);
      m_newPrompt->setFocus();
    });
  }
  m_promptList->insertWidget(0, m_promptRows);
}

void TrainingPage::enter() {
  showPrompts();
}

void TrainingPage::setAdvanced(bool advanced) {
  m_moreCard->setVisible(advanced);
  m_learning->setRowVisible("max-steps", advanced || model()->state().settings.max_steps > 0);
  m_watching->setRowVisible("keep-checkpoints", advanced);
  m_watching->setRowVisible("early-stop", advanced || model()->state().settings.early_stop > 0);
}

QString TrainingPage::obstacle() const {
  for (const SettingsForm* form : {m_learning, m_watching, m_more}) {
    if (form->hasInvalid()) return tr("A value is outside its range.");
  }
  return {};
}

QWidget* TrainingPage::firstFocus() const {
  return m_learning->control("epochs");
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/wizard_page.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "ui/engine/library_store.h"
#include "ui/engine/run_launcher.h"
#include "ui/engine/run_store.h"
#include "ui/widgets/background.h"
#include "ui/widgets/choice.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/base_page.h"
#include "ui/wizard/check_page.h"
#include "ui/wizard/data_page.h"
#include "ui/wizard/method_page.h"
#include "ui/wizard/run_card.h"
#include "ui/wizard/start_page.h"
#include "ui/wizard/training_page.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {

WizardPage::WizardPage(const StudioContext& context, QWidget* parent)
    : Page(parent), m_context(context), m_model(new WizardModel(context, this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  m_stack = new QStackedWidget;
  m_base = new BasePage(m_model);
  m_data = new DataPage(m_model);
  auto* method = new MethodPage(m_model);
  auto* training = new TrainingPage(m_model);
  m_start = new StartPage(m_model);
  for (StepPage* page :
       std::initializer_list<StepPage*>{m_base, m_data, method, training, new CheckPage(m_model), m_start})
    addStep(page);
  m_card = new RunCard(m_model);
  column->addWidget(makeTop());
  auto* middle = new QWidget;
  m_body = new QHBoxLayout(middle);
  m_body->setContentsMargins(24, 16, 24, 16);
  m_body->setSpacing(24);
  m_body->addWidget(m_stack, 1);
  m_body->addWidget(m_card);
  column->addWidget(middle, 1);
  column->addWidget(makeFooter());
  connect(m_base, &BasePage::chatWanted, this, &WizardPage::chatWithModelWanted);
  connect(method, &MethodPage::advancedWanted, this, [this] {
    m_level->setCurrent(1);
    emit m_level->chosen(1);
  });
  // Shortcuts, not key events: tables and fields would take the arrows for themselves.
  connect(new QShortcut(QKeySequence(QStringLiteral("Alt+Left")), this), &QShortcut::activated, this,
          &WizardPage::back);
  connect(new QShortcut(QKeySequence(QStringLiteral("Alt+Right")), this), &QShortcut::activated, this,
          &WizardPage::next);
  m_level->setCurrent(m_model->state().advanced ? 1 : 0);
  for (StepPage* page : m_steps) page->setAdvanced(m_model->state().advanced);
  goTo(m_model->state().page);
}

void WizardPage::addStep(StepPage* page) {
  m_steps.push_back(page);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(page);
  scroll->setFocusPolicy(Qt::NoFocus);
  m_stack->addWidget(scroll);
  connect(page, &StepPage::stateChanged, this, [this] {
    updateFooter();
    updateMarks();
  });
  connect(page, &StepPage::stepWanted, this, &WizardPage::goTo);
}

QWidget* WizardPage::makeTop() {
  QFrame* top = makeFrame("top");
  top->setFixedHeight(57);
  auto* row = new QHBoxLayout(top);
  row->setContentsMargins(24, 0, 24, 0);
  QStringList names;
  for (const StepPage* page : m_steps) names << page->title();
  m_stepper = new Stepper(names);
  m_level = new Segments({tr("Simple"), tr("Advanced")});
  m_level->setAccessibleName(tr("How much is shown"));
  row->addWidget(m_stepper, 10);
  row->addStretch(1);
  row->addWidget(m_level);
  connect(m_stepper, &Stepper::stepChosen, this, &WizardPage::goTo);
  connect(m_level, &Segments::chosen, this, [this](int level) {
    m_model->edit().advanced = level == 1;
    for (StepPage* page : m_steps) page->setAdvanced(level == 1);
  });
  return top;
}

QWidget* WizardPage::makeFooter() {
  QFrame* footer = makeFrame("bar");
  footer->setFixedHeight(57);
  auto* row = new QHBoxLayout(footer);
  row->setContentsMargins(24, 0, 24, 0);
  row->setSpacing(12);
  m_back = makeButton(tr("Back"));
  m_note = new Label({}, Role::caption, &Palette::text2);
  m_note->setElided(true);
  m_next = makeButton(tr("Next"), ButtonKind::primary);
  row->addWidget(m_back);
  row->addWidget(m_note, 1);
  row->addWidget(m_next);
  connect(m_back, &QPushButton::clicked, this, &WizardPage::back);
  connect(m_next, &QPushButton::clicked, this, &WizardPage::next);
  return footer;
}

int WizardPage::step() const {
  return m_model->state().page;
}

void WizardPage::goTo(int step) {
  if (step < 0 || step >= kSteps) return;
  WizardState& state = m_model->edit();
  state.page = step;
  state.furthest = std::max(state.furthest, step);
  m_stack->setCurrentIndex(step);
  m_stepper->setCurrent(step);
  m_steps[static_cast<std::size_t>(step)]->enter();
  updateMarks();
  updateFooter();
  if (isVisible()) {
    if (QWidget* focus = m_steps[static_cast<std::size_t>(step)]->firstFocus())
      focus->setFocus(Qt::OtherFocusReason);
  }
}

void WizardPage::back() {
  goTo(step() - 1);
}

void WizardPage::next() {
  if (!m_next->isEnabled()) return;
  step() + 1 < kSteps ? goTo(step() + 1) : start();
}

void WizardPage::updateMarks() {
  const int furthest = m_model->state().furthest;
  for (int i = 0; i < kSteps; ++i) {
    m_stepper->setReachable(i, i <= furthest);
    m_stepper->setMark(i, i <= furthest ? m_steps[static_cast<std::size_t>(i)]->mark() : StepMark::open);
  }
}

void WizardPage::updateFooter() {
  const bool last = step() + 1 == kSteps;
  QString why = m_steps[static_cast<std::size_t>(step())]->obstacle();
  // The last step needs every earlier one to be good.
  for (int i = 0; last && i < step() && why.isEmpty(); ++i) {
    why = m_steps[static_cast<std::size_t>(i)]->obstacle();
    if (!why.isEmpty())
      why = QStringLiteral("%1: %2").arg(m_steps[static_cast<std::size_t>(i)]->title(), why);
  }
  m_back->setEnabled(step() > 0);
  m_next->setText(last ? tr("Start training") : tr("Next"));
  m_next->setEnabled(why.isEmpty() && !m_starting);
  m_next->setToolTip(why);
  m_note->setText(why);
  m_note->setToolTip({});
}

void WizardPage::start() {
  m_starting = true;
  updateFooter();
  const QString runPath = m_start->runPath();
  inBackground<Problem>(
      this,
      [engine = m_context.paths.engine, runPath, job = m_model->makeJob()]() -> Problem {
        try {
          RunLauncher(engine).start(runPath, job);
          return {};
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this, runPath](const Problem& problem) {
        m_starting = false;
        if (!problem.isEmpty()) {
          m_start->showProblem(problem);
          updateFooter();
          return;
        }
        m_model->edit().nameByHand = false;
        m_model->edit().furthest = 0;
        goTo(0);
        emit runStarted(runPath);
      });
}

void WizardPage::begin() {
  if (m_model->state().goal == Goal::goOn) m_base->setGoal(static_cast<int>(Goal::task));
  goTo(m_model->state().page);
}

void WizardPage::beginWithAdapter(const QString& id) {
  m_base->setGoal(static_cast<int>(Goal::goOn));
  if (const AdapterRecord* adapter = m_context.library->find(id)) {
    m_model->chooseAdapter(m_context.library->folderOf(*adapter), fromUtf8(adapter->name),
                           fromUtf8(adapter->base_path));
  }
  goTo(0);
}

void WizardPage::shown() {
  goTo(step());
}

QPushButton* WizardPage::primaryButton() const {
  QPushButton* own = m_steps[static_cast<std::size_t>(step())]->primaryButton();
  return own ? own : m_next;
}

QWidget* WizardPage::searchField() const {
  return step() == 0 ? m_base->searchField() : nullptr;
}

QWidget* WizardPage::firstFocus() const {
  return m_steps[static_cast<std::size_t>(step())]->firstFocus();
}

void WizardPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool narrow = width() < 1200 - 81;
  m_body->setContentsMargins(narrow ? 16 : 24, narrow ? 12 : 16, narrow ? 16 : 24, narrow ? 12 : 16);
  m_body->setSpacing(narrow ? 16 : 24);
  m_card->setCompact(narrow);
}

}  // namespace lorikeet::ui

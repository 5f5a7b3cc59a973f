// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/home/home_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QVBoxLayout>

#include "ui/engine/library_store.h"
#include "ui/engine/run_store.h"
#include "ui/home/machine_card.h"
#include "ui/home/running_card.h"
#include "ui/runs/runs_model.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {
namespace {

QFrame* stepCard(const QString& iconName, const QString& title, const QString& text) {
  QFrame* card = makeFrame("card");
  auto* row = new QHBoxLayout(card);
  row->setContentsMargins(16, 16, 16, 16);
  row->setSpacing(16);
  row->addWidget(new IconLabel(iconName, 24, &Palette::accentText), 0, Qt::AlignTop);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(2);
  texts->addWidget(wrapped(title, Role::strong, &Palette::text));
  texts->addWidget(wrapped(text));
  texts->addStretch();
  row->addLayout(texts, 1);
  return card;
}

QLabel* applicationPicture(int side) {
  auto* label = new QLabel;
  label->setPixmap(picture(QStringLiteral("app"), {side, side}, label->devicePixelRatioF()));
  label->setFixedSize(side, side);
  return label;
}

}  // namespace

HomePage::HomePage(const StudioContext& context, QWidget* parent) : Page(parent), m_context(context) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  auto* inside = new QWidget;
  scroll->setWidget(inside);
  outer->addWidget(scroll);
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(24, 0, 24, 16);
  column->setSpacing(0);

  auto* headRow = new QHBoxLayout;
  headRow->setSpacing(12);
  headRow->addWidget(applicationPicture(40));
  m_head = new PageHead(tr("Home"), tr("Teach a small model your task, on this machine"));
  m_newRun = makeButton(tr("New training run"), ButtonKind::plain, QStringLiteral("plus"));
  m_head->addAction(m_newRun);
  headRow->addWidget(m_head, 1);
  column->addLayout(headRow);

  auto* columns = new QHBoxLayout;
  columns->setSpacing(16);
  columns->addWidget(makeLeft(), 1);
  columns->addWidget(makeRight());
  column->addLayout(columns, 1);

  connect(m_newRun, &QPushButton::clicked, this, &HomePage::newRunRequested);
  connect(context.runs, &RunStore::changed, this, &HomePage::update);
  connect(context.library, &LibraryStore::changed, this, &HomePage::update);
  update();
}

QWidget* HomePage::makeLeft() {
  auto* left = new QWidget;
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(16);
  m_welcome = makeWelcome();
  m_running = new RunningCard(m_context.runs);
  m_next = new Banner;
  m_lastRuns = makeLastRuns();
  m_problem = new Banner;
  column->addWidget(m_problem);
  column->addWidget(m_welcome);
  column->addWidget(m_running);
  column->addWidget(m_next);
  column->addWidget(m_lastRuns);
  column->addStretch(1);
  connect(m_running, &RunningCard::openRequested, this, &HomePage::runRequested);
  return left;
}

Card* HomePage::makeWelcome() {
  auto* card = new Card;
  card->body()->setContentsMargins(24, 24, 24, 24);
  card->body()->setSpacing(16);
  auto* top = new QHBoxLayout;
  top->setSpacing(20);
  top->addWidget(applicationPicture(72));
  auto* texts = new QVBoxLayout;
  texts->setSpacing(2);
  texts->addStretch();
  texts->addWidget(new Label(tr("Welcome to Lorikeet"), Role::title));
  texts->addWidget(wrapped(
      tr("Teach a small language model your task. Nothing leaves this machine; no account is needed.")));
  texts->addStretch();
  top->addLayout(texts, 1);
  card->body()->addLayout(top);
  auto* steps = new QHBoxLayout;
  steps->setSpacing(12);
  steps->addWidget(
      stepCard(QStringLiteral("base"), tr("Choose a base model"),
               tr("From a folder, a GGUF file or the Hugging Face cache. You see at once whether it fits.")),
      1);
  steps->addWidget(
      stepCard(QStringLiteral("dataset"), tr("Bring your rows"),
               tr("Question and answer pairs as Alpaca JSON or JSONL. 200 good rows are a start.")),
      1);
  steps->addWidget(stepCard(QStringLiteral("chat"), tr("Compare and keep"),
                            tr("Ask the base and your adapter the same question, side by side.")),
                   1);
  card->body()->addLayout(steps);
  auto* actions = new QHBoxLayout;
  actions->setSpacing(8);
  m_sample = makeButton(tr("Train with the sample data"), ButtonKind::primary, QStringLiteral("play"));
  QPushButton* own = makeButton(tr("Choose my own data…"));
  actions->addWidget(m_sample);
  actions->addWidget(own);
  actions->addSpacing(8);
  Label* cost = new Label(tr("About a minute here, no download."), Role::caption, &Palette::text3);
  actions->addWidget(cost);
  actions->addStretch();
  card->body()->addLayout(actions);
  const bool hasSample = !m_context.paths.samples.isEmpty();
  m_sample->setVisible(hasSample);
  cost->setVisible(hasSample);
  connect(m_sample, &QPushButton::clicked, this, &HomePage::sampleRequested);
  connect(own, &QPushButton::clicked, this, &HomePage::newRunRequested);
  return card;
}

Card* HomePage::makeLastRuns() {
  auto* card = new Card(tr("Last runs"));
  QPushButton* all = makeButton(tr("All runs"), ButtonKind::quiet);
  card->head()->addWidget(all);
  connect(all, &QPushButton::clicked, this, &HomePage::allRunsRequested);
  m_model = new RunsModel(m_context.runs, 4, this);
  m_table = new Table;
  m_table->setFlat();
  m_table->setModel(m_model);
  m_table->setFitRows(4);
  m_table->setAccessibleName(tr("Last runs"));
  m_table->setColumnHidden(RunsModel::loss, true);
  QHeaderView* head = m_table->horizontalHeader();
  head->setSectionResizeMode(QHeaderView::ResizeToContents);
  head->setSectionResizeMode(RunsModel::name, QHeaderView::Stretch);
  m_noRuns = new QWidget;
  auto* empty = new QVBoxLayout(m_noRuns);
  empty->setContentsMargins(0, 48, 0, 48);
  empty->setSpacing(4);
  auto* title = new Label(tr("No runs yet"), Role::heading);
  Label* text = wrapped(tr("Runs appear here with their loss, time and state."));
  title->setAlignment(Qt::AlignHCenter);
  text->setAlignment(Qt::AlignHCenter);
  empty->addWidget(title);
  empty->addWidget(text);
  card->body()->addWidget(m_table);
  card->body()->addWidget(m_noRuns);
  const auto open = [this](const QModelIndex& index) { emit runRequested(index.data(PathRole).toString()); };
  connect(m_table, &Table::rowActivated, this, open);
  connect(m_table, &QTableView::clicked, this, open);
  return card;
}

QWidget* HomePage::makeRight() {
  auto* right = new QWidget;
  right->setFixedWidth(304);
  auto* column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(16);
  column->addWidget(new MachineCard(m_context.devices));
  auto* start = new Card(tr("Start"));
  auto* goOn = new RowButton(QStringLiteral("adapter"), tr("Go on from an adapter"),
                             tr("Train it further with new data"));
  auto* chat =
      new RowButton(QStringLiteral("chat"), tr("Chat with a model"), tr("Base and adapter side by side"));
  auto* take = new RowButton(QStringLiteral("export"), tr("Export an adapter"),
                             tr("For PEFT, or merged into its base"));
  for (RowButton* button : {goOn, chat, take}) start->body()->addWidget(button);
  column->addWidget(start);
  column->addStretch();
  connect(goOn, &QPushButton::clicked, this, &HomePage::goOnRequested);
  connect(chat, &QPushButton::clicked, this, &HomePage::chatRequested);
  connect(take, &QPushButton::clicked, this, &HomePage::exportRequested);
  return right;
}

void HomePage::update() {
  const RunSummary* live = m_context.runs->live();
  const bool hasRuns = !m_context.runs->runs().empty();
  const bool first = m_context.runs->isLoaded() && !hasRuns && m_context.library->adapters().empty();
  m_welcome->setVisible(first);
  m_running->setVisible(live != nullptr);
  m_running->showRun(live);
  m_table->setVisible(hasRuns);
  m_table->updateGeometry();
  m_noRuns->setVisible(!hasRuns);
  setButtonKind(m_newRun, live || first ? ButtonKind::plain : ButtonKind::primary, QStringLiteral("plus"));
  m_newRun->setVisible(!first);
  updateNextStep();
}

void HomePage::updateNextStep() {
  m_nextAdapter.clear();
  const auto& adapters = m_context.library->adapters();
  if (m_context.runs->live() || adapters.empty() || adapters.front().missing) {
    m_next->clear();
    return;
  }
  const AdapterRecord& newest = adapters.front();
  m_nextAdapter = QString::fromStdString(newest.id);
  m_next->show(BannerKind::coach, tr("Next step"),
               tr("%1 is finished. Ask it and its base the same questions before you export it.")
                   .arg(QString::fromStdString(newest.name)));
  QPushButton* compare = makeButton(tr("Compare in chat"));
  connect(compare, &QPushButton::clicked, this, [this] { emit compareRequested(m_nextAdapter); });
  m_next->setButtons({compare});
}

void HomePage::showProblem(const Problem& problem) {
  m_problem->showProblem(problem);
}

QPushButton* HomePage::primaryButton() const {
  if (m_running->isVisible()) return m_running->openButton();
  return m_welcome->isVisible() ? m_sample : m_newRun;
}

QWidget* HomePage::firstFocus() const {
  return primaryButton();
}

}  // namespace lorikeet::ui

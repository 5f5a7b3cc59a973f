// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runs_page.h"

#include <QDesktopServices>
#include <QLineEdit>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/engine/run_store.h"
#include "ui/runs/live_run.h"
#include "ui/runs/runs_model.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {

RunsPage::RunsPage(const StudioContext& context, QWidget* parent) : Page(parent), m_context(context) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  m_stack = new QStackedWidget;
  m_list = makeList();
  m_live = new LiveRun(context);
  m_stack->addWidget(m_list);
  m_stack->addWidget(m_live);
  column->addWidget(m_stack);
  connect(m_live, &LiveRun::backRequested, this, &RunsPage::showList);
  connect(m_live, &LiveRun::chatRequested, this, &RunsPage::chatRequested);
  connect(m_live, &LiveRun::exportRequested, this, &RunsPage::exportRequested);
  connect(context.runs, &RunStore::changed, this, &RunsPage::update);
  update();
}

QWidget* RunsPage::makeList() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(24, 0, 24, 16);
  column->setSpacing(0);
  m_head = new PageHead(tr("Runs"));
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search name, model or state"));
  m_search->setAccessibleName(tr("Search runs"));
  m_search->setClearButtonEnabled(true);
  m_search->setFixedWidth(280);
  m_new = makeButton(tr("New training run"), ButtonKind::primary, QStringLiteral("plus"));
  m_head->addAction(m_search);
  m_head->addAction(m_new);
  m_model = new RunsModel(m_context.runs, 0, this);
  m_sorted = new QSortFilterProxyModel(this);
  m_sorted->setSourceModel(m_model);
  m_sorted->setSortRole(SortRole);
  m_sorted->setFilterKeyColumn(-1);
  m_sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table = new Table;
  m_table->setModel(m_sorted);
  m_table->setAccessibleName(tr("Runs"));
  QHeaderView* head = m_table->horizontalHeader();
  head->setSectionResizeMode(QHeaderView::ResizeToContents);
  head->setSectionResizeMode(RunsModel::name, QHeaderView::Stretch);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);
  m_listStack = new QStackedWidget;
  m_listStack->addWidget(m_table);
  m_listStack->addWidget(makeEmpty());
  column->addWidget(m_head);
  column->addWidget(m_listStack, 1);
  connect(m_search, &QLineEdit::textChanged, m_sorted, &QSortFilterProxyModel::setFilterFixedString);
  connect(m_new, &QPushButton::clicked, this, &RunsPage::newRunRequested);
  const auto open = [this](const QModelIndex& index) { openRun(index.data(PathRole).toString()); };
  connect(m_table, &Table::rowActivated, this, open);
  connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::showMenu);
  return page;
}

QWidget* RunsPage::makeEmpty() {
  auto* empty = new EmptyState(
      tr("No runs yet"), tr("Every training run is kept here with its loss, time and state, and can be\n"
                            "gone on with or repeated."));
  QPushButton* sample =
      makeButton(tr("Train with the sample data"), ButtonKind::primary, QStringLiteral("play"));
  QPushButton* own = makeButton(tr("Choose my own data…"));
  sample->setVisible(!m_context.paths.samples.isEmpty());
  empty->addButton(sample);
  empty->addButton(own);
  empty->setCost(tr("The sample needs about a minute on this machine and no download."));
  connect(sample, &QPushButton::clicked, this, &RunsPage::sampleRequested);
  connect(own, &QPushButton::clicked, this, &RunsPage::newRunRequested);
  return empty;
}

void RunsPage::update() {
  const auto& runs = m_context.runs->runs();
  m_listStack->setCurrentIndex(runs.empty() ? 1 : 0);
  m_search->setVisible(!runs.empty());
  m_new->setVisible(!runs.empty());
  const int count = static_cast<int>(runs.size());
  m_head->setCaption(runs.empty()
                         ? QString()
                         : tr("%n run(s) in %1", nullptr, count).arg(shortPath(m_context.runs->folder())));
}

void RunsPage::showMenu(const QPoint& at) {
  const QModelIndex index = m_table->indexAt(at);
  if (!index.isValid()) return;
  const QString path = index.data(PathRole).toString();
  const RunSummary* run = m_context.runs->find(path);
  if (!run) return;
  QMenu menu(this);
  connect(menu.addAction(icon(QStringLiteral("run")), tr("Open")), &QAction::triggered, this,
          [&] { openRun(path); });
  if (run->isDone()) {
    connect(menu.addAction(icon(QStringLiteral("chat")), tr("Compare in chat")), &QAction::triggered, this,
            [&] { emit chatRequested(path); });
    connect(menu.addAction(icon(QStringLiteral("export")), tr("Export…")), &QAction::triggered, this,
            [&] { emit exportRequested(path); });
  }
  menu.addSeparator();
  connect(menu.addAction(icon(QStringLiteral("folder")), tr("Show the folder")), &QAction::triggered, this,
          [&] { QDesktopServices::openUrl(QUrl::fromLocalFile(path)); });
  connect(menu.addAction(icon(QStringLiteral("terminal")), tr("Show log")), &QAction::triggered, this,
          [&] { showLog(window(), tr("Log of %1").arg(run->name), path + QStringLiteral("/engine.log")); });
  menu.exec(m_table->viewport()->mapToGlobal(at));
}

void RunsPage::openRun(const QString& runPath) {
  m_live->setRun(runPath);
  m_stack->setCurrentWidget(m_live);
  m_live->setActive(isVisible());
  if (isVisible()) m_live->primaryButton()->setFocus();
}

void RunsPage::showList() {
  m_live->setActive(false);
  m_stack->setCurrentWidget(m_list);
  m_table->setFocus();
}

void RunsPage::shown() {
  m_context.runs->refresh();
  if (m_stack->currentWidget() == m_live) m_live->setActive(true);
}

void RunsPage::hideEvent(QHideEvent* event) {
  Page::hideEvent(event);
  m_live->setActive(false);
}

QPushButton* RunsPage::primaryButton() const {
  return m_stack->currentWidget() == m_live ? m_live->primaryButton() : m_new;
}

QWidget* RunsPage::searchField() const {
  return m_stack->currentWidget() == m_list ? m_search : nullptr;
}

QWidget* RunsPage::firstFocus() const {
  if (m_stack->currentWidget() == m_live) return m_live->primaryButton();
  return m_table;
}

bool RunsPage::stepBack() {
  if (m_stack->currentWidget() != m_live) return false;
  showList();
  return true;
}

}  // namespace lorikeet::ui

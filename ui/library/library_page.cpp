// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/library/library_page.h"

#include <QAction>
#include <QDesktopServices>
#include <QGridLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSignalBlocker>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QUrl>
#include <map>

#include "ui/engine/library_store.h"
#include "ui/library/adapters_model.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {
namespace {

const QString kTrash = QStringLiteral("\ntrash");  // no group can be called like this

}  // namespace

LibraryPage::LibraryPage(const StudioContext& context, QWidget* parent) : Page(parent), m_context(context) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QFrame* headFrame = makeFrame("head");
  auto* headRow = new QHBoxLayout(headFrame);
  headRow->setContentsMargins(24, 0, 24, 0);
  m_head = new PageHead(tr("Library"));
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search adapters"));
  m_search->setAccessibleName(tr("Search adapters"));
  m_search->setClearButtonEnabled(true);
  m_search->setFixedWidth(280);
  m_head->addAction(m_search);
  headRow->addWidget(m_head);
  column->addWidget(headFrame);
  m_stack = new QStackedWidget;
  auto* content = new QWidget;
  auto* row = new QHBoxLayout(content);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  m_groups = new QListWidget;
  m_groups->setProperty("kind", QStringLiteral("flat"));
  m_groups->setAccessibleName(tr("Groups of adapters"));
  QFrame* side = makeFrame("list");
  side->setFixedWidth(233);
  auto* inSide = new QVBoxLayout(side);
  inSide->setContentsMargins(8, 12, 8, 8);
  inSide->addWidget(m_groups);
  row->addWidget(side);
  row->addWidget(makeMiddle(), 1);
  row->addWidget(makeDetails());
  m_stack->addWidget(makeEmpty());
  m_stack->addWidget(content);
  column->addWidget(m_stack, 1);
  connect(m_groups, &QListWidget::currentRowChanged, this, &LibraryPage::chooseGroup);
  connect(m_search, &QLineEdit::textChanged, m_sorted, &QSortFilterProxyModel::setFilterFixedString);
  connect(context.library, &LibraryStore::changed, this, &LibraryPage::fillGroups);
  connect(context.library, &LibraryStore::failed, this,
          [this](const Problem& problem) { m_banner->showProblem(problem); });
  fillGroups();
}

QWidget* LibraryPage::makeMiddle() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(24, 16, 16, 16);
  column->setSpacing(12);
  m_banner = new Banner;
  m_model = new AdaptersModel(m_context.library, this);
  m_sorted = new QSortFilterProxyModel(this);
  m_sorted->setSourceModel(m_model);
  m_sorted->setSortRole(SortRole);
  m_sorted->setFilterKeyColumn(-1);
  m_sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table = new Table;
  m_table->setModel(m_sorted);
  m_table->setAccessibleName(tr("Adapters"));
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setEditTriggers(QAbstractItemView::EditKeyPressed);
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(AdaptersModel::name, QHeaderView::Stretch);
  column->addWidget(m_banner);
  column->addWidget(m_table, 1);
  auto* remove = new QAction(tr("Move to trash"), m_table);
  remove->setShortcut(QKeySequence::Delete);
  remove->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  m_table->addAction(remove);
  connect(remove, &QAction::triggered, this, &LibraryPage::deleteChosen);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &LibraryPage::showDetails);
  connect(m_sorted, &QAbstractItemModel::modelReset, this, [this] {
    if (m_sorted->rowCount() > 0 && m_wanted.isEmpty()) m_table->selectRow(0);
    showDetails();
  });
  connect(m_table, &Table::rowActivated, this, [this](const QModelIndex& index) {
    if (!m_model->showsTrash()) emit chatRequested(index.data(IdRole).toString());
  });
  connect(m_table, &QWidget::customContextMenuRequested, this, &LibraryPage::showMenu);
  return box;
}

QWidget* LibraryPage::makeDetails() {
  auto* box = new QWidget;
  box->setFixedWidth(296 + 24);
  auto* outer = new QVBoxLayout(box);
  outer->setContentsMargins(0, 16, 24, 16);
  m_details = new Card;
  auto* column = m_details->body();
  auto* top = new QHBoxLayout;
  top->setSpacing(12);
  top->addWidget(new IconLabel(QStringLiteral("adapter"), 24, &Palette::accentText), 0, Qt::AlignTop);
  auto* names = new QVBoxLayout;
  names->setSpacing(0);
  m_name = wrapped({}, Role::heading, &Palette::text);
  m_path = new Label({}, Role::caption, &Palette::text2);
  m_path->setElided(true, Qt::ElideMiddle);
  names->addWidget(m_name);
  names->addWidget(m_path);
  top->addLayout(names, 1);
  column->addLayout(top);
  auto* actions = new QHBoxLayout;
  actions->setSpacing(8);
  m_chat = makeButton(tr("Chat"), ButtonKind::primary, QStringLiteral("chat"));
  m_export = makeButton(tr("Export…"), ButtonKind::plain, QStringLiteral("export"));
  m_restore = makeButton(tr("Put back"), ButtonKind::primary, QStringLiteral("undo"));
  actions->addWidget(m_chat, 1);
  actions->addWidget(m_export, 1);
  actions->addWidget(m_restore, 1);
  column->addLayout(actions);
  column->addSpacing(4);
  column->addWidget(horizontalLine());
  auto* grid = new QGridLayout;
  grid->setVerticalSpacing(4);
  const QString captions[] = {tr("Base"),  tr("Data"), tr("Version"),
                              tr("Steps"), tr("Loss"), tr("Evaluation loss"),
                              tr("Made"),  tr("Disk")};
  int line = 0;
  for (const QString& caption : captions) {
    auto* value = new Label({}, Role::caption);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    value->setElided(true, Qt::ElideMiddle);
    m_facts.push_back(value);
    grid->addWidget(new Label(caption, Role::caption, &Palette::text3), line, 0);
    grid->addWidget(value, line++, 1);
  }
  column->addLayout(grid);
  column->addStretch();
  m_goOn = makeButton(tr("Go on training…"), ButtonKind::plain, QStringLiteral("train"));
  column->addWidget(m_goOn);
  outer->addWidget(m_details);
  connect(m_chat, &QPushButton::clicked, this, [this] { emit chatRequested(chosenIds().value(0)); });
  connect(m_export, &QPushButton::clicked, this, [this] { emit exportRequested(chosenIds().value(0)); });
  connect(m_goOn, &QPushButton::clicked, this, [this] { emit goOnRequested(chosenIds().value(0)); });
  connect(m_restore, &QPushButton::clicked, this, [this] { m_context.library->restore(chosenIds()); });
  return box;
}

QWidget* LibraryPage::makeEmpty() {
  auto* empty = new EmptyState(
      tr("No adapters yet"),
      tr("An adapter is what training writes: a few megabytes that teach a base model your task.\n"
         "Each one is kept here with the data, settings and run it came from."));
  QPushButton* sample =
      makeButton(tr("Train with the sample data"), ButtonKind::primary, QStringLiteral("play"));
  QPushButton* own = makeButton(tr("Choose my own data…"));
  sample->setVisible(!m_context.paths.samples.isEmpty());
  empty->addButton(sample);
  empty->addButton(own);
  empty->setCost(tr("The sample needs about a minute on this machine and no download."));
  connect(sample, &QPushButton::clicked, this, &LibraryPage::sampleRequested);
  connect(own, &QPushButton::clicked, this, &LibraryPage::newRunRequested);
  return empty;
}

void LibraryPage::fillGroups() {
  const auto& adapters = m_context.library->adapters();
  const auto& trash = m_context.library->trash();
  const bool any = !adapters.empty() || !trash.empty();
  m_stack->setCurrentIndex(any ? 1 : 0);
  m_search->setVisible(any);
  std::map<QString, int> groups;
  for (const AdapterRecord& one : adapters) ++groups[fromUtf8(one.group)];
  const QString before =
      m_groups->currentItem() ? m_groups->currentItem()->data(Qt::UserRole).toString() : QString();
  {
    const QSignalBlocker quiet(m_groups);
    m_groups->clear();
    const auto add = [this](const QString& glyph, const QString& text, std::size_t count,
                            const QString& key) {
      auto* item = new QListWidgetItem(
          icon(glyph), QStringLiteral("%1  (%2)").arg(text, countText(static_cast<std::int64_t>(count))),
          m_groups);
      item->setData(Qt::UserRole, key);
      item->setToolTip(text);
      item->setSizeHint({0, 32});
    };
    add(QStringLiteral("adapter"), tr("All adapters"), adapters.size(), QString());
    for (const auto& [group, count] : groups)
      add(QStringLiteral("collection"), group, static_cast<std::size_t>(count), group);
    add(QStringLiteral("trash"), tr("Trash"), trash.size(), kTrash);
    m_groups->setIconSize({16, 16});
    m_groups->setCurrentRow(0);
    for (int i = 0; i < m_groups->count(); ++i) {
      if (m_groups->item(i)->data(Qt::UserRole).toString() == before) m_groups->setCurrentRow(i);
    }
  }
  m_head->setCaption(any ? tr("%n adapter(s)", nullptr, static_cast<int>(adapters.size())) +
                               QStringLiteral(" · ") +
                               tr("%n group(s)", nullptr, static_cast<int>(groups.size()))
                         : QString());
  if (!m_context.library->problem().isEmpty())
    m_banner->showProblem(m_context.library->problem());
  else
    m_banner->clear();
  chooseGroup();
  if (!m_wanted.isEmpty()) select(std::exchange(m_wanted, {}));
}

void LibraryPage::chooseGroup() {
  const QListWidgetItem* item = m_groups->currentItem();
  const QString key = item ? item->data(Qt::UserRole).toString() : QString();
  const QStringList chosen = chosenIds();
  m_model->show(key == kTrash ? QString() : key, key == kTrash);
  if (!chosen.isEmpty()) select(chosen.first());
}

void LibraryPage::select(const QString& adapterId) {
  for (int row = 0; row < m_sorted->rowCount(); ++row) {
    if (m_sorted->index(row, 0).data(IdRole).toString() != adapterId) continue;
    m_table->selectRow(row);
    m_table->scrollTo(m_sorted->index(row, 0));
    return;
  }
}

QStringList LibraryPage::chosenIds() const {
  QStringList ids;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
    ids << index.data(IdRole).toString();
  return ids;
}

void LibraryPage::showDetails() {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  const AdapterRecord* one =
      rows.isEmpty() ? nullptr : m_model->adapter(m_sorted->mapToSource(rows.first()).row());
  m_details->setVisible(one != nullptr);
  if (!one) return;
  const bool trash = m_model->showsTrash(), single = rows.size() == 1;
  m_name->setText(single ? fromUtf8(one->name)
                         : tr("%n adapters chosen", nullptr, static_cast<int>(rows.size())));
  m_path->setText(shortPath(m_context.library->folderOf(*one)));
  m_path->setToolTip({});
  m_chat->setVisible(!trash);
  m_export->setVisible(!trash);
  m_goOn->setVisible(!trash);
  m_restore->setVisible(trash);
  for (QPushButton* button : {m_chat, m_export, m_goOn}) {
    button->setEnabled(single && !one->missing);
    button->setToolTip(one->missing ? tr("The adapter's files are not there any more") : QString());
  }
  const QString values[] = {fromUtf8(one->base_name),
                            fromUtf8(one->data_name),
                            QStringLiteral("v%1").arg(one->version),
                            countText(one->steps),
                            lossText(one->loss),
                            lossText(one->eval_loss),
                            dayTimeText(QDateTime::fromMSecsSinceEpoch(one->created_ms)),
                            bytesText(static_cast<std::uint64_t>(std::max<std::int64_t>(0, one->bytes)))};
  for (std::size_t i = 0; i < m_facts.size(); ++i) {
    m_facts[i]->setText(values[i]);
    m_facts[i]->setToolTip({});
  }
}

void LibraryPage::renameChosen() {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows(AdaptersModel::name);
  if (rows.isEmpty()) return;
  m_table->setCurrentIndex(rows.first());
  m_table->edit(rows.first());
}

void LibraryPage::deleteChosen() {
  const QStringList ids = chosenIds();
  if (ids.isEmpty() || m_model->showsTrash()) return;
  std::uint64_t bytes = 0;
  for (const QString& id : ids) {
    if (const AdapterRecord* one = m_context.library->find(id))
      bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(0, one->bytes));
  }
  const AdapterRecord* first = m_context.library->find(ids.first());
  const QString question = ids.size() == 1 && first
                               ? tr("Move %1 to the trash?").arg(fromUtf8(first->name))
                               : tr("Move %n adapters to the trash?", nullptr, static_cast<int>(ids.size()));
  if (ask(window(), QStringLiteral("trash"), question,
          tr("It stays there for 30 days and can be put back. %1 become free after that.")
              .arg(bytesText(bytes)),
          tr("Move to trash"))) {
    m_context.library->moveToTrash(ids);
  }
}

void LibraryPage::showMenu(const QPoint& at) {
  const QStringList ids = chosenIds();
  if (ids.isEmpty()) return;
  QMenu menu(this);
  const auto add = [&](const char* glyph, const QString& text, const QKeySequence& keys,
                       std::function<void()> run) {
    QAction* action = menu.addAction(icon(QString::fromLatin1(glyph)), text);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    return action;
  };
  if (m_model->showsTrash()) {
    add("undo", tr("Put back"), {}, [this] { m_context.library->restore(chosenIds()); });
  } else {
    const bool good = m_chat->isEnabled();
    add("chat", tr("Chat"), {}, [&] { emit chatRequested(ids.first()); })->setEnabled(good);
    add("export", tr("Export…"), {}, [&] { emit exportRequested(ids.first()); })->setEnabled(good);
    add("train", tr("Go on training…"), {}, [&] { emit goOnRequested(ids.first()); })->setEnabled(good);
    menu.addSeparator();
    add("edit", tr("Rename"), Qt::Key_F2, [this] { renameChosen(); });
    add("folder", tr("Show the folder"), {}, [&] {
      if (const AdapterRecord* one = m_context.library->find(ids.first()))
        QDesktopServices::openUrl(QUrl::fromLocalFile(m_context.library->folderOf(*one)));
    });
    menu.addSeparator();
    add("trash", tr("Move to trash"), QKeySequence::Delete, [this] { deleteChosen(); });
  }
  menu.exec(m_table->viewport()->mapToGlobal(at));
}

void LibraryPage::shown() {
  m_context.library->refresh();
}
QPushButton* LibraryPage::primaryButton() const {
  return m_details->isVisible() ? (m_model->showsTrash() ? m_restore : m_chat) : nullptr;
}
QWidget* LibraryPage::searchField() const {
  return m_search;
}
QWidget* LibraryPage::firstFocus() const {
  return m_table;
}

void LibraryPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool narrow = width() < 1200 - 81;
  m_table->setColumnHidden(AdaptersModel::base, width() < 1400);  // the group says it
  m_table->setColumnHidden(AdaptersModel::size, narrow);
  m_table->setColumnHidden(AdaptersModel::dataSet, true);  // the group says it, and the details
}

}  // namespace lorikeet::ui

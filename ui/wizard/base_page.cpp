// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/base_page.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include "ui/engine/library_store.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/table.h"
#include "ui/wizard/models_model.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

bool looksLikePath(const QString& text) {
  return text.startsWith(QLatin1Char('/')) || text.startsWith(QLatin1String("~/")) ||
         text.startsWith(QLatin1String("./"));
}

}  // namespace

BasePage::BasePage(WizardModel* model, QWidget* parent)
    : StepPage(
          model, tr("Base model"),
          tr("The model that learns. Its weights stay unchanged; training writes a small adapter beside it."),
          parent) {
  setAcceptDrops(true);
  m_banner = new Banner;
  m_models = new ModelsModel(model, this);
  m_sorted = new QSortFilterProxyModel(this);
  m_sorted->setSourceModel(m_models);
  m_sorted->setSortRole(SortRole);
  m_sorted->setFilterKeyColumn(-1);
  m_sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_table = new Table;
  m_table->setModel(m_sorted);
  m_table->setAccessibleName(tr("Base models on this machine"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(-1, Qt::AscendingOrder);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(ModelsModel::name, QHeaderView::Stretch);
  body()->addWidget(makeGoalRow());
  body()->addWidget(makeSearchRow());
  body()->addWidget(m_banner);
  body()->addWidget(m_table, 1);
  m_details = makeDetails();
  body()->addWidget(m_details);

  const auto choose = [this](const QModelIndex& index) {
    if (m_selecting || !index.isValid()) return;
    m_banner->clear();
    this->model()->chooseBase(index.data(PathRole).toString());
  };
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this, choose] {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (!rows.isEmpty()) choose(rows.first());
  });
  connect(m_table, &Table::rowActivated, this, choose);
  connect(m_models, &ModelsModel::loaded, this, &BasePage::selectChosen);
  connect(model, &WizardModel::baseChanged, this, &BasePage::showBase);
  connect(model, &WizardModel::baseFailed, this, &BasePage::showProblem);
  connect(model->context().library, &LibraryStore::changed, this, &BasePage::fillAdapters);
  fillAdapters();
  showGoal();
  showBase();
}

QWidget* BasePage::makeGoalRow() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  row->addWidget(new Label(tr("I want to teach"), Role::body, &Palette::text2));
  m_goal = new Segments({tr("A task"), tr("A style"), tr("Facts"), tr("Go on from an adapter")});
  m_goal->setAccessibleName(tr("I want to teach"));
  row->addWidget(m_goal);
  row->addStretch();
  column->addLayout(row);
  m_goalSentence = wrapped({}, Role::caption);
  column->addWidget(m_goalSentence);
  m_adapterRow = new QWidget;
  auto* adapters = new QHBoxLayout(m_adapterRow);
  adapters->setContentsMargins(0, 0, 0, 0);
  adapters->setSpacing(12);
  m_adapters = new ComboBox;
  m_adapters->setAccessibleName(tr("Adapter to go on from"));
  m_adapters->setMinimumWidth(320);
  adapters->addWidget(new Label(tr("Adapter"), Role::body, &Palette::text2));
  adapters->addWidget(m_adapters);
  adapters->addStretch();
  column->addWidget(m_adapterRow);
  connect(m_goal, &Segments::chosen, this, &BasePage::setGoal);
  connect(m_adapters, &QComboBox::activated, this, [this](int index) {
    const AdapterRecord* adapter = model()->context().library->find(m_adapters->itemData(index).toString());
    if (!adapter) return;
    model()->chooseAdapter(model()->context().library->folderOf(*adapter), fromUtf8(adapter->name),
                           fromUtf8(adapter->base_path));
    emit stateChanged();
  });
  return box;
}

QWidget* BasePage::makeSearchRow() {
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search name or family, or type a path"));
  m_search->setAccessibleName(tr("Search base models"));
  m_search->setClearButtonEnabled(true);
  QPushButton* browseButton =
      makeButton(tr("Open folder or GGUF…"), ButtonKind::plain, QStringLiteral("folder"));
  auto* menu = new QMenu(browseButton);
  connect(menu->addAction(icon(QStringLiteral("folder")), tr("Folder with safetensors…")),
          &QAction::triggered, this, [this] { browse(true); });
  connect(menu->addAction(icon(QStringLiteral("file")), tr("GGUF file…")), &QAction::triggered, this,
          [this] { browse(false); });
  connect(browseButton, &QPushButton::clicked, this, [menu, browseButton] {
    menu->popup(browseButton->mapToGlobal(QPoint(0, browseButton->height() + 2)));
  });
  row->addWidget(m_search, 1);
  row->addWidget(browseButton);
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    setLook(m_search, "invalid", false);
    m_sorted->setFilterFixedString(looksLikePath(text) ? QString() : text);
  });
  connect(m_search, &QLineEdit::returnPressed, this, [this] {
    const QString text = m_search->text().trimmed();
    if (looksLikePath(text)) open(text);
  });
  return box;
}

Card* BasePage::makeDetails() {
  auto* card = new Card;
  auto* top = new QHBoxLayout;
  top->setSpacing(12);
  top->addWidget(new IconLabel(QStringLiteral("base"), 24, &Palette::accentText));
  auto* names = new QVBoxLayout;
  names->setSpacing(0);
  m_name = new Label({}, Role::heading);
  m_path = new Label({}, Role::caption, &Palette::text2);
  m_path->setElided(true, Qt::ElideMiddle);
  names->addWidget(m_name);
  names->addWidget(m_path);
  top->addLayout(names, 1);
  QPushButton* chat = makeButton(tr("Try in chat"), ButtonKind::quiet);
  connect(chat, &QPushButton::clicked, this, [this] {
    if (model()->state().base) emit chatWanted(model()->state().base->path);
  });
  top->addWidget(chat);
  card->body()->addLayout(top);
  card->body()->addWidget(horizontalLine());
  auto* facts = new QHBoxLayout;
  facts->setSpacing(32);
  for (const QString& caption : {tr("Family"), tr("Layers"), tr("Vocabulary"), tr("Weights on disk"),
                                 tr("End of answer"), tr("Chat template")}) {
    auto* fact = new QVBoxLayout;
    fact->setSpacing(0);
    auto* value = new Label;
    m_facts.push_back(value);
    fact->addWidget(new Label(caption, Role::caption, &Palette::text3));
    fact->addWidget(value);
    facts->addLayout(fact);
  }
  facts->addStretch();
  card->body()->addLayout(facts);
  card->hide();
  return card;
}

void BasePage::enter() {
  m_models->refresh();
  m_goal->setCurrent(static_cast<int>(model()->state().goal));
  showGoal();
}

void BasePage::setGoal(int goal) {
  m_goal->setCurrent(goal);
  model()->edit().goal = static_cast<Goal>(goal);
  if (model()->state().goal != Goal::goOn && !model()->state().adapterPath.isEmpty())
    model()->chooseAdapter({}, {}, {});
  showGoal();
  if (model()->state().goal == Goal::goOn && m_adapters->count() > 0 &&
      model()->state().adapterPath.isEmpty()) {
    emit m_adapters->activated(m_adapters->currentIndex());
  }
  emit stateChanged();
}

void BasePage::showGoal() {
  const Goal goal = model()->state().goal;
  m_adapterRow->setVisible(goal == Goal::goOn && m_adapters->count() > 0);
  switch (goal) {
    case Goal::task:
      m_goalSentence->setText(
          tr("LoRA learns form and skill well. 200 good rows that show the task are a start."));
      break;
    case Goal::style:
      m_goalSentence->setText(
          tr("A style needs few rows. Keep them varied, or the model repeats their topics."));
      break;
    case Goal::facts:
      m_goalSentence->setText(
          tr("LoRA learns facts poorly. For facts, keep the source text in the prompt as well."));
      break;
    case Goal::goOn:
      m_goalSentence->setText(
          m_adapters->count() > 0
              ? tr("Training goes on from the adapter's weights, on the base it was made for.")
              : tr("The library has no adapter yet. Train one first, then it can be gone on with."));
      break;
  }
}

void BasePage::fillAdapters() {
  const QString chosen = model()->state().adapterPath;
  m_adapters->clear();
  for (const AdapterRecord& adapter : model()->context().library->adapters()) {
    if (adapter.missing) continue;
    m_adapters->addItem(QStringLiteral("%1 · %2").arg(fromUtf8(adapter.name), fromUtf8(adapter.base_name)),
                        fromUtf8(adapter.id));
    if (model()->context().library->folderOf(adapter) == chosen)
      m_adapters->setCurrentIndex(m_adapters->count() - 1);
  }
  showGoal();
}

void BasePage::browse(bool folder) {
  const QString path = folder ? QFileDialog::getExistingDirectory(this, tr("Open a folder with a base model"))
                              : QFileDialog::getOpenFileName(this, tr("Open a GGUF file"), {},
                                                             tr("GGUF (*.gguf);;All files (*)"));
  if (!path.isEmpty()) open(path);
}

void BasePage::open(const QString& given) {
  QString path = given;
  if (path.startsWith(QLatin1String("~/"))) path = QDir::homePath() + path.mid(1);
  path = QDir::cleanPath(QFileInfo(path).absoluteFilePath());
  m_banner->clear();
  m_search->setProperty("asked", path);
  model()->chooseBase(path);
}

void BasePage::showBase() {
  const auto& base = model()->state().base;
  m_details->setVisible(base != nullptr);
  if (!base) return;
  m_banner->clear();
  setLook(m_search, "invalid", false);
  // What was opened by hand joins the list once it proved to be a model.
  if (m_models->isLoaded() && m_models->rowOf(base->path) < 0) {
    model()->edit().opened.insert(model()->edit().opened.begin(), base->path);
    m_search->clear();
    m_models->refresh();
  }
  m_name->setText(base->name);
  m_path->setText(shortPath(base->path));
  m_path->setToolTip({});
  const ModelSpec& spec = base->spec;
  const QStringList values = {
      fromUtf8(spec.family),
      QStringLiteral("%1 × %2").arg(countText(spec.layers), countText(spec.hidden_size)),
      countText(spec.vocab_size),
      QStringLiteral("%1 %2").arg(bytesText(base->weightBytes), base->storage),
      base->endToken.isEmpty() ? unknownText() : base->endToken,
      base->hasChatTemplate ? tr("The model's own") : tr("None, Alpaca is used")};
  for (int i = 0; i < values.size(); ++i) m_facts[static_cast<std::size_t>(i)]->setText(values[i]);
  m_facts[4]->setRole(Role::mono);
  selectChosen();
  emit stateChanged();
}

void BasePage::selectChosen() {
  const auto& base = model()->state().base;
  const int row = base ? m_models->rowOf(base->path) : -1;
  if (row < 0) return;
  m_selecting = true;
  const QModelIndex index = m_sorted->mapFromSource(m_models->index(row, 0));
  m_table->setCurrentIndex(index);
  m_table->selectRow(index.row());
  m_selecting = false;
}

void BasePage::showProblem(const Problem& problem) {
  m_banner->showProblem(problem);
  setLook(m_search, "invalid", !m_search->text().isEmpty());
  emit stateChanged();
}

QString BasePage::obstacle() const {
  if (model()->isLoadingBase()) return tr("Reading the model …");
  if (!model()->state().base) return tr("Choose a base model to go on.");
  if (model()->state().goal == Goal::goOn && model()->state().adapterPath.isEmpty())
    return tr("Choose an adapter to go on from.");
  return {};
}

QWidget* BasePage::firstFocus() const {
  return m_table;
}

void BasePage::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void BasePage::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) return open(url.toLocalFile());
  }
}

}  // namespace lorikeet::ui

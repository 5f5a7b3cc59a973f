// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/publish/export_page.h"

#include <QButtonGroup>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QStackedWidget>

#include "ui/engine/device_monitor.h"
#include "ui/engine/library_store.h"
#include "ui/publish/export_row.h"
#include "ui/publish/target_card.h"
#include "ui/widgets/background.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

/// What planning said: the bytes and files, or the problem.
struct PlanOutcome {
  quint64 bytes = 0;
  int files = 0;
  Problem problem;
};

namespace {

constexpr const char* kTypes[] = {"bf16", "f16", "f32"};

PlanOutcome planOf(const ExportRequest& request) {
  PlanOutcome outcome;
  try {
    for (const PlannedFile& file : plan_export(request)) {
      outcome.bytes += file.bytes;
      ++outcome.files;
    }
  } catch (const std::exception&) {
    outcome.problem = currentProblem();
  }
  return outcome;
}

}  // namespace

ExportPage::ExportPage(const StudioContext& context, QWidget* parent) : Page(parent), m_context(context) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(24, 0, 24, 16);
  column->setSpacing(0);
  column->addWidget(new PageHead(tr("Export"), tr("Take an adapter out of the library, for use elsewhere.")));
  m_stack = new QStackedWidget;
  auto* content = new QWidget;
  auto* row = new QHBoxLayout(content);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(16);
  row->addWidget(makeLeft(), 1);
  row->addWidget(makeOptions());
  m_stack->addWidget(makeEmpty());
  m_stack->addWidget(content);
  column->addWidget(m_stack, 1);
  connect(context.library, &LibraryStore::changed, this, &ExportPage::fillAdapters);
  connect(context.devices, &DeviceMonitor::changed, this, &ExportPage::updateOptions);
  fillAdapters();
}

QWidget* ExportPage::makeLeft() {
  auto* left = new QWidget;
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  auto* choice = new QHBoxLayout;
  choice->setSpacing(8);
  m_adapter = new ComboBox;
  m_adapter->setAccessibleName(tr("Adapter"));
  m_adapter->setMinimumWidth(264);
  m_base = new Label({}, Role::strong);
  m_base->setElided(true);
  choice->addWidget(new IconLabel(QStringLiteral("adapter"), 20, &Palette::accentText));
  choice->addWidget(m_adapter);
  choice->addWidget(new Label(tr("on"), Role::body, &Palette::text2));
  choice->addWidget(m_base, 1);
  column->addLayout(choice);
  m_banner = new Banner;
  column->addWidget(m_banner);
  auto* cards = new QHBoxLayout;
  cards->setSpacing(12);
  auto* group = new QButtonGroup(this);
  m_cards[adapterTarget] = new TargetCard(QStringLiteral("adapter"), tr("Adapter for PEFT"),
                                          tr("A small folder for Python tools and for Lorikeet"));
  m_cards[mergedTarget] = new TargetCard(QStringLiteral("merge"), tr("Merged model"),
                                         tr("Base and adapter as one safetensors folder"));
  for (int i = 0; i < targets; ++i) {
    group->addButton(m_cards[static_cast<std::size_t>(i)], i);
    cards->addWidget(m_cards[static_cast<std::size_t>(i)], 1);
  }
  column->addLayout(cards);
  m_list = new Card(tr("Exports"));
  m_list->body()->setContentsMargins(0, 16, 0, 8);
  m_list->head()->setContentsMargins(16, 0, 16, 0);
  m_list->body()->setSpacing(0);
  m_none = wrapped(tr("What you export is listed here with its progress."));
  m_none->setContentsMargins(16, 8, 16, 8);
  m_list->body()->addWidget(m_none);
  column->addWidget(m_list);
  column->addStretch();
  connect(group, &QButtonGroup::idClicked, this, &ExportPage::chooseTarget);
  connect(m_adapter, &QComboBox::activated, this, [this] {
    m_nameByHand = false;
    planSoon();
  });
  return left;
}

QWidget* ExportPage::makeOptions() {
  auto* card = new Card(tr("Adapter for PEFT"));
  card->setFixedWidth(296);
  m_title = card->heading();
  auto* column = card->body();
  m_typeRow = new QWidget;
  auto* types = new QVBoxLayout(m_typeRow);
  types->setContentsMargins(0, 0, 0, 0);
  types->setSpacing(4);
  m_type = new ComboBox;
  m_type->addItems({tr("bf16, as most models"), tr("f16"), tr("f32, twice the size")});
  m_type->setAccessibleName(tr("Weight type"));
  types->addWidget(new Label(tr("Weight type")));
  types->addWidget(m_type);
  column->addWidget(m_typeRow);
  column->addWidget(new Label(tr("Folder")));
  auto* folder = new QHBoxLayout;
  folder->setSpacing(8);
  m_folder = new QLineEdit(shortPath(m_context.paths.exportsFolder()));
  m_folder->setAccessibleName(tr("Folder"));
  QToolButton* browse = makeIconButton(QStringLiteral("folder"), tr("Choose a folder"));
  folder->addWidget(m_folder, 1);
  folder->addWidget(browse);
  column->addLayout(folder);
  column->addWidget(new Label(tr("Name")));
  m_name = new QLineEdit;
  m_name->setFont(roleFont(Role::mono));
  m_name->setAccessibleName(tr("Name of the export"));
  m_nameProblem = wrapped({}, Role::caption, &Palette::danger);
  m_nameProblem->hide();
  column->addWidget(m_name);
  column->addWidget(m_nameProblem);
  column->addStretch();
  column->addWidget(horizontalLine());
  const auto addFigure = [&](const QString& name) {
    auto* row = new QHBoxLayout;
    auto* value = new Label({}, Role::caption);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(new Label(name, Role::caption, &Palette::text3));
    row->addWidget(value, 1);
    column->addLayout(row);
    return value;
  };
  m_size = addFigure(tr("Size"));
  m_free = addFigure(tr("Disk free"));
  m_export = makeButton(tr("Export"), ButtonKind::primary, QStringLiteral("export"));
  column->addWidget(m_export);
  connect(browse, &QToolButton::clicked, this, [this] {
    const QString path = QFileDialog::getExistingDirectory(this, tr("Choose a folder for exports"));
    if (!path.isEmpty()) m_folder->setText(shortPath(path));
  });
  connect(m_type, &QComboBox::activated, this, [this] {
    m_nameByHand = false;
    planSoon();
  });
  connect(m_folder, &QLineEdit::textChanged, this, &ExportPage::updateOptions);
  connect(m_name, &QLineEdit::textEdited, this, [this] {
    m_nameByHand = true;
    updateOptions();
  });
  connect(m_export, &QPushButton::clicked, this, &ExportPage::startExport);
  return card;
}

QWidget* ExportPage::makeEmpty() {
  auto* empty = new EmptyState(
      tr("Nothing to export yet"),
      tr("An adapter comes out of a training run. Once there is one, it can be taken away from here:\n"
         "small for PEFT, or merged into its base."));
  QPushButton* sample =
      makeButton(tr("Train with the sample data"), ButtonKind::primary, QStringLiteral("play"));
  QPushButton* own = makeButton(tr("Choose my own data…"));
  sample->setVisible(!m_context.paths.samples.isEmpty());
  empty->addButton(sample);
  empty->addButton(own);
  connect(sample, &QPushButton::clicked, this, &ExportPage::sampleRequested);
  connect(own, &QPushButton::clicked, this, &ExportPage::newRunRequested);
  return empty;
}

void ExportPage::shown() {
  m_context.library->refresh();
}

void ExportPage::fillAdapters() {
  const QString before = m_adapter->currentData().toString();
  m_adapter->clear();
  for (const AdapterRecord& one : m_context.library->adapters()) {
    if (!one.missing)
      m_adapter->addItem(QStringLiteral("%1 · v%2").arg(fromUtf8(one.name)).arg(one.version),
                         fromUtf8(one.id));
  }
  m_adapter->setCurrentIndex(std::max(0, m_adapter->findData(before)));
  m_stack->setCurrentIndex(m_adapter->count() > 0 ? 1 : 0);
  if (!m_wanted.isEmpty() && m_adapter->findData(m_wanted) >= 0)
    return chooseAdapter(std::exchange(m_wanted, {}));
  planSoon();
}

void ExportPage::chooseAdapter(const QString& id) {
  const int index = m_adapter->findData(id);
  if (index < 0) {
    m_wanted = id;
    return;
  }
  m_adapter->setCurrentIndex(index);
  m_nameByHand = false;
  planSoon();
}

void ExportPage::chooseTarget(int target) {
  m_target = target;
  m_nameByHand = false;
  updateOptions();
}

ExportRequest ExportPage::request(Target target) const {
  ExportRequest request;
  const AdapterRecord* one = m_context.library->find(m_adapter->currentData().toString());
  if (!one) return request;
  request.model_path = one->base_path;
  request.adapter_path = m_context.library->folderOf(*one).toStdString();
  request.kind = target == adapterTarget ? "adapter" : "merged";
  request.type = kTypes[std::max(0, m_type->currentIndex())];
  request.out = outPath().toStdString();
  return request;
}

QString ExportPage::outPath() const {
  QString folder = m_folder->text().trimmed();
  if (folder.startsWith(QLatin1String("~/")) || folder == QLatin1String("~"))
    folder = QDir::homePath() + folder.mid(1);
  return QDir::cleanPath(folder + QLatin1Char('/') + m_name->text().trimmed());
}

void ExportPage::planSoon() {
  const int planning = ++m_planRequest;
  m_bytes = {};
  updateOptions();
  for (const Target target : {adapterTarget, mergedTarget}) {
    m_cards[target]->setFigures(unknownText(), {});
    if (m_adapter->count() == 0) continue;
    inBackground<PlanOutcome>(
        this, [request = request(target)] { return planOf(request); },
        [this, planning, target](const PlanOutcome& outcome) {
          if (planning == m_planRequest) showPlan(target, outcome);
        });
  }
}

void ExportPage::showPlan(Target target, const PlanOutcome& outcome) {
  if (outcome.problem.isEmpty()) {
    m_bytes[target] = outcome.bytes;
    m_cards[target]->setFigures(bytesText(outcome.bytes), tr("%n file(s)", nullptr, outcome.files));
    if (target == m_target) m_banner->clear();
  } else {
    m_cards[target]->setFigures(tr("Not possible"), {});
    m_cards[target]->setToolTip(outcome.problem.what);
    if (target == m_target) m_banner->showProblem(outcome.problem);
  }
  updateOptions();
}

void ExportPage::updateOptions() {
  const auto target = static_cast<Target>(m_target);
  for (int i = 0; i < targets; ++i) m_cards[static_cast<std::size_t>(i)]->setChecked(i == m_target);
  m_title->setText(m_cards[target]->text());
  m_typeRow->setVisible(target == mergedTarget);
  const AdapterRecord* one = m_context.library->find(m_adapter->currentData().toString());
  m_base->setText(one ? fromUtf8(one->base_name) : QString());
  if (one && !m_nameByHand) {
    static const QRegularExpression odd(QStringLiteral("[^A-Za-z0-9._-]+"));
    const QString stem = QStringLiteral("%1-v%2")
                             .arg(fromUtf8(one->name).toLower().replace(odd, QStringLiteral("-")))
                             .arg(one->version);
    const QString suffix =
        target == mergedTarget
            ? QLatin1Char('-') + QString::fromLatin1(kTypes[std::max(0, m_type->currentIndex())])
            : QStringLiteral("-peft");
    QString name = stem + suffix;
    QString folder = m_folder->text().trimmed();
    if (folder.startsWith(QLatin1String("~/"))) folder = QDir::homePath() + folder.mid(1);
    for (int i = 2; QFileInfo::exists(folder + QLatin1Char('/') + name); ++i)
      name = QStringLiteral("%1%2-%3").arg(stem, suffix).arg(i);
    m_name->setText(name);
  }
  const bool taken =
      !m_name->text().trimmed().isEmpty() && QFileInfo::exists(outPath()) && !QDir(outPath()).isEmpty();
  m_nameProblem->setText(m_name->text().trimmed().isEmpty()
                             ? tr("Give the export a name.")
                             : tr("This folder is there already and not empty."));
  const bool bad = m_name->text().trimmed().isEmpty() || taken;
  m_nameProblem->setVisible(bad && one);
  setLook(m_name, "invalid", bad && one);
  const std::uint64_t free = m_context.devices->machine().diskFree;
  m_size->setText(m_bytes[target] ? bytesText(*m_bytes[target]) : unknownText());
  m_free->setText(free > 0 ? bytesText(free) : unknownText());
  const bool full = free > 0 && m_bytes[target] && *m_bytes[target] > free;
  m_free->setInk(full ? &Palette::danger : &Palette::text);
  m_export->setEnabled(one && !bad && m_bytes[target] && !full);
  m_export->setToolTip(full ? tr("The disk has not enough room") : QString());
}

void ExportPage::startExport() {
  const auto target = static_cast<Target>(m_target);
  const ExportRequest wanted = request(target);
  if (!m_bytes[target]) return;
  auto* row = new ExportRow(m_context.paths.engine,
                            target == adapterTarget ? QStringLiteral("adapter") : QStringLiteral("merge"),
                            fromUtf8(wanted.out), *m_bytes[target]);
  m_none->hide();
  m_list->body()->insertWidget(1, row);
  m_rows.push_back(row);
  QStringList arguments{QStringLiteral("export"),    QStringLiteral("--json"),
                        QStringLiteral("--model"),   fromUtf8(wanted.model_path),
                        QStringLiteral("--adapter"), fromUtf8(wanted.adapter_path),
                        QStringLiteral("--as"),      fromUtf8(wanted.kind),
                        QStringLiteral("--out"),     fromUtf8(wanted.out)};
  if (target == mergedTarget) arguments << QStringLiteral("--type") << fromUtf8(wanted.type);
  QDir().mkpath(QFileInfo(fromUtf8(wanted.out)).absolutePath());
  connect(row, &ExportRow::ended, this, [this] {
    m_nameByHand = false;
    updateOptions();
  });
  row->start(arguments);
  m_nameByHand = false;
  updateOptions();
}

QWidget* ExportPage::firstFocus() const {
  return m_adapter->count() > 0 ? m_adapter : nullptr;
}

}  // namespace lorikeet::ui

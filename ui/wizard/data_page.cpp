// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/data_page.h"

#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMimeData>
#include <QSignalBlocker>
#include <QStackedWidget>

#include "ui/charts/mini_chart.h"
#include "ui/widgets/background.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"
#include "ui/widgets/table.h"
#include "ui/wizard/report_card.h"
#include "ui/wizard/row_views.h"
#include "ui/wizard/rows_model.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

constexpr double kFractions[] = {0.01, 0.05, 0.1, 0.0};
constexpr int kOwnFile = 4;

struct NamedTemplate {
  const char* setting;
  const char* name;
};
/// The names are those of the formats and stay as they are in every language.
constexpr NamedTemplate kTemplates[] = {{"alpaca", "Alpaca"},  {"chatml", "ChatML"},  {"zephyr", "Zephyr"},
                                        {"llama2", "Llama 2"}, {"llama3", "Llama 3"}, {"mistral", "Mistral"}};

}  // namespace

DataPage::DataPage(WizardModel* model, QWidget* parent)
    : StepPage(model, tr("Data"), tr("What the model will really see. Nothing is dropped or cut silently."),
               parent) {
  setAcceptDrops(true);
  m_banner = new Banner;
  m_loading = new QWidget;
  auto* loading = new QHBoxLayout(m_loading);
  loading->setContentsMargins(0, 0, 0, 0);
  loading->setSpacing(12);
  m_loadingText = new Label({}, Role::body, &Palette::text2);
  auto* bar = new QProgressBar;
  bar->setRange(0, 0);
  bar->setTextVisible(false);
  bar->setFixedHeight(6);
  bar->setAccessibleName(tr("Reading"));
  QPushButton* cancel = makeButton(tr("Cancel"));
  connect(cancel, &QPushButton::clicked, model, &WizardModel::cancelReading);
  loading->addWidget(m_loadingText);
  loading->addWidget(bar, 1);
  loading->addWidget(cancel);
  m_loading->hide();
  m_stack = new QStackedWidget;
  m_stack->addWidget(makeEmpty());
  m_stack->addWidget(makeContent());
  body()->addWidget(m_banner);
  body()->addWidget(m_loading);
  body()->addWidget(m_stack, 1);
  connect(model, &WizardModel::dataProgress, this, [this](qint64 rows) {
    m_loadingText->setText(tr("Reading … %n row(s)", nullptr, static_cast<int>(rows)));
  });
  connect(model, &WizardModel::loadingChanged, this, &DataPage::showLoading);
  connect(model, &WizardModel::dataChanged, this, &DataPage::showData);
  connect(model, &WizardModel::preparedChanged, this, &DataPage::showData);
  connect(model, &WizardModel::settingsChanged, this, [this] {
    fillTemplates();
    fillSplit();
  });
  connect(model, &WizardModel::dataFailed, this, [this](const Problem& problem) {
    m_banner->showProblem(problem);
    setLook(m_path, "invalid", true);
    m_columns->setVisible(true);
    emit stateChanged();
  });
  showData();
}

QWidget* DataPage::makeEmpty() {
  auto* card = new Card;
  auto* column = card->body();
  column->addStretch(1);
  auto* top = new IconLabel(QStringLiteral("dataset"), 48, &Palette::accentText);
  auto* title = new Label(tr("Bring your rows"), Role::title);
  Label* text = wrapped(
      tr("Instructions, conversations or texts, as JSON, JSONL, CSV, TSV, Parquet or plain text. Drop a file "
         "here, type its path, or try the stories that come with Lorikeet."));
  title->setAlignment(Qt::AlignHCenter);
  text->setAlignment(Qt::AlignHCenter);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  m_path = new QLineEdit;
  m_path->setPlaceholderText(tr("Path of a data file"));
  m_path->setAccessibleName(tr("Path of the data file"));
  QPushButton* choose = makeButton(tr("Choose a file…"), ButtonKind::plain, QStringLiteral("folder"));
  row->addWidget(m_path, 1);
  row->addWidget(choose);
  auto* middle = new QWidget;
  middle->setMaximumWidth(560);
  auto* inside = new QVBoxLayout(middle);
  inside->setSpacing(12);
  inside->addWidget(top, 0, Qt::AlignHCenter);
  inside->addWidget(title);
  inside->addWidget(text);
  inside->addLayout(row);
  m_columns = new QLineEdit;
  m_columns->setPlaceholderText(tr("Columns, such as instruction=question,output=answer"));
  m_columns->setAccessibleName(tr("Columns of the data file"));
  m_columns->hide();
  inside->addWidget(m_columns);
  QPushButton* sample = makeButton(tr("Use the sample stories"), ButtonKind::quiet, QStringLiteral("play"));
  inside->addWidget(sample, 0, Qt::AlignHCenter);
  sample->setVisible(!model()->context().paths.samples.isEmpty());
  auto* across = new QHBoxLayout;
  across->addStretch();
  across->addWidget(middle, 4);
  across->addStretch();
  column->addLayout(across);
  column->addStretch(2);
  connect(m_path, &QLineEdit::returnPressed, this, [this] { open(m_path->text().trimmed()); });
  connect(m_path, &QLineEdit::textEdited, this, [this] { setLook(m_path, "invalid", false); });
  connect(m_columns, &QLineEdit::returnPressed, this,
          [this] { model()->setSetting("columns", m_columns->text().trimmed()); });
  connect(choose, &QPushButton::clicked, this, &DataPage::browse);
  connect(sample, &QPushButton::clicked, this, [this] { open(model()->context().paths.sampleData()); });
  return card;
}

QWidget* DataPage::makeFileRow() {
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(10);
  m_fileName = new Label({}, Role::strong);
  m_fileName->setElided(true, Qt::ElideMiddle);
  m_fileName->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  m_format = new Chip;
  m_size = new Label({}, Role::caption, &Palette::text2);
  m_split = new ComboBox;
  m_split->setAccessibleName(tr("Evaluation rows"));
  m_split->setMinimumWidth(160);
  QPushButton* other = makeButton(tr("Other file…"), ButtonKind::plain, QStringLiteral("folder"));
  row->addWidget(new IconLabel(QStringLiteral("file"), 20));
  row->addWidget(m_fileName);
  row->addWidget(m_format);
  row->addWidget(m_size);
  row->addStretch();
  row->addWidget(new Label(tr("Evaluation"), Role::body, &Palette::text2));
  row->addWidget(m_split);
  row->addWidget(other);
  connect(other, &QPushButton::clicked, this, &DataPage::browse);
  connect(m_split, &QComboBox::activated, this, &DataPage::chooseSplit);
  return box;
}

QWidget* DataPage::makeContent() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(makeFileRow());
  m_tabs = new Tabs;
  for (const QString& name : {tr("Table"), tr("As chat"), tr("As tokens"), tr("Lengths")})
    m_tabs->addTab(name);
  m_tabs->setAccessibleName(tr("How the rows are shown"));
  auto* tabColumn = new QVBoxLayout;
  tabColumn->setSpacing(0);
  tabColumn->addWidget(m_tabs);
  tabColumn->addWidget(horizontalLine());
  column->addLayout(tabColumn);
  m_rowBar = makeRowBar();
  column->addWidget(m_rowBar);
  m_views = new QStackedWidget;
  m_rows = new RowsModel(this);
  m_table = new Table;
  m_table->setModel(m_rows);
  m_table->setRowHeight(28);
  m_table->setAccessibleName(tr("Rows"));
  QHeaderView* head = m_table->horizontalHeader();
  head->setSectionResizeMode(QHeaderView::Stretch);
  head->setSectionResizeMode(RowsModel::number, QHeaderView::Fixed);
  head->resizeSection(RowsModel::number, 64);
  m_chat = new ChatRowView;
  m_lengths = new Histogram;
  for (QWidget* view : std::initializer_list<QWidget*>{m_table, m_chat, m_tokens, m_lengths})
    m_views->addWidget(view);
  column->addWidget(m_views, 1);
  m_report = new ReportCard(model());
  column->addWidget(m_report);
  connect(m_tabs, &QTabBar::currentChanged, this, &DataPage::setTab);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& index) {
            if (index.isValid() && index.row() != m_row) showRow(index.row());
          });
  connect(m_report, &ReportCard::saveFailed, this, [this](const QString& path) {
    m_banner->show(BannerKind::danger, tr("Cannot write the list"), shortPath(path));
  });
  return box;
}

QWidget* DataPage::makeRowBar() {
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_picker = new RowPicker;
  m_tokens = new TokenRowView;
  m_templateRow = new QWidget;
  auto* templates = new QHBoxLayout(m_templateRow);
  templates->setContentsMargins(0, 0, 0, 0);
  templates->setSpacing(8);
  m_template = new ComboBox;
  m_template->setAccessibleName(tr("Template"));
  m_template->setMinimumWidth(200);
  templates->addWidget(new Label(tr("Template"), Role::body, &Palette::text2));
  templates->addWidget(m_template);
  row->addWidget(m_picker);
  row->addStretch();
  row->addWidget(m_templateRow);
  row->addWidget(m_tokens->chips());
  connect(m_picker, &RowPicker::rowChosen, this, &DataPage::showRow);
  connect(m_template, &QComboBox::activated, this,
          [this](int index) { model()->setSetting("template", m_template->itemData(index).toString()); });
  return box;
}

void DataPage::setTab(int tab) {
  m_tabs->setCurrentIndex(tab);
  m_views->setCurrentIndex(tab);
  m_rowBar->setVisible(tab == tabChat || tab == tabTokens);
  m_templateRow->setVisible(tab == tabChat);
  m_tokens->chips()->setVisible(tab == tabTokens);
}

void DataPage::enter() {
  showData();
  setTab(m_tabs->currentIndex());
}

void DataPage::open(const QString& given) {
  if (given.isEmpty()) return;
  QString path = given;
  if (path.startsWith(QLatin1String("~/"))) path = QDir::homePath() + path.mid(1);
  m_banner->clear();
  m_loadingText->setText(tr("Reading …"));
  model()->chooseData(QDir::cleanPath(QFileInfo(path).absoluteFilePath()));
  emit stateChanged();
}

void DataPage::browse() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Choose a data file"), {},
      tr("All data sets (*.json *.jsonl *.ndjson *.csv *.tsv *.parquet *.txt *.gz *.zst);;All files (*)"));
  if (!path.isEmpty()) open(path);
}

void DataPage::showLoading() {
  m_loading->setVisible(model()->isReading() || (model()->isPreparing() && model()->state().data != nullptr));
  if (!model()->isReading() && model()->isPreparing()) m_loadingText->setText(tr("Counting tokens …"));
  emit stateChanged();
}

void DataPage::showData() {
  const WizardState& state = model()->state();
  m_stack->setCurrentIndex(state.data ? 1 : 0);
  if (!state.data) return;
  setLook(m_path, "invalid", false);
  const DataReport& report = state.data->report;
  m_fileName->setText(QFileInfo(model()->dataPath()).fileName());
  m_fileName->setToolTip(shortPath(model()->dataPath()));
  const bool sure = report.confidence != "low" && report.confidence != "medium";
  const QString format = fromUtf8(report.format);
  m_format->setState(sure                            ? tr("%1, recognised").arg(format)
                     : report.confidence == "medium" ? tr("%1, probably").arg(format)
                                                     : tr("%1, doubtful").arg(format),
                     report.confidence == "low" ? Tone::warning : Tone::success,
                     report.confidence == "low" ? QStringLiteral("warning") : QStringLiteral("check"));
  m_size->setText(tr("%n row(s)", nullptr, static_cast<int>(report.read)) + QStringLiteral(" · ") +
                  bytesText(static_cast<std::uint64_t>(report.bytes)));
  m_rows->setData(state.data);
  m_picker->setCount(static_cast<int>(state.data->rows.size()));
  m_report->update();
  if (!model()->prepareProblem().isEmpty() && !state.prepared) {
    m_banner->showProblem(model()->prepareProblem());
  } else if (!report.warnings.empty()) {
    QStringList warnings;
    for (const std::string& warning : report.warnings) warnings.append(fromUtf8(warning));
    m_banner->show(BannerKind::warning, warnings.mid(0, 3).join(QStringLiteral(" · ")));
  } else {
    m_banner->clear();
  }
  if (state.prepared) m_lengths->setLengths(state.prepared->lengths, state.prepared->max_length);
  fillTemplates();
  fillSplit();
  showRow(std::min(m_row, static_cast<int>(state.data->rows.size()) - 1));
  emit stateChanged();
}

void DataPage::fillTemplates() {
  const WizardState& state = model()->state();
  const QSignalBlocker quiet(m_template);
  m_template->clear();
  const bool own = state.base && state.base->hasChatTemplate;
  m_template->addItem(own ? tr("Auto: the model's own") : tr("Auto: Alpaca"), QStringLiteral("auto"));
  for (const NamedTemplate& one : kTemplates)
    m_template->addItem(QString::fromLatin1(one.name), QString::fromLatin1(one.setting));
  m_template->addItem(tr("None, plain text"), QStringLiteral("none"));
  const QString now = fromUtf8(state.settings.template_name);
  int index = m_template->findData(now);
  if (index < 0) {
    m_template->addItem(QFileInfo(now).fileName(), now);
    index = m_template->count() - 1;
  }
  m_template->setCurrentIndex(index);
}

void DataPage::fillSplit() {
  const WizardState& state = model()->state();
  const QSignalBlocker quiet(m_split);
  m_split->clear();
  const auto rows = state.data ? std::ssize(state.data->rows) : 0;
  int current = -1;
  for (int i = 0; i < 4; ++i) {
    const double fraction = kFractions[i];
    const auto part = static_cast<std::int64_t>(
        fraction > 0 && rows > 1 ? split_rows(rows, fraction, state.settings.seed).evaluation.size() : 0);
    m_split->addItem(
        fraction > 0 ? tr("Split %1, %n row(s)", nullptr, static_cast<int>(part)).arg(percentText(fraction))
                     : tr("None"));
    if (state.settings.eval_data.empty() && state.settings.eval_fraction == fraction) current = i;
  }
  const QString own = fromUtf8(state.settings.eval_data);
  m_split->addItem(own.isEmpty() ? tr("A file of its own…") : QFileInfo(own).fileName());
  if (!own.isEmpty()) current = kOwnFile;
  if (current < 0) {  // a fraction set in the advanced form
    m_split->addItem(tr("Split %1").arg(percentText(state.settings.eval_fraction, 1)));
    current = kOwnFile + 1;
  }
  m_split->setCurrentIndex(current);
}

void DataPage::chooseSplit(int index) {
  if (index == kOwnFile) {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Choose a file for evaluation"), {},
        tr("All data sets (*.json *.jsonl *.ndjson *.csv *.tsv *.parquet *.txt *.gz *.zst);;All files (*)"));
    path.isEmpty() ? fillSplit() : model()->chooseEvaluationData(path);
    return;
  }
  if (index > kOwnFile) return;
  if (!model()->state().settings.eval_data.empty()) model()->chooseEvaluationData({});
  model()->setSetting("eval-fraction", QString::number(kFractions[index]));
}

void DataPage::showRow(int row) {
  const WizardState& state = model()->state();
  if (!state.data || row < 0 || row >= static_cast<int>(state.data->rows.size())) return;
  m_row = row;
  m_picker->setRow(row);
  if (m_table->currentIndex().row() != row) m_table->setCurrentIndex(m_rows->index(row, 0));
  const int request = ++m_previewRequest;
  if (!state.prepared) {
    RowPreview waiting;
    waiting.problem = state.base ? tr("Counting tokens …")
                                 : tr("Choose a base model first: its template and tokens are shown here.");
    m_chat->show(waiting);
    m_tokens->show({});
    return;
  }
  inBackground<RowPreview>(
      this,
      [data = state.data, prepared = state.prepared, settings = state.settings, row] {
        return previewRow(data->rows[static_cast<std::size_t>(row)], *prepared, settings);
      },
      [this, request](const RowPreview& preview) {
        if (request != m_previewRequest) return;
        m_chat->show(preview);
        m_tokens->show(preview);
      });
}

QString DataPage::obstacle() const {
  if (model()->isReading()) return tr("Reading the rows …");
  if (!model()->state().data) return tr("Choose data to go on.");
  if (!model()->prepareProblem().isEmpty() && !model()->state().prepared)
    return tr("No row can be used like this.");
  if (!model()->state().prepared) return tr("Counting tokens …");
  return {};
}

StepMark DataPage::mark() const {
  if (!obstacle().isEmpty()) return StepMark::look;
  return model()->state().data->report.refused_rows > 0 ? StepMark::look : StepMark::done;
}

QWidget* DataPage::firstFocus() const {
  return model()->state().data ? static_cast<QWidget*>(m_tabs) : m_path;
}

void DataPage::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void DataPage::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) return open(url.toLocalFile());
  }
}

void DataPage::resizeEvent(QResizeEvent* event) {
  StepPage::resizeEvent(event);
  const bool narrow = width() < 720;
  m_report->setNarrow(narrow);
  m_tabs->setTabVisible(tabLengths, narrow);
}

}  // namespace lorikeet::ui

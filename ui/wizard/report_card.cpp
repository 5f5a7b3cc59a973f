// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/report_card.h"

#include <QFileDialog>
#include <QGridLayout>
#include <QSaveFile>
#include <QSignalBlocker>
#include <algorithm>

#include "ui/charts/mini_chart.h"
#include "ui/widgets/format.h"
#include "ui/widgets/table.h"
#include "ui/wizard/rows_model.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

constexpr const char* kPolicies[] = {"cut", "drop", "split"};

}  // namespace

ReportCard::ReportCard(WizardModel* model, QWidget* parent) : QFrame(parent), m_model(model) {
  setProperty("kind", QStringLiteral("card"));
  setFixedHeight(206);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 12, 16, 8);
  row->setSpacing(16);
  row->addWidget(makeCounts());
  row->addWidget(verticalLine());
  m_lengths = makeLengths();
  m_lengthsLine = verticalLine();
  row->addWidget(m_lengths, 1);
  row->addWidget(m_lengthsLine);
  row->addWidget(makeRefused(), 1);
}

QWidget* ReportCard::makeCounts() {
  auto* box = new QWidget;
  box->setMinimumWidth(250);
  auto* grid = new QGridLayout(box);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(0, 1);
  grid->addWidget(new Label(tr("Report"), Role::strong), 0, 0, 1, 3);
  const QString captions[rows] = {tr("Rows read"),    tr("Used"),    tr("Duplicates, kept"),
                                  tr("Empty answer"), tr("Refused"), {}};
  for (int i = 0; i < rows; ++i) {
    auto* caption = new Label(captions[i], Role::body, &Palette::text2);
    auto* value = new Label(unknownText(), Role::strong);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    if (i == tooLong) m_longCaption = caption;
    m_counts[static_cast<std::size_t>(i)] = value;
    grid->addWidget(caption, i + 1, 0);
    grid->addWidget(value, i + 1, 1);
    grid->setRowStretch(i + 1, 1);
  }
  m_policy = new ComboBox;
  m_policy->addItems({tr("Cut"), tr("Drop"), tr("Split")});
  m_policy->setAccessibleName(tr("What happens to longer rows"));
  m_policy->setMaximumWidth(96);
  grid->addWidget(m_policy, tooLong + 1, 2);
  connect(m_policy, &QComboBox::activated, this,
          [this](int index) { m_model->setSetting("too-long", QString::fromLatin1(kPolicies[index])); });
  return box;
}

QWidget* ReportCard::makeLengths() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  column->addWidget(new Label(tr("Length in tokens"), Role::strong));
  m_histogram = new Histogram;
  column->addWidget(m_histogram, 1);
  m_median = new Label({}, Role::caption, &Palette::text2);
  column->addWidget(m_median);
  return box;
}

QWidget* ReportCard::makeRefused() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* top = new QHBoxLayout;
  m_refusedTitle = new Label({}, Role::strong);
  m_save = makeButton(tr("Save list…"), ButtonKind::quiet);
  setLook(m_save, "compact", true);
  top->addWidget(m_refusedTitle, 1);
  top->addWidget(m_save);
  m_refused = new RefusedModel(this);
  m_table = new Table;
  m_table->setFlat();
  m_table->setModel(m_refused);
  m_table->setRowHeight(25);
  m_table->setAccessibleName(tr("Refused rows"));
  m_table->horizontalHeader()->setFixedHeight(26);
  m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  m_table->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
  column->addLayout(top);
  column->addWidget(m_table, 1);
  connect(m_save, &QPushButton::clicked, this, &ReportCard::saveList);
  return box;
}

void ReportCard::setNarrow(bool narrow) {
  m_lengths->setVisible(!narrow);
  m_lengthsLine->setVisible(!narrow);
}

void ReportCard::update() {
  const WizardState& state = m_model->state();
  if (!state.data) return;
  const DataReport& report = state.data->report;
  const auto set = [this](Row row, std::int64_t value, Token ink) {
    m_counts[row]->setText(countText(value));
    m_counts[row]->setInk(value > 0 ? ink : &Palette::text);
  };
  const auto* prepared = state.prepared.get();
  set(read, report.read, &Palette::text);
  set(used, prepared ? std::ssize(prepared->train) + std::ssize(prepared->evaluation) : report.used,
      &Palette::success);
  set(duplicates, report.duplicates, &Palette::text);
  set(empty, report.empty_answers, &Palette::warning);
  const auto listed = prepared ? prepared->refused : report.refused;
  const std::int64_t all = std::max(report.refused_rows, std::ssize(listed));
  set(refused, all, &Palette::danger);
  m_longCaption->setText(prepared ? tr("Longer than %1").arg(countText(prepared->max_length))
                                  : tr("Too long"));
  if (prepared)
    set(tooLong, prepared->long_rows, &Palette::warning);
  else
    m_counts[tooLong]->setText(unknownText());
  for (int i = 0; i < 3; ++i) {
    if (state.settings.too_long == kPolicies[i]) m_policy->setCurrentIndex(i);
  }
  m_refusedTitle->setText(all > 0 ? tr("Refused rows, %1").arg(countText(all)) : tr("No row was refused"));
  m_refused->setRows(listed);
  m_table->setVisible(all > 0);
  m_save->setVisible(all > 0);
  if (!prepared || prepared->lengths.empty()) {
    m_median->setText(state.base ? QString() : tr("Choose a base model to count tokens"));
    return;
  }
  std::vector<std::int64_t> sorted = prepared->lengths;
  std::nth_element(sorted.begin(), sorted.begin() + std::ssize(sorted) / 2, sorted.end());
  m_median->setText(
      tr("Median %1, longest %2").arg(countText(sorted[sorted.size() / 2]), countText(prepared->longest)));
  m_histogram->setLengths(prepared->lengths, prepared->max_length);
}

void ReportCard::saveList() {
  const QString path = QFileDialog::getSaveFileName(this, tr("Save the list of refused rows"),
                                                    QStringLiteral("refused.tsv"), tr("Text (*.tsv)"));
  if (path.isEmpty()) return;
  QSaveFile file(path);
  QByteArray text;
  for (const RefusedRow& row : m_refused->rows())
    text += QByteArray::number(qlonglong(row.number)) + '\t' + QByteArray::fromStdString(row.reason) + '\n';
  if (!file.open(QIODevice::WriteOnly) || file.write(text) < 0 || !file.commit()) emit saveFailed(path);
}

}  // namespace lorikeet::ui

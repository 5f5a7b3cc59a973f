// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/rows_model.h"

#include "ui/widgets/format.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {
namespace {

int alignment(bool right) {
  return int((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
}

/// A cell shows the beginning; a row may be megabytes long.
QString cellText(const std::string& text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(std::min<std::size_t>(text.size(), 400)));
}

}  // namespace

void RowsModel::setData(std::shared_ptr<const InstructionData> data) {
  beginResetModel();
  m_data = std::move(data);
  endResetModel();
}

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !m_data ? 0 : static_cast<int>(m_data->rows.size());
}
int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns;
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const InstructionRow& row = m_data->rows[static_cast<std::size_t>(index.row())];
  if (role == Qt::TextAlignmentRole) return alignment(index.column() == number);
  if (role == InkRole) return index.column() == number ? QStringLiteral("text3") : QString();
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  switch (index.column()) {
    case number:
      return countText(row.number);
    case instruction:
      return cellText(row.instruction);
    case input:
      return cellText(row.input);
    case output:
      return cellText(row.output);
    default:
      return {};
  }
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return alignment(section == number);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case number:
      return tr("Row");
    case instruction:
      return tr("Instruction");
    case input:
      return tr("Input");
    case output:
      return tr("Answer");
    default:
      return {};
  }
}

void RefusedModel::setRows(std::vector<RefusedRow> rows) {
  beginResetModel();
  m_rows = std::move(rows);
  endResetModel();
}

int RefusedModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int RefusedModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : 2;
}

QVariant RefusedModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const RefusedRow& row = m_rows[static_cast<std::size_t>(index.row())];
  if (role == Qt::TextAlignmentRole) return alignment(index.column() == 0);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  return index.column() == 0 ? countText(row.number) : fromUtf8(row.reason);
}

QVariant RefusedModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) return alignment(section == 0);
  if (role != Qt::DisplayRole) return {};
  return section == 0 ? tr("Row") : tr("Refused because");
}

}  // namespace lorikeet::ui

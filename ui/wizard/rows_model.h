// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "core/data/dataset.h"

namespace lorikeet::ui {

/// The rows of a data set as they were read.
class RowsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { number, instruction, input, output, columns };
  using QAbstractTableModel::QAbstractTableModel;
  void setData(std::shared_ptr<const InstructionData> data);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  using QAbstractTableModel::setData;
  std::shared_ptr<const InstructionData> m_data;
};

/// Refused rows with their reasons.
class RefusedModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void setRows(std::vector<RefusedRow> rows);
  const std::vector<RefusedRow>& rows() const { return m_rows; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<RefusedRow> m_rows;
};

}  // namespace lorikeet::ui

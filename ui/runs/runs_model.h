// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "ui/engine/run_store.h"

namespace lorikeet::ui {

/// The runs of a store as a table; at most `most` rows (0 = all).
class RunsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { name, base, state, loss, evalLoss, time, finished, columns };
  explicit RunsModel(RunStore* store, int most = 0, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  const RunSummary* run(int row) const;

 private:
  void reload();
  QVariant text(const RunSummary& run, int column) const;
  QVariant sortKey(const RunSummary& run, int column) const;
  RunStore* m_store;
  int m_most;
  std::vector<RunSummary> m_rows;
};

}  // namespace lorikeet::ui

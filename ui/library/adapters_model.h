// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "core/library/library.h"

namespace lorikeet::ui {

class LibraryStore;

/// Adapters of the library or of its trash. The name can be edited.
class AdaptersModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { name, version, base, dataSet, evalLoss, made, size, files, columns };
  explicit AdaptersModel(LibraryStore* store, QObject* parent = nullptr);

  /// "" = all groups.
  void show(const QString& group, bool trash);
  bool showsTrash() const { return m_trash; }
  const AdapterRecord* adapter(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void reload();
  QVariant text(const AdapterRecord& adapter, int column) const;
  LibraryStore* m_store;
  QString m_group;
  bool m_trash = false;
  std::vector<AdapterRecord> m_rows;
};

}  // namespace lorikeet::ui

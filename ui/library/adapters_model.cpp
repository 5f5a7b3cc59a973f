// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/library/adapters_model.h"

#include <QDateTime>

#include "ui/engine/library_store.h"
#include "ui/widgets/format.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {
namespace {

bool isNumber(int column) {
  return column == AdaptersModel::evalLoss || column == AdaptersModel::size;
}

}  // namespace

AdaptersModel::AdaptersModel(LibraryStore* store, QObject* parent)
    : QAbstractTableModel(parent), m_store(store) {
  connect(store, &LibraryStore::changed, this, &AdaptersModel::reload);
  reload();
}

void AdaptersModel::show(const QString& group, bool trash) {
  m_group = group;
  m_trash = trash;
  reload();
}

void AdaptersModel::reload() {
  beginResetModel();
  m_rows.clear();
  for (const AdapterRecord& adapter : m_trash ? m_store->trash() : m_store->adapters()) {
    if (m_group.isEmpty() || fromUtf8(adapter.group) == m_group) m_rows.push_back(adapter);
  }
  endResetModel();
}

int AdaptersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int AdaptersModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns;
}

const AdapterRecord* AdaptersModel::adapter(int row) const {
  return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

QVariant AdaptersModel::text(const AdapterRecord& adapter, int column) const {
  switch (column) {
    case name:
      return fromUtf8(adapter.name);
    case version:
      return QStringLiteral("v%1").arg(adapter.version);
    case base:
      return fromUtf8(adapter.base_name);
    case dataSet:
      return fromUtf8(adapter.data_name);
    case evalLoss:
      return lossText(adapter.eval_loss);
    case made:
      return dayTimeText(QDateTime::fromMSecsSinceEpoch(adapter.created_ms));
    case size:
      return bytesText(static_cast<std::uint64_t>(std::max<std::int64_t>(0, adapter.bytes)));
    case files:
      return adapter.missing ? tr("Missing") : tr("Good");
    default:
      return {};
  }
}

QVariant AdaptersModel::data(const QModelIndex& index, int role) const {
  const AdapterRecord* one = adapter(index.row());
  if (!one) return {};
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
      return text(*one, column);
    case IdRole:
      return fromUtf8(one->id);
    case PathRole:
      return m_store->folderOf(*one);
    case Qt::TextAlignmentRole:
      return int((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case IconNameRole:
      return column == files && one->missing ? QVariant(QStringLiteral("warning")) : QVariant();
    case InkRole:
      return column == files && one->missing ? QVariant(QStringLiteral("warning")) : QVariant();
    case Qt::ToolTipRole:
      return column == name ? QVariant(shortPath(m_store->folderOf(*one))) : QVariant();
    case SortRole:
      switch (column) {
        case version:
          return qlonglong(one->version);
        case evalLoss:
          return one->eval_loss.value_or(1e300);
        case made:
          return qlonglong(one->created_ms);
        case size:
          return qlonglong(one->bytes);
        default:
          return text(*one, column);
      }
    default:
      return {};
  }
}

bool AdaptersModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const AdapterRecord* one = adapter(index.row());
  const QString wanted = value.toString().simplified();
  if (role != Qt::EditRole || !one || wanted.isEmpty() || wanted == fromUtf8(one->name)) return false;
  m_store->rename(fromUtf8(one->id), wanted);
  return true;
}

Qt::ItemFlags AdaptersModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags flags = QAbstractTableModel::flags(index);
  if (index.column() == name && !m_trash) flags |= Qt::ItemIsEditable;
  return flags;
}

QVariant AdaptersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return int((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case name:
      return tr("Name");
    case version:
      return tr("Version");
    case base:
      return tr("Base model");
    case dataSet:
      return tr("Data");
    case evalLoss:
      return tr("Evaluation loss");
    case made:
      return tr("Made");
    case size:
      return tr("Size");
    case files:
      return tr("Files");
    default:
      return {};
  }
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/runs_model.h"

#include <algorithm>

#include "ui/runs/run_words.h"
#include "ui/widgets/format.h"
#include "ui/widgets/table.h"

namespace lorikeet::ui {
namespace {

QString inkName(Tone tone) {
  switch (tone) {
    case Tone::accent:
      return QStringLiteral("accent_text");
    case Tone::success:
      return QStringLiteral("success");
    case Tone::warning:
      return QStringLiteral("warning");
    case Tone::danger:
      return QStringLiteral("danger");
    case Tone::neutral:
      return QStringLiteral("text2");
  }
  return {};
}

bool isNumber(int column) {
  return column == RunsModel::loss || column == RunsModel::evalLoss || column == RunsModel::time;
}

}  // namespace

RunsModel::RunsModel(RunStore* store, int most, QObject* parent)
    : QAbstractTableModel(parent), m_store(store), m_most(most) {
  connect(store, &RunStore::changed, this, &RunsModel::reload);
  reload();
}

void RunsModel::reload() {
  std::vector<RunSummary> rows = m_store->runs();
  if (m_most > 0 && rows.size() > static_cast<std::size_t>(m_most))
    rows.resize(static_cast<std::size_t>(m_most));
  const bool same = rows.size() == m_rows.size() &&
                    std::equal(rows.begin(), rows.end(), m_rows.begin(),
                               [](const RunSummary& a, const RunSummary& b) { return a.path == b.path; });
  if (same) {
    m_rows = std::move(rows);
    if (!m_rows.empty()) emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
    return;
  }
  beginResetModel();
  m_rows = std::move(rows);
  endResetModel();
}

int RunsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int RunsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns;
}

const RunSummary* RunsModel::run(int row) const {
  return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
  const RunSummary* row = run(index.row());
  if (!row) return {};
  switch (role) {
    case Qt::DisplayRole:
      return text(*row, index.column());
    case SortRole:
      return sortKey(*row, index.column());
    case PathRole:
      return row->path;
    case Qt::TextAlignmentRole:
      return int(isNumber(index.column()) ? Qt::AlignRight | Qt::AlignVCenter
                                          : Qt::AlignLeft | Qt::AlignVCenter);
    case IconNameRole:
      return index.column() == state ? QVariant(runWords(*row).icon) : QVariant();
    case InkRole:
      return index.column() == state ? QVariant(inkName(runWords(*row).tone)) : QVariant();
    case Qt::ToolTipRole:
      if (index.column() == state && !row->why.isEmpty()) return row->why;
      return index.column() == name ? QVariant(shortPath(row->path)) : QVariant();
    default:
      return {};
  }
}

QVariant RunsModel::text(const RunSummary& run, int column) const {
  switch (column) {
    case name:
      return run.name;
    case base:
      return run.modelName;
    case state:
      return runWords(run).state;
    case loss:
      return lossText(run.loss);
    case evalLoss:
      return lossText(run.evalLoss);
    case time:
      return run.elapsedSeconds > 0 ? durationText(run.elapsedSeconds) : unknownText();
    case finished:
      return run.alive ? tr("now") : dayTimeText(run.changed);
    default:
      return {};
  }
}

QVariant RunsModel::sortKey(const RunSummary& run, int column) const {
  switch (column) {
    case loss:
      return run.loss.value_or(1e300);
    case evalLoss:
      return run.evalLoss.value_or(1e300);
    case time:
      return run.elapsedSeconds;
    case finished:
      return run.changed;
    default:
      return text(run, column);
  }
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return int(isNumber(section) ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case name:
      return tr("Name");
    case base:
      return tr("Base model");
    case state:
      return tr("State");
    case loss:
      return tr("Loss");
    case evalLoss:
      return tr("Evaluation loss");
    case time:
      return tr("Time");
    case finished:
      return tr("Finished");
    default:
      return {};
  }
}

}  // namespace lorikeet::ui

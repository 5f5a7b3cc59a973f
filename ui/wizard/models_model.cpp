// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/models_model.h"

#include <QFileInfo>

#include "core/library/library.h"
#include "kernels/base/error.h"
#include "ui/engine/device_monitor.h"
#include "ui/widgets/background.h"
#include "ui/widgets/format.h"
#include "ui/widgets/table.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

ListedModel listModel(const QString& name, const QString& path, const QString& place) {
  ListedModel model{name, path, place, {}, {}};
  try {
    model.spec = read_model_spec(path.toStdString());
    if (model.name.isEmpty()) model.name = fromUtf8(model.spec->name);
  } catch (const std::exception&) {
    model.problem = currentProblem();
  }
  if (model.name.isEmpty()) model.name = QFileInfo(path).fileName();
  return model;
}

bool isNumber(int column) {
  return column == ModelsModel::size || column == ModelsModel::context;
}

}  // namespace

ModelsModel::ModelsModel(WizardModel* wizard, QObject* parent)
    : QAbstractTableModel(parent), m_wizard(wizard) {
  connect(wizard->context().devices, &DeviceMonitor::changed, this, [this] {
    if (!m_rows.empty()) emit dataChanged(index(0, fits), index(rowCount() - 1, fits));
  });
}

void ModelsModel::refresh() {
  inBackground<std::vector<ListedModel>>(
      this,
      [sample = m_wizard->context().paths.sampleModel(), opened = m_wizard->state().opened] {
        std::vector<ListedModel> models;
        for (const QString& path : opened) {
          models.push_back(listModel({}, path, QFileInfo(path).isDir() ? tr("Folder") : tr("GGUF file")));
        }
        if (!sample.isEmpty())
          models.push_back(listModel(tr("nest, the sample"), sample, tr("Comes with Lorikeet")));
        for (const FoundModel& found : find_base_models()) {
          models.push_back(listModel(fromUtf8(found.name), fromUtf8(found.path), tr("Hugging Face cache")));
        }
        return models;
      },
      [this](std::vector<ListedModel> models) {
        beginResetModel();
        m_rows = std::move(models);
        endResetModel();
        m_loaded = true;
        emit loaded();
      });
}

int ModelsModel::rowOf(const QString& path) const {
  for (std::size_t i = 0; i < m_rows.size(); ++i) {
    if (m_rows[i].path == path) return static_cast<int>(i);
  }
  return -1;
}

const ListedModel* ModelsModel::at(int row) const {
  return row >= 0 && row < rowCount() ? &m_rows[static_cast<std::size_t>(row)] : nullptr;
}

int ModelsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int ModelsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : columns;
}

ModelsModel::Fit ModelsModel::fitOf(const ListedModel& model) const {
  if (!model.problem.isEmpty())
    return {model.problem.what, QStringLiteral("error"), QStringLiteral("danger"), -1e18};
  const std::uint64_t limit = m_wizard->memoryLimit();
  if (!model.spec || limit == 0)
    return {tr("Asking the engine …"), QStringLiteral("refresh"), QStringLiteral("text2"), 0};
  const Settings& settings = m_wizard->state().settings;
  DataShape shape;  // one full micro-batch, the least a run needs
  shape.rows = 1;
  shape.tokens = shape.longest_row = shape.longest_rows_sum = resolved_max_length(settings, *model.spec);
  try {
    Settings one = settings;
    one.batch_size = 1;
    const Plan plan = make_plan(*model.spec, shape, one, m_wizard->planDevice(settings));
    const double spare = static_cast<double>(limit) - static_cast<double>(plan.memory.total());
    if (spare < 0) {
      return {tr("Too large: %1 short").arg(bytesText(static_cast<std::uint64_t>(-spare))),
              QStringLiteral("error"), QStringLiteral("danger"), spare};
    }
    const bool tight = spare < static_cast<double>(limit) * 0.1;
    const QString text = tight ? tr("Tight: %1 to spare") : tr("Fits, %1 to spare");
    return {text.arg(bytesText(static_cast<std::uint64_t>(spare))),
            tight ? QStringLiteral("warning") : QStringLiteral("success"),
            tight ? QStringLiteral("warning") : QStringLiteral("success"), spare};
  } catch (const Error& error) {
    return {fromUtf8(error.message()), QStringLiteral("error"), QStringLiteral("danger"), -1e18};
  }
}

QVariant ModelsModel::data(const QModelIndex& index, int role) const {
  const ListedModel* model = at(index.row());
  if (!model) return {};
  const int column = index.column();
  switch (role) {
    case PathRole:
      return model->path;
    case Qt::TextAlignmentRole:
      return int((isNumber(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case IconNameRole:
      return column == fits ? QVariant(fitOf(*model).icon) : QVariant();
    case InkRole:
      return column == fits ? QVariant(fitOf(*model).ink) : QVariant();
    case Qt::ToolTipRole:
      return column == fits && !model->problem.isEmpty()
                 ? model->problem.what + QLatin1Char('\n') + model->problem.where
                 : shortPath(model->path);
    case SortRole:
      if (column == size) return qlonglong(model->spec ? model->spec->parameters() : 0);
      if (column == context) return qlonglong(model->spec ? model->spec->context : 0);
      if (column == fits) return fitOf(*model).spare;
      [[fallthrough]];
    case Qt::DisplayRole:
      switch (column) {
        case name:
          return model->name;
        case size:
          return model->spec ? shortCountText(static_cast<double>(model->spec->parameters())) : unknownText();
        case context:
          return model->spec ? countText(model->spec->context) : unknownText();
        case family:
          return model->spec ? fromUtf8(model->spec->family) : unknownText();
        case place:
          return model->place;
        case fits:
          return fitOf(*model).text;
        default:
          return {};
      }
    default:
      return {};
  }
}

QVariant ModelsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole)
    return int((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case name:
      return tr("Model");
    case size:
      return tr("Size");
    case context:
      return tr("Context");
    case family:
      return tr("Family");
    case place:
      return tr("Where");
    case fits:
      return tr("On this machine");
    default:
      return {};
  }
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/model_spec.h"
#include "ui/widgets/banner.h"

namespace lorikeet::ui {

class WizardModel;

/// A base model in the list; what is wrong with it, if anything, stands in `problem`.
struct ListedModel {
  QString name, path, place;
  std::optional<ModelSpec> spec;
  Problem problem;
};

/// Base models on this machine: the sample, the Hugging Face cache, what was opened. Their headers are read
/// on a pool thread.
class ModelsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { name, size, context, family, place, fits, columns };
  explicit ModelsModel(WizardModel* wizard, QObject* parent = nullptr);

  void refresh();
  bool isLoaded() const { return m_loaded; }
  int rowOf(const QString& path) const;
  const ListedModel* at(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 signals:
  void loaded();

 private:
  struct Fit {
    QString text, icon, ink;
    double spare = 0;
  };
  Fit fitOf(const ListedModel& model) const;
  WizardModel* m_wizard;
  std::vector<ListedModel> m_rows;
  bool m_loaded = false;
};

}  // namespace lorikeet::ui

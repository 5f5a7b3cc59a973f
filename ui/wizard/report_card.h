// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include "ui/widgets/controls.h"

namespace lorikeet::ui {

class Histogram;
class RefusedModel;
class Table;
class WizardModel;

/// What reading and tokenising found: counts with their fix, lengths, refused rows.
class ReportCard : public QFrame {
  Q_OBJECT
 public:
  explicit ReportCard(WizardModel* model, QWidget* parent = nullptr);
  void update();
  void setNarrow(bool narrow);
  Table* refusedTable() const { return m_table; }
  QString count(int row) const { return m_counts[static_cast<std::size_t>(row)]->text(); }
  enum Row { read, used, duplicates, empty, refused, tooLong, rows };

 signals:
  void saveFailed(const QString& path);

 private:
  QWidget* makeCounts();
  QWidget* makeLengths();
  QWidget* makeRefused();
  void saveList();
  WizardModel* m_model;
  std::array<Label*, rows> m_counts{};
  Label* m_longCaption;
  ComboBox* m_policy;
  QWidget* m_lengths;
  QFrame* m_lengthsLine;
  Histogram* m_histogram;
  Label* m_median;
  Label* m_refusedTitle;
  RefusedModel* m_refused;
  Table* m_table;
  QPushButton* m_save;
};

}  // namespace lorikeet::ui

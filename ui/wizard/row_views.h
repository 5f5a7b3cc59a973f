// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/wizard/row_preview.h"

class QCheckBox;
class QSpinBox;
class QToolButton;
class QVBoxLayout;

namespace lorikeet::ui {

class Chip;
class Label;

/// Row number with back, forward and random.
class RowPicker : public QWidget {
  Q_OBJECT
 public:
  explicit RowPicker(QWidget* parent = nullptr);
  void setCount(int count);
  void setRow(int row);  ///< 0-based
  int row() const;

 signals:
  void rowChosen(int row);

 private:
  QToolButton* m_back;
  QToolButton* m_forward;
  QSpinBox* m_number;
  Label* m_of;
};

/// A row as a conversation: role, text, trained or context.
class ChatRowView : public QWidget {
  Q_OBJECT
 public:
  explicit ChatRowView(QWidget* parent = nullptr);
  void show(const RowPreview& preview);

 private:
  QWidget* m_inside = nullptr;
  QVBoxLayout* m_column;
};

/// A row as tokens, with the legend and what the row begins and ends with.
class TokenRowView : public QWidget {
  Q_OBJECT
 public:
  explicit TokenRowView(QWidget* parent = nullptr);
  void show(const RowPreview& preview);
  TokenView* view() const { return m_view; }
  QWidget* chips() const { return m_chips; }  ///< for the line of the row picker

 private:
  TokenView* m_view;
  QWidget* m_chips;
  Label* m_count;
  Chip* m_begin;
  Chip* m_end;
  Label* m_trained;
  Label* m_context;
  QWidget* m_cutLegend;
  Label* m_current;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace lorikeet::ui {

class Label;

/// Glyph and text in the status bar.
class StatusItem : public QWidget {
  Q_OBJECT
 public:
  explicit StatusItem(const QString& iconName, QWidget* parent = nullptr);
  void setText(const QString& text);

 private:
  Label* m_label;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/marks.h"

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace lorikeet::ui {

class Label;

/// What the window asks of every page.
class Page : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  virtual void shown() {}                                         ///< the page came to the front
  virtual QPushButton* primaryButton() const { return nullptr; }  ///< Ctrl+Return presses it
  virtual QWidget* searchField() const { return nullptr; }        ///< Ctrl+F goes there
  virtual QWidget* firstFocus() const { return nullptr; }         ///< where F6 lands
  virtual bool stepBack() { return false; }  ///< Esc: true when something was closed or cancelled
};

/// Title, state chip, one caption line; actions at the right, the primary last.
class PageHead : public QWidget {
  Q_OBJECT
 public:
  explicit PageHead(const QString& title, const QString& caption = {}, QWidget* parent = nullptr);
  void setTitle(const QString& title);
  void setCaption(const QString& caption);
  void setChip(const QString& text, Tone tone, const QString& iconName);
  void addAction(QWidget* button);

 private:
  Label* m_title;
  Label* m_caption;
  Chip* m_chip;
  QHBoxLayout* m_actions;
};

/// Feathers, a title, two lines, buttons and what it costs.
class EmptyState : public QWidget {
  Q_OBJECT
 public:
  EmptyState(const QString& title, const QString& text, QWidget* parent = nullptr);
  void addButton(QPushButton* button);
  void setCost(const QString& caption);

 private:
  QHBoxLayout* m_buttons;
  Label* m_cost;
};

/// Asks once before something goes: the heading is the question, the action repeats the verb. True when
/// confirmed.
bool ask(QWidget* parent, const QString& iconName, const QString& question, const QString& detail,
         const QString& action, bool danger = false);

/// Shows a log file read-only, its end first; the text is selectable.
void showLog(QWidget* parent, const QString& title, const QString& path);

}  // namespace lorikeet::ui

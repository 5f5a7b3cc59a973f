// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QProgressBar>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>

#include "ui/widgets/label.h"

class QHBoxLayout;
class QVBoxLayout;

namespace lorikeet::ui {

enum class ButtonKind { plain, primary, quiet, danger };

/// A push button of one of the four kinds, with an icon in the kind's ink when named.
QPushButton* makeButton(const QString& text, ButtonKind kind = ButtonKind::plain,
                        const QString& iconName = {});
/// A 32 x 32 icon button; `name` is both tooltip and accessible name.
QToolButton* makeIconButton(const QString& iconName, const QString& name);
void setButtonKind(QPushButton* button, ButtonKind kind, const QString& iconName = {});

/// A frame drawn by the style sheet after its kind: card, well, line, info, ...
QFrame* makeFrame(const char* kind, QWidget* parent = nullptr);
QFrame* horizontalLine();
QFrame* verticalLine();
/// Sets a dynamic property and lets the style sheet look again.
void setLook(QWidget* widget, const char* property, const QVariant& value);

/// Takes a widget out of its layout and sight at once and deletes it when that is safe.
void discard(QWidget* widget);

/// A combo box whose list has rows of full height.
class ComboBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ComboBox(QWidget* parent = nullptr);

 protected:
  void wheelEvent(QWheelEvent* event) override;  ///< scrolls the page, never changes the value
};

/// A surface with a heading and, at most, one quiet button at its right.
class Card : public QFrame {
  Q_OBJECT
 public:
  explicit Card(const QString& heading = {}, QWidget* parent = nullptr);
  QVBoxLayout* body() const { return m_body; }
  QHBoxLayout* head() const { return m_head; }
  Label* heading() const { return m_heading; }

 private:
  QVBoxLayout* m_body;
  QHBoxLayout* m_head = nullptr;
  Label* m_heading = nullptr;
};

/// A 6 px bar without text inside.
class ThinBar : public QProgressBar {
  Q_OBJECT
 public:
  explicit ThinBar(QWidget* parent = nullptr);
  QSize sizeHint() const override { return {120, 6}; }
  QSize minimumSizeHint() const override { return {40, 6}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
};

/// Tabs as text with a line under the chosen one, flush with the page margin.
class Tabs : public QTabBar {
  Q_OBJECT
 public:
  explicit Tabs(QWidget* parent = nullptr);

 protected:
  QSize tabSizeHint(int index) const override;
  QSize minimumTabSizeHint(int index) const override { return tabSizeHint(index); }
  void paintEvent(QPaintEvent* event) override;
};

/// A row that is a button: icon, two lines, chevron.
class RowButton : public QPushButton {
  Q_OBJECT
 public:
  RowButton(QString iconName, const QString& title, QString detail, QWidget* parent = nullptr);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_icon, m_detail;
};

}  // namespace lorikeet::ui

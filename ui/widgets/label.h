// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include "ui/widgets/fonts.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

/// Text in one of the studio's roles and inks; follows a change of theme.
class Label : public QLabel {
  Q_OBJECT
 public:
  explicit Label(const QString& text = {}, Role role = Role::body, Token ink = &Palette::text,
                 QWidget* parent = nullptr);
  void setInk(Token ink);
  void setRole(Role role) { setFont(roleFont(role)); }
  /// Long text ends in "…" and is shown whole as the tooltip.
  void setElided(bool elided, Qt::TextElideMode mode = Qt::ElideRight);
  QSize minimumSizeHint() const override;

 protected:
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void recolour();
  Token m_ink;
  bool m_elided = false;
  Qt::TextElideMode m_mode = Qt::ElideRight;
};

/// A label that wraps.
Label* wrapped(const QString& text, Role role = Role::body, Token ink = &Palette::text2);

/// A glyph as a label, for cards and rows.
class IconLabel : public QWidget {
  Q_OBJECT
 public:
  IconLabel(QString name, int size, Token ink = &Palette::text2, QWidget* parent = nullptr);
  void setIcon(const QString& name, Token ink);
  QSize sizeHint() const override { return {m_size, m_size}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_name;
  int m_size;
  Token m_ink;
};

}  // namespace lorikeet::ui

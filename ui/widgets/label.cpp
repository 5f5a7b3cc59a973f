// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/label.h"

#include <QEvent>
#include <QPainter>
#include <QStyle>

#include "ui/widgets/icons.h"

namespace lorikeet::ui {

Label::Label(const QString& text, Role role, Token ink, QWidget* parent) : QLabel(text, parent), m_ink(ink) {
  setFont(roleFont(role));
  setTextFormat(Qt::PlainText);
  recolour();
}

void Label::setInk(Token ink) {
  m_ink = ink;
  recolour();
}

void Label::setElided(bool elided, Qt::TextElideMode mode) {
  m_elided = elided;
  m_mode = mode;
  update();
}

QSize Label::minimumSizeHint() const {
  const QSize hint = QLabel::minimumSizeHint();
  return m_elided ? QSize(fontMetrics().horizontalAdvance(QStringLiteral("…")) * 2, hint.height()) : hint;
}

void Label::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::StyleChange) recolour();
}

void Label::paintEvent(QPaintEvent* event) {
  if (!m_elided) {
    QLabel::paintEvent(event);
    return;
  }
  QPainter painter(this);
  const QString shown = fontMetrics().elidedText(text(), m_mode, contentsRect().width());
  if (shown != text() && toolTip().isEmpty()) setToolTip(text());
  painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::WindowText));
  painter.drawText(contentsRect(), static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
}

void Label::recolour() {
  QPalette colours = palette();
  const QColor ink = tokens().*m_ink;
  if (colours.color(QPalette::Active, QPalette::WindowText) == ink) return;
  colours.setColor(QPalette::WindowText, ink);
  colours.setColor(QPalette::Disabled, QPalette::WindowText, tokens().disabled);
  setPalette(colours);
}

Label* wrapped(const QString& text, Role role, Token ink) {
  auto* label = new Label(text, role, ink);
  label->setWordWrap(true);
  return label;
}

IconLabel::IconLabel(QString name, int size, Token ink, QWidget* parent)
    : QWidget(parent), m_name(std::move(name)), m_size(size), m_ink(ink) {
  setFixedSize(size, size);
}

void IconLabel::setIcon(const QString& name, Token ink) {
  m_name = name;
  m_ink = ink;
  update();
}

void IconLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  drawIcon(painter, m_name, isEnabled() ? tokens().*m_ink : tokens().disabled, {0, 0}, m_size);
}

}  // namespace lorikeet::ui

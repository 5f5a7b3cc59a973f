// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/preset_card.h"

#include <QPainter>
#include <QStyleOption>

#include "ui/widgets/fonts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

PresetCard::PresetCard(const QString& name, QString sentence, QWidget* parent)
    : QAbstractButton(parent), m_sentence(std::move(sentence)) {
  setText(name);
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(name);
  setAccessibleDescription(m_sentence);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PresetCard::setFigures(const QString& memory, const QString& steps, const QString& epochs) {
  m_memory = memory;
  m_steps = steps;
  m_epochs = epochs;
  setAccessibleDescription(m_sentence + QLatin1Char(' ') + memory + QStringLiteral(", ") + steps +
                           QStringLiteral(", ") + epochs);
  update();
}

void PresetCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = tokens();
  painter.setPen(isChecked() ? QPen(p.accent, 2) : QPen(p.border, 1));
  painter.setBrush(isChecked() ? p.accentTint : underMouse() ? p.hover : p.surface);
  const double inset = isChecked() ? 1 : 0.5;
  painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 8, 8);

  QStyleOption mark;
  mark.initFrom(this);
  mark.rect = QRect(16, 16, 18, 18);
  mark.state |= isChecked() ? QStyle::State_On : QStyle::State_Off;
  style()->drawPrimitive(QStyle::PE_IndicatorRadioButton, &mark, &painter, this);
  painter.setFont(roleFont(Role::body));
  painter.setPen(p.text);
  painter.drawText(QRect(42, 12, width() - 130, 26), Qt::AlignVCenter | Qt::AlignLeft, text());
  painter.setFont(roleFont(Role::strong));
  painter.drawText(QRect(width() - 116, 12, 100, 26), Qt::AlignVCenter | Qt::AlignRight, m_memory);
  painter.setFont(roleFont(Role::caption));
  painter.setPen(p.text2);
  painter.drawText(QRect(16, 42, width() - 32, 40), Qt::TextWordWrap | Qt::AlignTop | Qt::AlignLeft,
                   m_sentence);
  drawIcon(painter, QStringLiteral("clock"), p.text2, QPointF(16, height() - 31), 16);
  painter.setPen(p.text);
  painter.setFont(roleFont(Role::body));
  painter.drawText(QRect(40, height() - 36, width() - 120, 26), Qt::AlignVCenter | Qt::AlignLeft, m_steps);
  painter.setFont(roleFont(Role::caption));
  painter.setPen(p.text2);
  painter.drawText(QRect(width() - 116, height() - 36, 100, 26), Qt::AlignVCenter | Qt::AlignRight, m_epochs);
}

}  // namespace lorikeet::ui

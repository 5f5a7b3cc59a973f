// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/publish/target_card.h"

#include <QPainter>

#include "ui/widgets/fonts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

TargetCard::TargetCard(QString iconName, const QString& name, QString sentence, QWidget* parent)
    : QAbstractButton(parent), m_icon(std::move(iconName)), m_sentence(std::move(sentence)) {
  setText(name);
  setCheckable(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(name);
  setAccessibleDescription(m_sentence);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TargetCard::setFigures(const QString& size, const QString& files) {
  m_size = size;
  m_files = files;
  setAccessibleDescription(QStringLiteral("%1, %2, %3").arg(m_sentence, size, files));
  update();
}

void TargetCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = tokens();
  painter.setPen(isChecked() ? QPen(p.accent, 2) : QPen(p.border, 1));
  painter.setBrush(isChecked() ? p.accentTint : underMouse() && isEnabled() ? p.hover : p.surface);
  const double inset = isChecked() ? 1 : 0.5;
  painter.drawRoundedRect(QRectF(rect()).adjusted(inset, inset, -inset, -inset), 8, 8);
  drawIcon(painter, m_icon, isChecked() ? p.accentText : p.text2, QPointF(16, 14), 20);
  painter.setFont(roleFont(Role::strong));
  painter.setPen(isEnabled() ? p.text : p.disabled);
  painter.drawText(QRect(47, 10, width() - 80, 26), Qt::AlignVCenter | Qt::AlignLeft, text());
  if (isChecked()) drawIcon(painter, QStringLiteral("check"), p.accentText, QPointF(width() - 32, 15), 16);
  painter.setFont(roleFont(Role::caption));
  painter.setPen(p.text2);
  painter.drawText(QRect(16, 40, width() - 32, 40), Qt::TextWordWrap | Qt::AlignTop | Qt::AlignLeft,
                   m_sentence);
  painter.drawText(QRect(16, height() - 36, width() - 32, 26), Qt::AlignVCenter | Qt::AlignRight, m_files);
  painter.setFont(roleFont(Role::body));
  painter.setPen(p.text);
  painter.drawText(QRect(16, height() - 36, width() - 32, 26), Qt::AlignVCenter | Qt::AlignLeft, m_size);
}

}  // namespace lorikeet::ui

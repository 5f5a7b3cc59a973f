// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/marks.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "ui/widgets/fonts.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

namespace lorikeet::ui {

Token toneInk(Tone tone) {
  switch (tone) {
    case Tone::neutral:
      return &Palette::text2;
    case Tone::accent:
      return &Palette::accentText;
    case Tone::success:
      return &Palette::success;
    case Tone::warning:
      return &Palette::warning;
    case Tone::danger:
      return &Palette::danger;
  }
  return &Palette::text2;
}

Token toneGround(Tone tone) {
  switch (tone) {
    case Tone::neutral:
      return &Palette::sunken;
    case Tone::accent:
      return &Palette::accentTint;
    case Tone::success:
      return &Palette::successTint;
    case Tone::warning:
      return &Palette::warningTint;
    case Tone::danger:
      return &Palette::dangerTint;
  }
  return &Palette::sunken;
}

Chip::Chip(const QString& text, Tone tone, const QString& iconName, QWidget* parent) : QWidget(parent) {
  setState(text, tone, iconName);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
}

void Chip::setState(const QString& text, Tone tone, const QString& iconName) {
  if (m_text == text && m_tone == tone && m_icon == iconName) return;
  m_text = text;
  m_tone = tone;
  m_icon = iconName;
  setAccessibleName(text);
  updateGeometry();
  update();
}

QSize Chip::sizeHint() const {
  const QFontMetrics metrics(roleFont(m_tone == Tone::neutral ? Role::caption : Role::captionStrong));
  return {metrics.horizontalAdvance(m_text) + (m_icon.isEmpty() ? 18 : 36),
          std::max(22, metrics.height() + 5)};
}

void Chip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor ink = tokens().*toneInk(m_tone);
  painter.setPen(m_tone == Tone::neutral ? QPen(tokens().borderStrong, 1) : QPen(Qt::NoPen));
  painter.setBrush(tokens().*toneGround(m_tone));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), height() / 2.0, height() / 2.0);
  int left = 9;
  if (!m_icon.isEmpty()) {
    drawIcon(painter, m_icon, ink, QPointF(7, (height() - 14) / 2.0), 14);
    left = 26;
  }
  painter.setFont(roleFont(m_tone == Tone::neutral ? Role::caption : Role::captionStrong));
  painter.setPen(ink);
  painter.drawText(QRect(left, 0, width() - left, height()), Qt::AlignVCenter | Qt::AlignLeft, m_text);
}

Light::Light(LightState state, QWidget* parent) : QWidget(parent), m_state(state) {
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setState(state);
}

void Light::setState(LightState state) {
  m_state = state;
  setAccessibleName(word(state));
  updateGeometry();
  update();
}

QString Light::word(LightState state) {
  switch (state) {
    case LightState::good:
      return tr("Good");
    case LightState::look:
      return tr("Look");
    case LightState::stops:
      return tr("Stops");
    case LightState::runs:
      return tr("Runs");
  }
  return {};
}

QSize Light::sizeHint() const {
  const QFontMetrics metrics(roleFont(Role::captionStrong));
  return {std::max(78, 30 + metrics.horizontalAdvance(word(m_state))), std::max(20, metrics.height())};
}

void Light::paintEvent(QPaintEvent*) {
  static constexpr Token inks[] = {&Palette::success, &Palette::warning, &Palette::danger,
                                   &Palette::accentText};
  static const QString names[] = {QStringLiteral("success"), QStringLiteral("warning"),
                                  QStringLiteral("error"), QStringLiteral("refresh")};
  const auto index = static_cast<std::size_t>(m_state);
  QPainter painter(this);
  const QColor ink = tokens().*inks[index];
  drawIcon(painter, names[index], ink, QPointF(0, (height() - 20) / 2.0), 20);
  painter.setFont(roleFont(Role::captionStrong));
  painter.setPen(ink);
  painter.drawText(QRect(30, 0, width() - 30, height()), Qt::AlignVCenter | Qt::AlignLeft, word(m_state));
}

MemoryBar::MemoryBar(int height, QWidget* parent) : QWidget(parent), m_height(height) {
  setFixedHeight(height);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void MemoryBar::setParts(std::vector<Part> parts, double whole) {
  m_parts = std::move(parts);
  m_whole = whole;
  update();
}

void MemoryBar::setSpoken(const QString& sentence) {
  setAccessibleName(sentence);
}

void MemoryBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath clip;
  clip.addRoundedRect(QRectF(rect()), 2, 2);
  painter.setClipPath(clip);
  painter.fillRect(rect(), tokens().border);
  double sum = 0;
  for (const Part& part : m_parts) sum += part.amount;
  const double whole = std::max(m_whole, sum);
  if (whole <= 0) return;
  double left = 0;
  for (const Part& part : m_parts) {
    if (part.amount <= 0) continue;
    const double width = part.amount / whole * this->width();
    painter.fillRect(QRectF(left, 0, std::max(1.0, width - 1), height()),
                     tokens().area(tokens().*part.colour));
    left += width;
  }
}

JobRing::JobRing(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
  setFixedHeight(72);
}

void JobRing::setJob(double fraction, const QString& word, Token colour) {
  m_fraction = std::clamp(fraction, 0.0, 1.0);
  m_word = word;
  m_colour = colour;
  setAccessibleName(tr("Run: %1, %2").arg(word, percentText(m_fraction)));
  setToolTip(tr("Open the run"));
  update();
}

void JobRing::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF ring((width() - 36) / 2.0, 4, 36, 36);
  painter.setPen(QPen(tokens().border, 4));
  painter.drawEllipse(ring);
  painter.setPen(QPen(tokens().*m_colour, 4, Qt::SolidLine, Qt::FlatCap));
  painter.drawArc(ring, 90 * 16, static_cast<int>(-360 * 16 * m_fraction));
  painter.setPen(tokens().text);
  painter.setFont(roleFont(Role::small));
  QFont bold = painter.font();
  bold.setBold(true);
  painter.setFont(bold);
  painter.drawText(ring, Qt::AlignCenter, percentText(m_fraction));
  painter.setFont(roleFont(Role::caption));
  painter.setPen(tokens().text2);
  painter.drawText(QRect(0, 46, width(), 22), Qt::AlignCenter,
                   QFontMetrics(roleFont(Role::caption)).elidedText(m_word, Qt::ElideRight, width() - 4));
  if (!hasFocus()) return;
  painter.setPen(QPen(tokens().focus, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(2, -0, -2, -1), 8, 8);
}

void JobRing::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->pos())) emit clicked();
}

void JobRing::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space) {
    emit clicked();
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace lorikeet::ui

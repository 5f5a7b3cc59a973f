// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/controls.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QStyle>
#include <QStyleOptionTab>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "ui/widgets/icons.h"

namespace lorikeet::ui {

void setLook(QWidget* widget, const char* property, const QVariant& value) {
  if (widget->property(property) == value) return;
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
  widget->update();
}

void setButtonKind(QPushButton* button, ButtonKind kind, const QString& iconName) {
  static constexpr const char* names[] = {"plain", "primary", "quiet", "danger"};
  static constexpr Token inks[] = {&Palette::text2, &Palette::onAccent, &Palette::accentText,
                                   &Palette::danger};
  const auto index = static_cast<std::size_t>(kind);
  setLook(button, "kind", QString::fromLatin1(names[index]));
  button->setIcon(iconName.isEmpty() ? QIcon() : icon(iconName, inks[index]));
  button->setIconSize({20, 16});
}

QPushButton* makeButton(const QString& text, ButtonKind kind, const QString& iconName) {
  auto* button = new QPushButton(text);
  setButtonKind(button, kind, iconName);
  button->setAutoDefault(false);
  return button;
}

QToolButton* makeIconButton(const QString& iconName, const QString& name) {
  auto* button = new QToolButton;
  button->setIcon(icon(iconName, &Palette::text2, &Palette::accentText));
  button->setIconSize({20, 20});
  button->setToolTip(name);
  button->setAccessibleName(name);
  button->setFixedSize(32, 32);
  button->setFocusPolicy(Qt::StrongFocus);
  return button;
}

QFrame* makeFrame(const char* kind, QWidget* parent) {
  auto* frame = new QFrame(parent);
  frame->setProperty("kind", QString::fromLatin1(kind));
  return frame;
}

QFrame* horizontalLine() {
  QFrame* line = makeFrame("line");
  line->setFixedHeight(1);
  return line;
}

QFrame* verticalLine() {
  QFrame* line = makeFrame("line");
  line->setFixedWidth(1);
  return line;
}

void discard(QWidget* widget) {
  if (!widget) return;
  widget->hide();
  widget->setParent(nullptr);
  widget->deleteLater();
}

ComboBox::ComboBox(QWidget* parent) : QComboBox(parent) {
  setItemDelegate(new QStyledItemDelegate(this));
  setFocusPolicy(Qt::StrongFocus);
}

void ComboBox::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

Card::Card(const QString& heading, QWidget* parent) : QFrame(parent) {
  setProperty("kind", QStringLiteral("card"));
  m_body = new QVBoxLayout(this);
  m_body->setContentsMargins(16, 16, 16, 16);
  m_body->setSpacing(8);
  if (heading.isEmpty()) return;
  m_head = new QHBoxLayout;
  m_head->setSpacing(8);
  m_heading = new Label(heading, Role::heading);
  m_head->addWidget(m_heading);
  m_head->addStretch();
  m_body->addLayout(m_head);
  setAccessibleName(heading);
}

ThinBar::ThinBar(QWidget* parent) : QProgressBar(parent) {
  setTextVisible(false);
  setRange(0, 1000);
  setFixedHeight(6);
}

void ThinBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(tokens().border);
  painter.drawRoundedRect(rect(), 3, 3);
  const double part = maximum() > minimum() ? double(value() - minimum()) / (maximum() - minimum()) : 0;
  if (part <= 0) return;
  painter.setBrush(isEnabled() ? tokens().accent : tokens().disabled);
  painter.drawRoundedRect(QRectF(0, 0, std::max(6.0, part * width()), height()), 3, 3);
}

Tabs::Tabs(QWidget* parent) : QTabBar(parent) {
  setDrawBase(false);
  setExpanding(false);
  setUsesScrollButtons(false);
  setElideMode(Qt::ElideNone);
}

QSize Tabs::tabSizeHint(int index) const {
  const QFontMetrics metrics(roleFont(Role::strong));
  return {metrics.horizontalAdvance(tabText(index)) + (index + 1 < count() ? 24 : 0),
          std::max(38, metrics.height() + 20)};
}

void Tabs::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  for (int i = 0; i < count(); ++i) {
    const bool chosen = i == currentIndex();
    painter.setFont(roleFont(chosen ? Role::strong : Role::body));
    painter.setPen(!isTabEnabled(i) ? tokens().disabled : chosen ? tokens().text : tokens().text2);
    const QRect area = tabRect(i);
    painter.drawText(area.adjusted(0, 0, 0, -2), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextShowMnemonic,
                     tabText(i));
    if (!chosen) continue;
    const int width = QFontMetrics(roleFont(Role::strong)).horizontalAdvance(tabText(i));
    painter.fillRect(QRect(area.left(), area.bottom() - 1, width, 2),
                     hasFocus() ? tokens().focus : tokens().accent);
  }
}

RowButton::RowButton(QString iconName, const QString& title, QString detail, QWidget* parent)
    : QPushButton(title, parent), m_icon(std::move(iconName)), m_detail(std::move(detail)) {
  setAccessibleDescription(m_detail);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize RowButton::sizeHint() const {
  const int lines =
      QFontMetrics(roleFont(Role::strong)).height() + QFontMetrics(roleFont(Role::caption)).height();
  return {200, std::max(53, lines + 16)};
}

void RowButton::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = tokens();
  painter.setPen(p.border);
  painter.setBrush(underMouse() && isEnabled() ? p.hover : p.surface);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
  drawIcon(painter, m_icon, isEnabled() ? p.text2 : p.disabled, QPointF(12, (height() - 20) / 2), 20);
  drawIcon(painter, QStringLiteral("chevron-right"), p.text3, QPointF(width() - 28, (height() - 16) / 2), 16);
  const QFontMetrics strong(roleFont(Role::strong)), caption(roleFont(Role::caption));
  const int top = (height() - strong.height() - caption.height()) / 2, room = width() - 44 - 32;
  painter.setFont(roleFont(Role::strong));
  painter.setPen(isEnabled() ? p.text : p.disabled);
  painter.drawText(44, top + strong.ascent(), strong.elidedText(text(), Qt::ElideRight, room));
  painter.setFont(roleFont(Role::caption));
  painter.setPen(isEnabled() ? p.text2 : p.disabled);
  painter.drawText(44, top + strong.height() + caption.ascent(),
                   caption.elidedText(m_detail, Qt::ElideRight, room));
}

}  // namespace lorikeet::ui

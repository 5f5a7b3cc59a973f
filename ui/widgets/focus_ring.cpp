// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/focus_ring.h"

#include <QAbstractButton>
#include <QApplication>
#include <QFocusEvent>
#include <QPainter>
#include <QSlider>

#include "ui/widgets/palette.h"

namespace lorikeet::ui {

FocusRing::FocusRing(QWidget* window) : QFocusFrame(window), m_window(window) {
  hide();
  qApp->installEventFilter(this);
}

bool FocusRing::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn && watched->isWidgetType()) {
    auto* widget = static_cast<QWidget*>(watched);
    const Qt::FocusReason reason = static_cast<QFocusEvent*>(event)->reason();
    const bool byKeyboard =
        reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason || reason == Qt::ShortcutFocusReason;
    const bool ringed = qobject_cast<QAbstractButton*>(widget) || qobject_cast<QSlider*>(widget);
    if (widget->window() == m_window) setWidget(byKeyboard && ringed ? widget : nullptr);
  } else if (event->type() == QEvent::MouseButtonPress && widget()) {
    setWidget(nullptr);
  }
  return QFocusFrame::eventFilter(watched, event);
}

void FocusRing::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(tokens().focus, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 8, 8);
}

}  // namespace lorikeet::ui

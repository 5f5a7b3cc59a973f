// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/lorikeet_style.h"

#include <QPainter>
#include <QStyleOption>

#include "ui/widgets/palette.h"

namespace lorikeet::ui {
namespace {

constexpr int kMark = 18;

struct MarkColours {
  QColor fill, edge, sign;
};

MarkColours markColours(QStyle::State state, bool on) {
  const Palette& p = tokens();
  if (!(state & QStyle::State_Enabled)) return {on ? p.border : p.sunken, p.border, p.text3};
  if (on) return {p.accent, p.accent, p.onAccent};
  return {state & QStyle::State_MouseOver ? p.hover : p.surface, p.borderStrong, p.onAccent};
}

void drawCheckMark(const QStyleOption& option, QPainter& painter) {
  const bool partial = option.state & QStyle::State_NoChange;
  const bool on = option.state & QStyle::State_On;
  const MarkColours colours = markColours(option.state, on || partial);
  const QRectF box = QRectF(option.rect).adjusted(0.75, 0.75, -0.75, -0.75);
  painter.setPen(QPen(colours.edge, 1.5));
  painter.setBrush(colours.fill);
  painter.drawRoundedRect(box, 4, 4);
  painter.setPen(QPen(colours.sign, 2, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const QPointF c = box.center();
  if (partial) {
    painter.drawLine(c + QPointF(-4, 0), c + QPointF(4, 0));
  } else if (on) {
    const QPointF tick[] = {c + QPointF(-4, 0.3), c + QPointF(-1.2, 3), c + QPointF(4, -2.8)};
    painter.drawPolyline(tick, 3);
  }
}

void drawRadioMark(const QStyleOption& option, QPainter& painter) {
  const bool on = option.state & QStyle::State_On;
  const MarkColours colours = markColours(option.state, on);
  const QRectF box = QRectF(option.rect).adjusted(0.75, 0.75, -0.75, -0.75);
  painter.setPen(QPen(colours.edge, 1.5));
  painter.setBrush(colours.fill);
  painter.drawEllipse(box);
  if (!on) return;
  painter.setPen(Qt::NoPen);
  painter.setBrush(colours.sign);
  painter.drawEllipse(box.center(), 3.2, 3.2);
}

}  // namespace

LorikeetStyle::LorikeetStyle() : QProxyStyle(QStringLiteral("Fusion")) {}

void LorikeetStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                  const QWidget* widget) const {
  if (element == PE_FrameFocusRect) return;
  const bool check = element == PE_IndicatorCheckBox || element == PE_IndicatorItemViewItemCheck;
  if (!option || (!check && element != PE_IndicatorRadioButton)) {
    QProxyStyle::drawPrimitive(element, option, painter, widget);
    return;
  }
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  check ? drawCheckMark(*option, *painter) : drawRadioMark(*option, *painter);
  painter->restore();
}

int LorikeetStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
      return kMark;
    case PM_CheckBoxLabelSpacing:
    case PM_RadioButtonLabelSpacing:
      return 8;
    case PM_FocusFrameHMargin:
    case PM_FocusFrameVMargin:
      return 5;
    case PM_SmallIconSize:
      return 16;
    case PM_ButtonIconSize:
      return 16;
    case PM_MenuBarPanelWidth:
      return 0;
    default:
      return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

int LorikeetStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                             QStyleHintReturn* data) const {
  switch (hint) {
    case SH_FocusFrame_Mask:
      return 0;
    case SH_ItemView_ShowDecorationSelected:
      return 1;
    case SH_EtchDisabledText:
      return 0;
    case SH_DitherDisabledText:
      return 0;
    default:
      return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>

namespace lorikeet::ui {

/// Fusion with the studio's own check and radio marks and without Qt's dotted focus rectangle; everything
/// else is the style sheet's.
class LorikeetStyle : public QProxyStyle {
  Q_OBJECT
 public:
  LorikeetStyle();
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget = nullptr) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option = nullptr,
                  const QWidget* widget = nullptr) const override;
  int styleHint(StyleHint hint, const QStyleOption* option = nullptr, const QWidget* widget = nullptr,
                QStyleHintReturn* data = nullptr) const override;
};

}  // namespace lorikeet::ui

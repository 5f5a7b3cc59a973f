// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/charts/loss_chart.h"

namespace lorikeet::ui {

/// Lies over the plot and paints what moves with the pointer, so that moving it costs no replot: checkpoint
/// marks, crosshair, discs and read-out. Mouse events fall through.
class LossChart::Overlay : public QWidget {
 public:
  explicit Overlay(LossChart* chart);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintCheckpoints(QPainter& painter) const;
  void paintCursor(QPainter& painter) const;
  void paintReadOut(QPainter& painter, double x) const;
  QPointF pixel(double x, double y) const;
  LossChart* m_chart;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/loss_overlay.h"

#include <qcustomplot.h>

#include <QPainter>
#include <vector>

#include "ui/widgets/fonts.h"
#include "ui/widgets/format.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

LossChart::Overlay::Overlay(LossChart* chart) : QWidget(chart), m_chart(chart) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
}

QPointF LossChart::Overlay::pixel(double x, double y) const {
  QCustomPlot* plot = m_chart->plot();
  return QPointF(plot->xAxis->coordToPixel(x), plot->yAxis->coordToPixel(y)) + plot->pos();
}

void LossChart::Overlay::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (m_chart->m_series.steps().empty()) {
    painter.setFont(roleFont(Role::body));
    painter.setPen(tokens().text2);
    painter.drawText(m_chart->plot()->axisRect()->rect(), Qt::AlignCenter,
                     LossChart::tr("The curve begins with the first step."));
  }
  paintCheckpoints(painter);
  paintCursor(painter);
  if (!m_chart->hasFocus()) return;
  painter.setPen(QPen(tokens().focus, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
}

void LossChart::Overlay::paintCheckpoints(QPainter& painter) const {
  const QRect area = m_chart->plot()->axisRect()->rect();
  painter.setPen(Qt::NoPen);
  painter.setBrush(tokens().axis);
  for (const CheckpointEvent& checkpoint : m_chart->m_checkpoints) {
    const double x = pixel(m_chart->m_series.positionOf(checkpoint.step, m_chart->m_axis), 0).x();
    if (x < area.left() || x > area.right()) continue;
    const double y = area.bottom() - 1;
    const QPointF triangle[] = {{x - 4, y - 6}, {x + 4, y - 6}, {x, y}};
    painter.drawPolygon(triangle, 3);
  }
}

void LossChart::Overlay::paintCursor(QPainter& painter) const {
  if (m_chart->m_cursor < 0 || m_chart->m_cursor >= static_cast<int>(m_chart->m_series.steps().size()))
    return;
  const auto index = static_cast<std::size_t>(m_chart->m_cursor);
  const StepEvent& step = m_chart->m_series.steps()[index];
  const double where = m_chart->m_series.position(step, m_chart->m_axis);
  const QRect area = m_chart->plot()->axisRect()->rect();
  const double x = pixel(where, 0).x();
  if (x < area.left() || x > area.right()) return;
  QPen dashed(tokens().text3, 1);
  dashed.setDashPattern({4, 3});
  painter.setPen(dashed);
  painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
  const auto disc = [&](double y, const QColor& colour) {
    const QPointF at = pixel(where, y);
    if (at.y() < area.top() || at.y() > area.bottom()) return;
    painter.setPen(QPen(tokens().surface, 2));
    painter.setBrush(colour);
    painter.drawEllipse(at, 5, 5);
  };
  if (m_chart->m_smooth->visible()) disc(m_chart->m_series.smoothed()[index], tokens().series1);
  for (const EvalEvent& eval : m_chart->m_evaluations) {
    if (eval.step == step.step && m_chart->m_eval->visible()) disc(eval.loss, tokens().series2);
  }
  paintReadOut(painter, x);
}

void LossChart::Overlay::paintReadOut(QPainter& painter, double x) const {
  struct Line {
    QColor colour;
    QString name, value;
  };
  const auto index = static_cast<std::size_t>(m_chart->m_cursor);
  const StepEvent& step = m_chart->m_series.steps()[index];
  std::vector<Line> lines = {
      {tokens().raw, LossChart::tr("Loss"), lossText(step.loss)},
      {tokens().series1, LossChart::tr("Smoothed"), lossText(m_chart->m_series.smoothed()[index])}};
  const EvalEvent* last = nullptr;  // the newest evaluation up to here
  for (const EvalEvent& eval : m_chart->m_evaluations) {
    if (eval.step <= step.step) last = &eval;
  }
  if (last) lines.push_back({tokens().series2, LossChart::tr("Evaluation"), lossText(last->loss)});

  const QString title = LossChart::tr("Step %1").arg(countText(step.step));
  const QFontMetrics strong(roleFont(Role::captionStrong)), caption(roleFont(Role::caption));
  int names = 0, values = 0;
  for (const Line& line : lines) {
    names = std::max(names, caption.horizontalAdvance(line.name));
    values = std::max(values, caption.horizontalAdvance(line.value));
  }
  const int width = std::max(strong.horizontalAdvance(title), names + values + 40) + 20;
  const int lineHeight = caption.height() + 2;
  const QRect area = m_chart->plot()->axisRect()->rect();
  QRectF box(x + 12, area.top() + 8, width,
             strong.height() + 4 + lineHeight * static_cast<int>(lines.size()) + 14);
  if (box.right() > area.right()) box.moveRight(x - 12);
  painter.setPen(tokens().border);
  painter.setBrush(tokens().surface);
  painter.drawRoundedRect(box, 6, 6);
  painter.setFont(roleFont(Role::captionStrong));
  painter.setPen(tokens().text);
  painter.drawText(QPointF(box.left() + 10, box.top() + 7 + strong.ascent()), title);
  painter.setFont(roleFont(Role::caption));
  double y = box.top() + 7 + strong.height() + 4;
  for (const Line& line : lines) {
    painter.fillRect(QRectF(box.left() + 10, y + lineHeight / 2.0 - 2, 10, 4), line.colour);
    painter.setPen(tokens().text2);
    painter.drawText(QPointF(box.left() + 26, y + caption.ascent()), line.name);
    painter.setPen(tokens().text);
    painter.drawText(QRectF(box.left(), y, box.width() - 10, lineHeight), Qt::AlignRight | Qt::AlignTop,
                     line.value);
    y += lineHeight;
  }
}

}  // namespace lorikeet::ui

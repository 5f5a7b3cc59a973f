// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/loss_chart.h"

#include <qcustomplot.h>

#include <QKeyEvent>
#include <QPainter>
#include <QTextStream>
#include <algorithm>
#include <cmath>

#include "ui/charts/loss_overlay.h"
#include "ui/widgets/format.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

LossChart::LossChart(bool compact, QWidget* parent) : Plot(compact, parent), m_compact(compact) {
  QCustomPlot* p = plot();
  m_raw = p->addGraph();  // added first: it lies below the others
  m_smooth = p->addGraph();
  m_eval = p->addGraph();
  m_raw->setAntialiased(false);
  m_overlay = new Overlay(this);
  m_overlay->hide();
  connect(p, &QCustomPlot::afterReplot, m_overlay, qOverload<>(&QWidget::update));
  if (compact) {
    p->setAttribute(Qt::WA_TransparentForMouseEvents);
  } else {
    setFocusPolicy(Qt::StrongFocus);
    p->xAxis->setLabel(axisWord(m_axis));
    p->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    p->axisRect()->setRangeDrag(Qt::Horizontal | Qt::Vertical);
    p->setMouseTracking(true);
    p->installEventFilter(this);
    m_overlay->show();
  }
  setMinimumHeight(compact ? 96 : 140);
  restyle();
  fitRanges();
  setNumbersShown(false);
}

LossChart::~LossChart() = default;

void LossChart::restyle() {
  Plot::restyle();
  const Palette& p = tokens();
  const auto pen = [](const QColor& colour, double width) {
    return QPen(colour, width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  };
  m_raw->setPen(pen(p.raw, 1));
  m_smooth->setPen(pen(p.series1, 2));
  m_eval->setPen(pen(p.series2, 2));
  m_eval->setScatterStyle(
      QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(p.surface, 1.5), QBrush(p.series2), 9));
}

void LossChart::clear() {
  m_series.clear();
  m_evaluations.clear();
  m_checkpoints.clear();
  m_cursor = -1;
  refill();
}

void LossChart::appendSteps(const std::vector<StepEvent>& steps) {
  if (steps.empty()) return;
  const std::size_t first = m_series.steps().size();
  m_series.append(steps);
  addToGraphs(first);
  if (m_axis != RunAxis::step) refillEvaluations();
  requestReplot();
}

void LossChart::addToGraphs(std::size_t first) {
  const auto& steps = m_series.steps();
  QVector<double> x, raw, smooth;
  for (std::size_t i = first; i < steps.size(); ++i) {
    x << m_series.position(steps[i], m_axis);
    raw << (std::isfinite(steps[i].loss) ? steps[i].loss : qQNaN());
    smooth << m_series.smoothed()[i];
  }
  m_raw->addData(x, raw, true);
  m_smooth->addData(x, smooth, true);
}

void LossChart::refill() {
  m_raw->data()->clear();
  m_smooth->data()->clear();
  addToGraphs(0);
  refillEvaluations();
  requestReplot();
}

void LossChart::refillEvaluations() {
  QVector<double> x, y;
  for (const EvalEvent& eval : m_evaluations) {
    x << m_series.positionOf(eval.step, m_axis);
    y << eval.loss;
  }
  m_eval->setData(x, y, true);
}

void LossChart::setEvaluations(const std::vector<EvalEvent>& evaluations) {
  m_evaluations = evaluations;
  refillEvaluations();
  requestReplot();
}

void LossChart::setCheckpoints(const std::vector<CheckpointEvent>& checkpoints) {
  m_checkpoints = checkpoints;
  m_overlay->update();
}

void LossChart::setTotalSteps(std::int64_t steps) {
  if (m_totalSteps == steps) return;
  m_totalSteps = steps;
  requestReplot();
}

void LossChart::setSmoothing(double smoothing) {
  m_series.setSmoothing(smoothing);
  refill();
}

void LossChart::setAxis(RunAxis axis) {
  m_axis = axis;
  plot()->xAxis->setLabel(axisWord(axis));
  m_following = true;
  refill();
}

void LossChart::setLogarithmic(bool on) {
  m_logarithmic = on;
  QCPAxis* axis = plot()->yAxis;
  axis->setScaleType(on ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  m_following = true;
  requestReplot();
}

void LossChart::setSeriesVisible(Series series, bool visible) {
  QCPGraph* graphs[] = {m_raw, m_smooth, m_eval};
  graphs[static_cast<std::size_t>(series)]->setVisible(visible);
  requestReplot();
}

void LossChart::showAll() {
  m_following = true;
  requestReplot();
}

void LossChart::prepare() {
  setNumbersShown(!m_series.steps().empty());
  if (m_following) fitRanges();
  speak();
}

void LossChart::fitRanges() {
  double low = 1e300, high = -1e300;
  const auto see = [&](double y) {
    if (!std::isfinite(y) || (m_logarithmic && y <= 0)) return;
    low = std::min(low, y);
    high = std::max(high, y);
  };
  // The first steps may be far above everything that follows; they may be clipped.
  const auto& steps = m_series.steps();
  const std::size_t skip = steps.size() > 100 ? steps.size() / 50 : 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i >= skip) see(steps[i].loss);
    if (i >= skip) see(m_series.smoothed()[i]);
  }
  for (const EvalEvent& eval : m_evaluations) see(eval.loss);
  if (low > high) {
    low = 0;
    high = 1;
  }
  const double room = std::max((high - low) * 0.05, 1e-3);
  if (m_logarithmic) {
    plot()->yAxis->setRange(std::max(low * 0.95, 1e-6), high * 1.05);
  } else {
    plot()->yAxis->setRange(std::max(0.0, low - room), high + room);
  }
  const double end = m_series.end(m_totalSteps, m_axis);
  // Discs at both ends stay whole.
  plot()->xAxis->setRange(m_compact ? 0 : -0.008 * end, end * (m_compact ? 1.0 : 1.008));
}

void LossChart::speak() {
  const auto& steps = m_series.steps();
  if (steps.empty()) {
    setAccessibleName(tr("Loss chart, no step yet"));
    return;
  }
  QString sentence =
      tr("Loss chart: step %1 of %2, smoothed loss %3")
          .arg(countText(steps.back().step), m_totalSteps > 0 ? countText(m_totalSteps) : unknownText(),
               lossText(m_series.smoothed().back()));
  if (!m_evaluations.empty()) sentence += tr(", evaluation %1").arg(lossText(m_evaluations.back().loss));
  setAccessibleName(sentence);
}

std::int64_t LossChart::cursorStep() const {
  return m_cursor >= 0 && m_cursor < static_cast<int>(m_series.steps().size())
             ? m_series.steps()[static_cast<std::size_t>(m_cursor)].step
             : -1;
}

void LossChart::setCursorIndex(int index) {
  const int last = static_cast<int>(m_series.steps().size()) - 1;
  index = index < 0 ? -1 : std::min(index, last);
  if (index == m_cursor) return;
  m_cursor = index;
  m_overlay->update();
  emit cursorMoved(cursorStep());
}

bool LossChart::eventFilter(QObject* watched, QEvent* event) {
  if (watched == plot()) {
    if (event->type() == QEvent::MouseMove) {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->buttons() == Qt::NoButton) {
        const double where = plot()->xAxis->pixelToCoord(mouse->position().x());
        setCursorIndex(m_series.nearest(where, m_axis));
      } else {
        m_following = false;
      }
    } else if (event->type() == QEvent::Leave && !hasFocus()) {
      setCursorIndex(-1);
    } else if (event->type() == QEvent::Wheel) {
      const bool vertical = static_cast<QWheelEvent*>(event)->modifiers() & Qt::ControlModifier;
      plot()->axisRect()->setRangeZoom(vertical ? Qt::Vertical : Qt::Horizontal);
      m_following = false;
    } else if (event->type() == QEvent::MouseButtonDblClick) {
      showAll();
    } else if (event->type() == QEvent::MouseButtonPress) {
      setFocus(Qt::MouseFocusReason);
    }
  }
  return Plot::eventFilter(watched, event);
}

void LossChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
  const int last = static_cast<int>(m_series.steps().size()) - 1;
  if (event->key() == Qt::Key_Left && last >= 0) {
    setCursorIndex(std::max(0, (m_cursor < 0 ? last + step : m_cursor) - step));
  } else if (event->key() == Qt::Key_Right && last >= 0) {
    setCursorIndex(m_cursor < 0 ? last : m_cursor + step);
  } else if (event->key() == Qt::Key_Home) {
    showAll();
  } else if (event->key() == Qt::Key_Escape && m_cursor >= 0) {
    setCursorIndex(-1);
  } else {
    Plot::keyPressEvent(event);
  }
}

void LossChart::resizeEvent(QResizeEvent* event) {
  Plot::resizeEvent(event);
  m_overlay->setGeometry(rect());
}

void LossChart::focusInEvent(QFocusEvent* event) {
  Plot::focusInEvent(event);
  m_overlay->update();
}

void LossChart::focusOutEvent(QFocusEvent* event) {
  Plot::focusOutEvent(event);
  m_overlay->update();
}

QString LossChart::csv() const {
  QString text;
  QTextStream out(&text);
  out << "step,epoch,loss,smoothed,evaluation,learning_rate,grad_norm,tokens,tokens_per_second,memory_bytes,"
         "elapsed_seconds\n";
  std::size_t next = 0;
  for (std::size_t i = 0; i < m_series.steps().size(); ++i) {
    const StepEvent& step = m_series.steps()[i];
    while (next < m_evaluations.size() && m_evaluations[next].step < step.step) ++next;
    const bool hasEval = next < m_evaluations.size() && m_evaluations[next].step == step.step;
    out << step.step << ',' << step.epoch << ',' << step.loss << ',' << m_series.smoothed()[i] << ','
        << (hasEval ? QString::number(m_evaluations[next].loss, 'g', 9) : QString()) << ','
        << step.learning_rate << ',' << step.grad_norm << ',' << step.tokens << ',' << step.tokens_per_second
        << ',' << step.memory_bytes << ',' << step.elapsed_seconds << '\n';
  }
  return text;
}

bool LossChart::savePicture(const QString& path) {
  replotNow();
  QPixmap pixmap(size() * 2);
  pixmap.setDevicePixelRatio(2);
  pixmap.fill(tokens().surface);
  render(&pixmap);
  return pixmap.save(path);
}

bool LossChart::savePdf(const QString& path) {
  return plot()->savePdf(path);
}

}  // namespace lorikeet::ui

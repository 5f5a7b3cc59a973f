// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/plot.h"

#include <qcustomplot.h>

#include <QEvent>
#include <QTimer>
#include <QVBoxLayout>
#include <cmath>

#include "ui/widgets/fonts.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

/// Ticks at steps of 1, 2, 2.5 and 5 with as many decimals as the step needs.
class Plot::Ticker : public QCPAxisTicker {
 public:
  std::function<QString(double)> format;

 protected:
  double getTickStep(const QCPRange& range) override {
    const double step = QCPAxisTicker::getTickStep(range);
    m_decimals = 0;
    for (double s = step; m_decimals < 6 && std::fabs(s - std::round(s)) > 1e-9; s *= 10) ++m_decimals;
    return step;
  }
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return format ? format(tick) : QLocale().toString(std::fabs(tick) < 1e-12 ? 0.0 : tick, 'f', m_decimals);
  }

 private:
  int m_decimals = 0;
};

Plot::Plot(bool small, QWidget* parent)
    : QWidget(parent), m_plot(new QCustomPlot), m_timer(new QTimer(this)), m_small(small) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_plot);
  m_plot->setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
  m_plot->setNoAntialiasingOnDrag(true);
  m_plot->axisRect()->setMinimumMargins(QMargins(0, 6, 2, 0));
  m_plot->setFocusPolicy(Qt::NoFocus);
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
    axis->setTicker(QSharedPointer<Ticker>::create());
    axis->setSubTicks(false);
    axis->setNumberFormat(QStringLiteral("g"));  // no powers of ten set above the line
  }
  m_plot->xAxis->setTickLength(0, small ? 3 : 4);
  m_plot->xAxis->setTickLabelPadding(4);
  m_plot->xAxis->grid()->setVisible(false);
  m_plot->yAxis->setTicks(true);
  m_plot->yAxis->setTickLength(0, 0);
  m_plot->yAxis->setTickLabelPadding(8);
  m_plot->yAxis->grid()->setSubGridVisible(false);
  setTickCounts(small ? 3 : 6, small ? 2 : 5);
  m_timer->setSingleShot(true);
  m_timer->setInterval(50);
  connect(m_timer, &QTimer::timeout, this, [this] {
    prepare();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
  });
  Plot::restyle();
}

Plot::~Plot() = default;

void Plot::requestReplot() {
  if (!m_timer->isActive()) m_timer->start();
}

void Plot::replotNow() {
  m_timer->stop();
  prepare();
  m_plot->replot(QCustomPlot::rpImmediateRefresh);
}

void Plot::setTickCounts(int x, int y) {
  m_plot->xAxis->ticker()->setTickCount(x);
  m_plot->yAxis->ticker()->setTickCount(y);
}

void Plot::setAxisFormat(QCPAxis* axis, std::function<QString(double)> format) {
  if (const auto ticker = axis->ticker().dynamicCast<Ticker>()) ticker->format = std::move(format);
}

void Plot::setNumbersShown(bool shown) {
  m_plot->xAxis->setTickLabels(shown);
  m_plot->xAxis->setTicks(shown);
  m_plot->yAxis->setTickLabels(shown);
}

void Plot::restyle() {
  const Palette& p = tokens();
  m_plot->setBackground(QBrush(p.surface));
  const QFont font = roleFont(m_small ? Role::small : Role::caption);
  for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
    axis->setTickLabelFont(font);
    axis->setTickLabelColor(p.text3);
    axis->setLabelFont(font);
    axis->setLabelColor(p.text3);
    axis->setBasePen(QPen(p.axis, 1));
    axis->setTickPen(QPen(p.axis, 1));
    axis->grid()->setPen(QPen(p.grid, 1));
    axis->grid()->setZeroLinePen(QPen(p.grid, 1));
  }
  m_plot->yAxis->setBasePen(Qt::NoPen);
  m_plot->yAxis->setTickPen(Qt::NoPen);
}

void Plot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::StyleChange) return;
  restyle();
  requestReplot();
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/mini_chart.h"

#include <qcustomplot.h>

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/widgets/format.h"
#include "ui/widgets/label.h"

namespace lorikeet::ui {

class MiniChart::Line : public Plot {
 public:
  Line(double pen, MiniChart* owner) : Plot(true), m_owner(owner), m_pen(pen) {
    graph = plot()->addGraph();
    graph->setAntialiased(true);
    plot()->setAttribute(Qt::WA_TransparentForMouseEvents);
    plot()->axisRect()->setAutoMargins(QCP::msTop | QCP::msBottom | QCP::msRight);
    plot()->axisRect()->setMargins(QMargins(40, 0, 0, 0));
    restyle();
    setNumbersShown(false);
  }
  void formatValues(std::function<QString(double)> format) {
    setAxisFormat(plot()->yAxis, std::move(format));
  }
  QCPGraph* graph;
  double end = 1;

 protected:
  void restyle() override {
    Plot::restyle();
    if (graph) graph->setPen(QPen(tokens().series1, m_pen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  }
  void prepare() override {
    setNumbersShown(graph->dataCount() > 0);
    bool found = false;
    const QCPRange range = graph->data()->valueRange(found);
    const double top = std::max(found ? range.upper : 0.0, m_owner->m_ceiling);
    plot()->yAxis->setRange(0, top > 0 ? top * 1.08 : 1);
    plot()->xAxis->setRange(0, std::max(end, 1.0));
  }

 private:
  MiniChart* m_owner;
  double m_pen;
};

MiniChart::MiniChart(const QString& name, std::function<QString(double)> format, double pen, QWidget* parent)
    : QWidget(parent), m_format(std::move(format)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  auto* row = new QHBoxLayout;
  m_name = new Label(name, Role::captionStrong, &Palette::text2);
  m_name->setElided(true);
  m_value = new Label(unknownText(), Role::captionStrong);
  m_value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row->addWidget(m_name, 1);
  row->addWidget(m_value);
  m_line = new Line(pen, this);
  m_line->setMinimumHeight(44);
  column->addLayout(row);
  column->addWidget(m_line, 1);
  setAccessibleName(name);
}

void MiniChart::clear() {
  m_line->graph->data()->clear();
  m_value->setText(unknownText());
  m_line->requestReplot();
}

void MiniChart::append(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.empty()) return;
  m_line->graph->addData(QVector<double>(x.begin(), x.end()), QVector<double>(y.begin(), y.end()), true);
  setValueText(m_format(y.back()));
  m_line->requestReplot();
}

void MiniChart::setEnd(double end) {
  if (m_line->end == end) return;
  m_line->end = end;
  m_line->requestReplot();
}

void MiniChart::setValueText(const QString& text) {
  m_value->setText(text);
  setAccessibleName(QStringLiteral("%1: %2").arg(m_name->text(), text));
}

void MiniChart::setAxisFormat(std::function<QString(double)> format) {
  m_line->formatValues(std::move(format));
}
std::size_t MiniChart::points() const {
  return static_cast<std::size_t>(m_line->graph->dataCount());
}
void MiniChart::replotNow() {
  m_line->replotNow();
}

struct Histogram::Parts {
  QCPBars* within = nullptr;
  QCPBars* beyond = nullptr;
  QCPItemLine* limit = nullptr;
  QCPItemText* caption = nullptr;
};

Histogram::Histogram(QWidget* parent) : Plot(true, parent), m_parts(std::make_unique<Parts>()) {
  QCustomPlot* p = plot();
  p->setAttribute(Qt::WA_TransparentForMouseEvents);
  p->yAxis->setTickLabels(false);
  p->yAxis->grid()->setVisible(false);
  m_parts->within = new QCPBars(p->xAxis, p->yAxis);
  m_parts->beyond = new QCPBars(p->xAxis, p->yAxis);
  m_parts->limit = new QCPItemLine(p);
  m_parts->caption = new QCPItemText(p);
  m_parts->caption->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
  m_parts->caption->position->setTypeX(QCPItemPosition::ptPlotCoords);
  m_parts->caption->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  m_parts->limit->setVisible(false);
  m_parts->caption->setVisible(false);
  setTickCounts(4, 2);
  setMinimumHeight(90);
  restyle();
}

Histogram::~Histogram() = default;

void Histogram::restyle() {
  Plot::restyle();
  const Palette& p = tokens();
  if (!m_parts || !m_parts->within) return;
  m_parts->within->setPen(Qt::NoPen);
  m_parts->within->setBrush(p.area(p.series1));
  m_parts->beyond->setPen(Qt::NoPen);
  m_parts->beyond->setBrush(p.area(p.beak));
  QPen dashed(p.beak, 1.5);
  dashed.setDashPattern({4, 3});
  m_parts->limit->setPen(dashed);
  m_parts->caption->setFont(roleFont(Role::small));
  m_parts->caption->setColor(p.text2);
}

void Histogram::setLengths(const std::vector<std::int64_t>& lengths, std::int64_t limit) {
  const std::int64_t longest = lengths.empty() ? 1 : *std::max_element(lengths.begin(), lengths.end());
  // Bars of a round width, about thirty of them, with an edge exactly at the limit.
  double width = std::pow(2.0, std::ceil(std::log2(std::max(1.0, static_cast<double>(longest) / 30.0))));
  if (limit > 0 && limit <= longest)
    width = static_cast<double>(limit) / std::max(1.0, std::round(static_cast<double>(limit) / width));
  std::vector<double> counts(
      static_cast<std::size_t>(std::ceil(static_cast<double>(longest + 1) / width)) + 1, 0.0);
  for (const std::int64_t length : lengths)
    ++counts[static_cast<std::size_t>(std::max(0.0, static_cast<double>(length - 1) / width))];
  QVector<double> x1, y1, x2, y2;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * width;
    const bool isBeyond = limit > 0 && centre > static_cast<double>(limit);
    (isBeyond ? x2 : x1) << centre;
    (isBeyond ? y2 : y1) << counts[i];
  }
  m_bars =
      static_cast<std::int64_t>(std::count_if(counts.begin(), counts.end(), [](double c) { return c > 0; }));
  m_parts->within->setWidth(width * 0.8);
  m_parts->beyond->setWidth(width * 0.8);
  m_parts->within->setData(x1, y1, true);
  m_parts->beyond->setData(x2, y2, true);
  const double top = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  const bool showsLimit = limit > 0 && static_cast<double>(limit) < static_cast<double>(longest) * 1.6;
  plot()->xAxis->setRange(0, std::max(static_cast<double>(counts.size()) * width,
                                      showsLimit ? static_cast<double>(limit) * 1.05 : 0.0));
  plot()->yAxis->setRange(0, top * 1.2);
  m_parts->limit->setVisible(showsLimit);
  m_parts->caption->setVisible(showsLimit);
  m_parts->limit->start->setCoords(static_cast<double>(limit), 0);
  m_parts->limit->end->setCoords(static_cast<double>(limit), top * 1.2);
  m_parts->caption->position->setCoords(static_cast<double>(limit) - width * 0.4, 0);
  m_parts->caption->setText(tr("Max length %1").arg(countText(limit)));
  setAccessibleName(tr("Lengths of %1 rows, the longest has %2 tokens")
                        .arg(countText(static_cast<std::int64_t>(lengths.size())), countText(longest)));
  requestReplot();
}

}  // namespace lorikeet::ui

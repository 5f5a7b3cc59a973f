// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "ui/charts/plot.h"

class QCPGraph;

namespace lorikeet::ui {

class Label;

/// A small line chart with its name at the left and the newest value at the right.
class MiniChart : public QWidget {
  Q_OBJECT
 public:
  MiniChart(const QString& name, std::function<QString(double)> format, double pen = 1.5,
            QWidget* parent = nullptr);
  void clear();
  void append(const std::vector<double>& x, const std::vector<double>& y);
  void setEnd(double end);
  /// A value the axis always shows, for example the memory that is there; 0 = none.
  void setCeiling(double ceiling) { m_ceiling = ceiling; }
  /// How numbers at the y axis are written.
  void setAxisFormat(std::function<QString(double)> format);
  void setValueText(const QString& text);
  std::size_t points() const;
  void replotNow();

 private:
  class Line;
  Label* m_name;
  Label* m_value;
  Line* m_line;
  std::function<QString(double)> m_format;
  double m_ceiling = 0;
};

/// Bars of counts over token lengths with the limit as a dashed line; bars beyond the limit are in the beak's
/// colour.
class Histogram : public Plot {
  Q_OBJECT
 public:
  explicit Histogram(QWidget* parent = nullptr);
  ~Histogram() override;
  void setLengths(const std::vector<std::int64_t>& lengths, std::int64_t limit);
  std::int64_t barCount() const { return m_bars; }

 protected:
  void restyle() override;

 private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
  std::int64_t m_bars = 0;
};

}  // namespace lorikeet::ui

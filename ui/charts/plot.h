// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <functional>

class QCustomPlot;
class QCPAxis;
class QTimer;

namespace lorikeet::ui {

/// A QCustomPlot in the studio's dress: y grid only, quiet axes, numbers by the locale, at most 20 replots a
/// second.
class Plot : public QWidget {
  Q_OBJECT
 public:
  explicit Plot(bool small, QWidget* parent = nullptr);
  ~Plot() override;

  /// Draws again soon; many calls become one.
  void requestReplot();
  /// Draws now, for pictures and tests.
  void replotNow();

 protected:
  void changeEvent(QEvent* event) override;
  QCustomPlot* plot() const { return m_plot; }
  bool isSmall() const { return m_small; }
  /// Colours of pens and brushes by the palette in use; called on construction of the subclass and after
  /// every change.
  virtual void restyle();
  /// Last thing before a replot: ranges.
  virtual void prepare() {}
  void setTickCounts(int x, int y);
  /// An empty plot has lines but no numbers.
  void setNumbersShown(bool shown);
  /// How numbers at an axis are written; the default is by the step between ticks.
  void setAxisFormat(QCPAxis* axis, std::function<QString(double)> format);

 private:
  class Ticker;
  QCustomPlot* m_plot;
  QTimer* m_timer;
  bool m_small;
};

}  // namespace lorikeet::ui

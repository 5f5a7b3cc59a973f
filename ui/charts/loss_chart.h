// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/charts/plot.h"
#include "ui/charts/run_series.h"

class QCPGraph;

namespace lorikeet::ui {

/// Training loss raw and smoothed, evaluation loss with discs, checkpoints as marks on the x axis, a
/// crosshair with a read-out that the mouse and the arrow keys move. Wheel zooms x, Ctrl+wheel y, drag pans,
/// double click or Home shows all.
class LossChart : public Plot {
  Q_OBJECT
 public:
  enum class Series { raw, smoothed, evaluation };
  /// `compact`: the small chart of Home, without crosshair and evaluation.
  explicit LossChart(bool compact = false, QWidget* parent = nullptr);
  ~LossChart() override;

  void clear();
  void appendSteps(const std::vector<StepEvent>& steps);
  void setEvaluations(const std::vector<EvalEvent>& evaluations);
  void setCheckpoints(const std::vector<CheckpointEvent>& checkpoints);
  void setTotalSteps(std::int64_t steps);
  void setSmoothing(double smoothing);
  void setAxis(RunAxis axis);
  void setLogarithmic(bool on);
  void setSeriesVisible(Series series, bool visible);
  void showAll();

  const RunSeries& series() const { return m_series; }
  const std::vector<EvalEvent>& evaluations() const { return m_evaluations; }
  /// Step number under the crosshair, -1 when there is none.
  std::int64_t cursorStep() const;
  void setCursorIndex(int index);
  QString csv() const;
  bool savePicture(const QString& path);
  bool savePdf(const QString& path);

 signals:
  void cursorMoved(qint64 step);

 protected:
  void restyle() override;
  void prepare() override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  class Overlay;
  void refill();
  void refillEvaluations();
  void addToGraphs(std::size_t first);
  void fitRanges();
  void speak();
  bool m_compact;
  bool m_following = true;  ///< the ranges follow the run until the person zooms
  bool m_logarithmic = false;
  RunAxis m_axis = RunAxis::step;
  RunSeries m_series;
  std::vector<EvalEvent> m_evaluations;
  std::vector<CheckpointEvent> m_checkpoints;
  std::int64_t m_totalSteps = 0;
  int m_cursor = -1;
  QCPGraph* m_raw;
  QCPGraph* m_smooth;
  QCPGraph* m_eval;
  Overlay* m_overlay;
};

}  // namespace lorikeet::ui

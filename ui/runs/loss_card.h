// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "ui/widgets/controls.h"

class QSlider;

namespace lorikeet::ui {

class LossChart;

/// The loss chart with its legend, smoothing, axis and what can be saved of it.
class LossCard : public Card {
  Q_OBJECT
 public:
  explicit LossCard(QWidget* parent = nullptr);
  LossChart* chart() const { return m_chart; }
  /// Smooths over a thirtieth of the run until the person moves the slider.
  void suggestSmoothing(std::int64_t totalSteps);

 signals:
  void saveFailed(const QString& path);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeMenu(QToolButton* button);
  void save(const QString& title, const QString& filter, const QString& suffix);
  LossChart* m_chart;
  QSlider* m_smoothing;
  bool m_smoothedByHand = false;
  Label* m_smoothingWord;
};

}  // namespace lorikeet::ui

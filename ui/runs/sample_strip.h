// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "core/train/run_folder.h"
#include "ui/widgets/controls.h"

namespace lorikeet::ui {

/// Answers to one prompt as training went on, side by side, with the words marked that changed against the
/// answer before.
class SampleStrip : public Card {
  Q_OBJECT
 public:
  explicit SampleStrip(QWidget* parent = nullptr);
  void setSamples(const std::vector<SampleEvent>& samples);
  /// Chooses the card at or before the step under the chart's cursor; -1 for none.
  void setCursorStep(std::int64_t step);
  int shownCards() const { return static_cast<int>(m_cards.size()); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void rebuild();
  QWidget* makeCard(std::size_t index, bool chosen) const;
  std::vector<SampleEvent> m_all, m_ofPrompt;
  std::int64_t m_cursor = -1;
  int m_first = -1;  ///< leftmost card; -1 follows the newest
  ComboBox* m_prompts;
  QToolButton* m_earlier;
  QToolButton* m_later;
  QHBoxLayout* m_row;
  std::vector<QWidget*> m_cards;
};

}  // namespace lorikeet::ui

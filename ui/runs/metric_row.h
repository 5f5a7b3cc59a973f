// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QStringList>
#include <vector>

namespace lorikeet::ui {

class Label;
class ThinBar;

/// Figures of a run side by side: caption over value, in fixed places; at the right the progress.
class MetricRow : public QFrame {
  Q_OBJECT
 public:
  /// `always`: indexes of the figures that stay when the window is narrow.
  MetricRow(const QStringList& captions, std::vector<int> always, QWidget* parent = nullptr);
  void setValue(int index, const QString& text);
  QString value(int index) const;
  void setProgress(double fraction, const QString& strong, const QString& rest, bool danger);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Figure {
    QWidget* box = nullptr;
    Label* value = nullptr;
    bool always = false;
  };
  std::vector<Figure> m_figures;
  Label* m_strong;
  Label* m_rest;
  ThinBar* m_bar;
};

}  // namespace lorikeet::ui

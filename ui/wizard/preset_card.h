// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

namespace lorikeet::ui {

/// A preset as a card with a radio mark: name, memory, what it is for, epochs.
class PresetCard : public QAbstractButton {
  Q_OBJECT
 public:
  PresetCard(const QString& name, QString sentence, QWidget* parent = nullptr);
  void setFigures(const QString& memory, const QString& steps, const QString& epochs);
  QSize sizeHint() const override { return {220, 124}; }
  QSize minimumSizeHint() const override { return {180, 124}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_sentence, m_memory, m_steps, m_epochs;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "ui/engine/chat_client.h"

class QPlainTextEdit;
class QSlider;
class QSpinBox;
class QVBoxLayout;

namespace lorikeet::ui {

class ComboBox;
class Label;

/// How answers are drawn, and the system text.
class SamplingPanel : public QFrame {
  Q_OBJECT
 public:
  explicit SamplingPanel(QWidget* parent = nullptr);
  SamplingChoice choice() const;
  void setChoice(const SamplingChoice& choice);
  QString systemText() const;

 private:
  struct Dial {
    QSlider* slider = nullptr;
    Label* value = nullptr;
  };
  Dial addDial(QVBoxLayout* column, const QString& name, int low, int high, int decimals);
  void choosePreset(int index);
  void showPreset();
  ComboBox* m_preset;
  Dial m_temperature, m_topP, m_topK, m_minP, m_penalty;
  QSpinBox* m_longest = nullptr;
  QSpinBox* m_seed = nullptr;
  QPlainTextEdit* m_system;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QCheckBox;
class QSlider;

namespace lorikeet::ui {

class ComboBox;
class Label;

/// The head of a chat column: what answers there, on or off, and for an adapter its strength.
class ColumnCard : public QFrame {
  Q_OBJECT
 public:
  enum class Kind { base, adapter };
  explicit ColumnCard(Kind kind, QWidget* parent = nullptr);

  struct Choice {
    QString name, data;
  };
  /// Fills the list and keeps what is chosen; `emptyName` stands for no choice ("" = not offered).
  void setChoices(const QList<Choice>& choices, const QString& emptyName);
  QString chosen() const;
  QString chosenName() const;
  void choose(const QString& data);
  bool isOn() const;  ///< chosen and switched on
  double strength() const;
  void setNote(const QString& note);
  ComboBox* box() const { return m_box; }

 signals:
  void choiceMade(const QString& data);
  void changed();

 private:
  Kind m_kind;
  ComboBox* m_box;
  QCheckBox* m_on;
  QSlider* m_slider = nullptr;
  Label* m_strength = nullptr;
  Label* m_note;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QString>
#include <QWidget>
#include <vector>

#include "ui/widgets/palette.h"

namespace lorikeet::ui {

enum class Tone { neutral, accent, success, warning, danger };

/// Text colour and ground of a tone.
Token toneInk(Tone tone);
Token toneGround(Tone tone);

/// A round label: icon and word in the colour of a state.
class Chip : public QWidget {
  Q_OBJECT
 public:
  explicit Chip(const QString& text = {}, Tone tone = Tone::neutral, const QString& iconName = {},
                QWidget* parent = nullptr);
  void setState(const QString& text, Tone tone, const QString& iconName = {});
  const QString& text() const { return m_text; }
  Tone tone() const { return m_tone; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_text, m_icon;
  Tone m_tone = Tone::neutral;
};

enum class LightState { good, look, stops, runs };

/// Icon and word of a check: Good, Look, Stops, Runs.
class Light : public QWidget {
  Q_OBJECT
 public:
  explicit Light(LightState state, QWidget* parent = nullptr);
  void setState(LightState state);
  LightState state() const { return m_state; }
  static QString word(LightState state);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  LightState m_state;
};

/// Parts of a whole side by side, for memory and disk.
class MemoryBar : public QWidget {
  Q_OBJECT
 public:
  struct Part {
    QString name;
    double amount = 0;
    Token colour = &Palette::series1;
  };
  explicit MemoryBar(int height = 8, QWidget* parent = nullptr);
  void setParts(std::vector<Part> parts, double whole);
  /// What a screen reader says.
  void setSpoken(const QString& sentence);
  QSize sizeHint() const override { return {120, m_height}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Part> m_parts;
  double m_whole = 0;
  int m_height;
};

/// The ring of the navigation while a run lives: percent inside, word under it.
class JobRing : public QWidget {
  Q_OBJECT
 public:
  explicit JobRing(QWidget* parent = nullptr);
  void setJob(double fraction, const QString& word, Token colour);
  QSize sizeHint() const override { return {79, 72}; }

 signals:
  void clicked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  double m_fraction = 0;
  QString m_word;
  Token m_colour = &Palette::beak;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "ui/engine/chat_client.h"

class QTimer;
class QToolButton;

namespace lorikeet::ui {

class Label;
class MarkdownView;

/// One answer of one column: text as it comes, then what it cost; copy, answer again, stop.
class AnswerCard : public QFrame {
  Q_OBJECT
 public:
  explicit AnswerCard(const QString& columnName, QWidget* parent = nullptr);

  enum class State { waiting, answering, done, failed };
  void begin();  ///< empties the card: it waits for its turn
  void append(const QString& text);
  void setStats(const ChatStats& stats);
  void finish(const QString& reason);
  void fail(const QString& sentence);
  State state() const { return m_state; }
  const QString& text() const { return m_text; }
  QString caption() const;

 signals:
  void againRequested();
  void stopRequested();

 private:
  void setState(State state);
  void render();
  State m_state = State::waiting;
  QString m_text, m_reason;
  ChatStats m_stats;
  MarkdownView* m_view;
  Label* m_caption;
  QToolButton* m_copy;
  QToolButton* m_again;
  QToolButton* m_stop;
  QTimer* m_timer;
};

}  // namespace lorikeet::ui

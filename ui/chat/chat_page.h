// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "ui/engine/chat_client.h"
#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QPlainTextEdit;
class QScrollArea;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace lorikeet::ui {

class AnswerCard;
class Banner;
class ColumnCard;
class Label;
class SamplingPanel;
class ThinBar;

/// A conversation with a base model and, beside it, the same with an adapter. One engine keeps one base model
/// resident; the columns answer one after the other.
class ChatPage : public Page {
  Q_OBJECT
 public:
  explicit ChatPage(const StudioContext& context, QWidget* parent = nullptr);

  void shown() override;
  QPushButton* primaryButton() const override { return m_send; }
  QWidget* firstFocus() const override;
  bool stepBack() override;

  void chatWith(const QString& adapterId);
  void chatWithModel(const QString& modelPath);
  void newChat();
  void sendMessage(const QString& text);
  bool isAnswering() const { return m_current.has_value() || !m_queue.empty(); }
  AnswerCard* answer(int turn, int column) const;
  int turns() const { return static_cast<int>(m_turns.size()); }
  ColumnCard* columnCard(int column) const { return m_columns[column]; }
  SamplingPanel* sampling() const { return m_sampling; }
  Banner* banner() const { return m_banner; }
  QPlainTextEdit* composer() const { return m_composer; }

 signals:
  void trainRequested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  static constexpr int kColumns = 2;
  enum Column { base, adapter };
  struct Turn {
    QString text;
    AnswerCard* cards[kColumns] = {};
    QWidget* box = nullptr;
  };
  struct Task {
    int turn = 0, column = 0;
  };
  QWidget* makeCentre();
  QWidget* makeComposer();
  void fillChoices();
  void readBases();
  /// What the run asked before and after, as the first message to try.
  void suggestQuestion(const QString& runPath);
  void addTurn(const QString& text);
  AnswerCard* makeCard(int turn, int column);
  void askAgain(int turn, int column);
  void load(const QString& modelPath);
  void pump();
  void sendTask();
  void finishTask();
  void stop();
  void engineEnded(const QString& why);
  void showFailure(int id, const Problem& problem);
  void showContext(const ChatStats& stats);
  void updateState();
  void scrollToEnd();
  std::vector<ChatMessage> conversation(int turn, int column) const;

  StudioContext m_context;
  ChatClient* m_client;
  struct BaseChoice {
    QString name, path;
  };
  std::vector<BaseChoice> m_bases;
  QString m_modelPath, m_loadedPath, m_wantedAdapter;
  qint64 m_contextSize = 0;
  int m_loadId = -1, m_adaptersId = -1, m_messageId = -1;
  std::deque<Task> m_queue;
  std::optional<Task> m_current;
  bool m_stopping = false;
  std::vector<Turn> m_turns;

  PageHead* m_head;
  QToolButton* m_panelButton;
  ColumnCard* m_columns[kColumns];
  Banner* m_banner;
  QStackedWidget* m_stack;
  QScrollArea* m_scroll;
  QVBoxLayout* m_list;
  QPlainTextEdit* m_composer;
  QPushButton* m_send;
  Label* m_contextLabel;
  ThinBar* m_contextBar;
  SamplingPanel* m_sampling;
};

}  // namespace lorikeet::ui

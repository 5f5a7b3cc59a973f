// SPDX-License-Identifier: GPL-3.0-or-later
// How ChatPage asks: one task (turn, column) at a time; each sets its column's adapters, then sends the
// conversation.
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedWidget>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/chat/answer_card.h"
#include "ui/chat/chat_page.h"
#include "ui/chat/column_card.h"
#include "ui/chat/sampling_panel.h"
#include "ui/engine/library_store.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

void ChatPage::sendMessage(const QString& text) {
  const QString message = text.trimmed();
  if (message.isEmpty() || isAnswering() || m_modelPath.isEmpty()) return;
  m_composer->clear();
  addTurn(message);
  const int turn = turns() - 1;
  for (int column = 0; column < kColumns; ++column) {
    if (m_turns.back().cards[column]) m_queue.push_back({turn, column});
  }
  pump();
  updateState();
}

void ChatPage::addTurn(const QString& text) {
  Turn turn;
  turn.text = text;
  turn.box = new QWidget;
  auto* column = new QVBoxLayout(turn.box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  QFrame* own = makeFrame("own");
  auto* inOwn = new QVBoxLayout(own);
  inOwn->setContentsMargins(12, 8, 12, 8);
  Label* words = wrapped(text, Role::body, &Palette::text);
  words->setTextInteractionFlags(Qt::TextSelectableByMouse);
  const int natural = words->fontMetrics().boundingRect(QRect(0, 0, 100000, 0), 0, text).width() + 4;
  words->setMinimumWidth(std::min(natural, 480));
  inOwn->addWidget(words);
  column->addWidget(own, 0, Qt::AlignRight);
  m_turns.push_back(turn);
  auto* cards = new QHBoxLayout;
  cards->setSpacing(8);
  for (int i = 0; i < kColumns; ++i) {
    if (m_columns[i]->isOn()) {
      m_turns.back().cards[i] = makeCard(turns() - 1, i);
      cards->addWidget(m_turns.back().cards[i], 1);
    } else {
      cards->addStretch(1);
    }
  }
  column->addLayout(cards);
  m_list->insertWidget(m_list->count() - 1, turn.box);
  m_stack->setCurrentIndex(1);
  QTimer::singleShot(
      0, this, [this] { m_scroll->verticalScrollBar()->setValue(m_scroll->verticalScrollBar()->maximum()); });
}

AnswerCard* ChatPage::makeCard(int turn, int column) {
  auto* card = new AnswerCard(m_columns[column]->chosenName());
  connect(card, &AnswerCard::againRequested, this, [this, turn, column] { askAgain(turn, column); });
  connect(card, &AnswerCard::stopRequested, this, &ChatPage::stop);
  return card;
}

AnswerCard* ChatPage::answer(int turn, int column) const {
  return turn >= 0 && turn < turns() ? m_turns[static_cast<std::size_t>(turn)].cards[column] : nullptr;
}

void ChatPage::askAgain(int turn, int column) {
  if (isAnswering()) return;
  m_turns[static_cast<std::size_t>(turn)].cards[column]->begin();
  m_queue.push_back({turn, column});
  pump();
  updateState();
}

std::vector<ChatMessage> ChatPage::conversation(int turn, int column) const {
  std::vector<ChatMessage> messages;
  const QString system = m_sampling->systemText();
  if (!system.isEmpty()) messages.push_back({QStringLiteral("system"), system});
  for (int i = 0; i <= turn; ++i) {
    const Turn& one = m_turns[static_cast<std::size_t>(i)];
    const AnswerCard* card = one.cards[column];
    if (i < turn && (!card || card->text().isEmpty())) continue;  // this column was off then
    messages.push_back({QStringLiteral("user"), one.text});
    if (i < turn) messages.push_back({QStringLiteral("assistant"), card->text()});
  }
  return messages;
}

void ChatPage::pump() {
  if (m_current || m_queue.empty()) return;
  if (m_loadedPath != m_modelPath) {
    if (!m_client->isRunning()) load(m_modelPath);
    return;  // goes on when the model is loaded
  }
  m_current = m_queue.front();
  m_queue.pop_front();
  std::vector<ChatAdapterUse> adapters;
  if (m_current->column == adapter) {
    if (const AdapterRecord* record = m_context.library->find(m_columns[adapter]->chosen())) {
      adapters.push_back({m_context.library->folderOf(*record), m_columns[adapter]->strength()});
    }
  }
  m_adaptersId = m_client->setAdapters(adapters);
}

void ChatPage::sendTask() {
  m_adaptersId = -1;
  if (m_stopping) {  // asked before there was anything to stop
    m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->finish(
        QStringLiteral("cancelled"));
    return finishTask();
  }
  m_messageId = m_client->message(conversation(m_current->turn, m_current->column), m_sampling->choice());
}

void ChatPage::finishTask() {
  m_current.reset();
  m_messageId = m_adaptersId = -1;
  m_stopping = false;
  pump();
  updateState();
  scrollToEnd();
}

void ChatPage::stop() {
  for (const Task& task : m_queue)
    m_turns[static_cast<std::size_t>(task.turn)].cards[task.column]->finish(QStringLiteral("cancelled"));
  m_queue.clear();
  if (m_current) {
    m_stopping = true;
    m_client->stopAnswer();
  }
  updateState();
}

void ChatPage::showFailure(int id, const Problem& problem) {
  if (id == m_loadId) {
    m_columns[base]->setNote(tr("Not loaded"));
    m_banner->showProblem(problem);
    for (const Task& task : m_queue)
      m_turns[static_cast<std::size_t>(task.turn)].cards[task.column]->fail(problem.what);
    m_queue.clear();
    m_loadId = -1;
    updateState();
    return;
  }
  if (!m_current || (id != m_adaptersId && id != m_messageId)) return;
  m_banner->showProblem(problem);
  m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->fail(problem.what);
  finishTask();
}

void ChatPage::engineEnded(const QString& why) {
  m_loadedPath.clear();
  m_loadId = -1;
  m_columns[base]->setNote(tr("Not loaded"));
  const QString sentence = why.isEmpty() ? tr("The engine was closed") : why;
  if (m_current) m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->fail(sentence);
  for (const Task& task : m_queue)
    m_turns[static_cast<std::size_t>(task.turn)].cards[task.column]->fail(sentence);
  m_queue.clear();
  m_current.reset();
  if (!why.isEmpty()) {
    m_banner->show(BannerKind::danger, tr("The chat engine has ended"),
                   tr("%1. The conversation is still here; nothing else was touched.")
                       .arg(why.section(QLatin1Char('\n'), 0, 0)));
    QPushButton* again = makeButton(tr("Start again"), ButtonKind::plain, QStringLiteral("refresh"));
    connect(again, &QPushButton::clicked, this, [this] {
      m_banner->clear();
      load(m_modelPath);
    });
    m_banner->setButtons({again});
  }
  updateState();
}

void ChatPage::showContext(const ChatStats& stats) {
  const qint64 used = stats.promptTokens + stats.tokens,
               size = stats.context > 0 ? stats.context : m_contextSize;
  if (size <= 0) return;
  const bool full = used * 10 >= size * 9;
  QString text = tr("Context %1 of %2").arg(countText(used), countText(size));
  if (full) text += QStringLiteral(" · ") + tr("nearly full, begin a new chat");
  m_contextLabel->setText(text);
  m_contextLabel->setInk(full ? &Palette::warning : &Palette::text2);
  m_contextBar->setValue(static_cast<int>(used * 1000 / size));
  m_contextBar->setAccessibleName(text);
  m_contextBar->show();
}

void ChatPage::scrollToEnd() {
  QScrollBar* bar = m_scroll->verticalScrollBar();
  if (bar->value() < bar->maximum() - 80) return;  // the person reads further up
  QTimer::singleShot(0, this, [bar] { bar->setValue(bar->maximum()); });
}

}  // namespace lorikeet::ui

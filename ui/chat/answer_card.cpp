// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chat/answer_card.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/chat/markdown_view.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

AnswerCard::AnswerCard(const QString& columnName, QWidget* parent)
    : QFrame(parent), m_timer(new QTimer(this)) {
  setProperty("kind", QStringLiteral("card"));
  setAccessibleName(tr("Answer of %1").arg(columnName));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 8, 8, 4);
  column->setSpacing(4);
  m_view = new MarkdownView;
  m_view->setAccessibleName(tr("Answer of %1").arg(columnName));
  column->addWidget(m_view);
  column->addStretch();
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  m_caption = new Label({}, Role::caption, &Palette::text2);
  m_caption->setElided(true);
  m_copy = makeIconButton(QStringLiteral("copy"), tr("Copy the answer"));
  m_again = makeIconButton(QStringLiteral("refresh"), tr("Answer again"));
  m_stop = makeIconButton(QStringLiteral("stop"), tr("Stop this answer"));
  for (QToolButton* button : {m_copy, m_again, m_stop}) button->setIconSize({16, 16});
  row->addWidget(m_caption, 1);
  row->addWidget(m_copy);
  row->addWidget(m_again);
  row->addWidget(m_stop);
  column->addLayout(row);
  // Markdown is laid out at most ten times a second while an answer comes in.
  m_timer->setSingleShot(true);
  m_timer->setInterval(100);
  connect(m_timer, &QTimer::timeout, this, &AnswerCard::render);
  connect(m_copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(m_text); });
  connect(m_again, &QToolButton::clicked, this, &AnswerCard::againRequested);
  connect(m_stop, &QToolButton::clicked, this, &AnswerCard::stopRequested);
  begin();
}

void AnswerCard::begin() {
  m_text.clear();
  m_reason.clear();
  m_stats = {};
  setState(State::waiting);
  render();
}

void AnswerCard::append(const QString& text) {
  m_text += text;
  if (m_state != State::answering) setState(State::answering);
  if (!m_timer->isActive()) m_timer->start();
}

void AnswerCard::setStats(const ChatStats& stats) {
  m_stats = stats;
  m_caption->setText(caption());
}

void AnswerCard::finish(const QString& reason) {
  m_reason = reason;
  setState(State::done);
  render();
}

void AnswerCard::fail(const QString& sentence) {
  m_reason = sentence;
  setState(State::failed);
  render();
}

void AnswerCard::setState(State state) {
  m_state = state;
  const bool open = state == State::waiting || state == State::answering;
  m_copy->setVisible(!open && !m_text.isEmpty());
  m_again->setVisible(!open);
  m_stop->setVisible(open);
  m_caption->setInk(state == State::failed ? &Palette::danger : &Palette::text2);
  m_caption->setText(caption());
}

QString AnswerCard::caption() const {
  QStringList parts;
  if (m_stats.tokens > 0) {
    parts << tr("%n token(s)", nullptr, static_cast<int>(m_stats.tokens))
          << tr("%1 tokens/s").arg(numberText(m_stats.tokensPerSecond, 0));
  }
  switch (m_state) {
    case State::waiting:
      parts << tr("waits for its turn");
      break;
    case State::answering:
      parts << tr("answering");
      break;
    case State::failed:
      parts << m_reason;
      break;
    case State::done:
      if (m_reason == QLatin1String("length")) parts << tr("longest answer reached");
      if (m_reason == QLatin1String("context_full")) parts << tr("context full");
      if (m_reason == QLatin1String("cancelled")) parts << tr("stopped");
      break;
  }
  return parts.join(QStringLiteral(" · "));
}

void AnswerCard::render() {
  m_timer->stop();
  m_view->setAnswer(m_text, m_state == State::answering);
  m_caption->setToolTip({});
}

}  // namespace lorikeet::ui

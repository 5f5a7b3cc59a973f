// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chat/chat_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/library/library.h"
#include "core/train/run_folder.h"
#include "ui/chat/answer_card.h"
#include "ui/chat/column_card.h"
#include "ui/chat/sampling_panel.h"
#include "ui/engine/library_store.h"
#include "ui/widgets/background.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

ChatPage::ChatPage(const StudioContext& context, QWidget* parent)
    : Page(parent), m_context(context), m_client(new ChatClient(context.paths.engine, this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QFrame* headFrame = makeFrame("head");
  auto* headRow = new QHBoxLayout(headFrame);
  headRow->setContentsMargins(24, 0, 24, 0);
  m_head = new PageHead(tr("Chat"));
  QPushButton* fresh = makeButton(tr("New chat"), ButtonKind::plain, QStringLiteral("plus"));
  m_panelButton = makeIconButton(QStringLiteral("method"), tr("Sampling"));
  m_panelButton->setCheckable(true);
  m_panelButton->setChecked(true);
  m_head->addAction(fresh);
  m_head->addAction(m_panelButton);
  headRow->addWidget(m_head);
  column->addWidget(headFrame);
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  m_sampling = new SamplingPanel;
  row->addWidget(makeCentre(), 1);
  row->addWidget(m_sampling);
  column->addLayout(row, 1);

  connect(fresh, &QPushButton::clicked, this, &ChatPage::newChat);
  connect(m_panelButton, &QToolButton::toggled, m_sampling, &QWidget::setVisible);
  connect(context.library, &LibraryStore::changed, this, &ChatPage::fillChoices);
  connect(m_client, &ChatClient::loaded, this,
          [this](int id, const QString& name, qint64 size, const QString&) {
            if (id != m_loadId) return;
            m_loadedPath = m_modelPath;
            m_contextSize = size;
            m_columns[base]->setNote(tr("%1, %2 tokens of context").arg(name, countText(size)));
            m_banner->clear();
            pump();
          });
  connect(m_client, &ChatClient::done, this, [this](int id, const QString& reason) {
    if (!m_current) return;
    if (id == m_adaptersId) return sendTask();
    if (id != m_messageId) return;
    m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->finish(reason);
    finishTask();
  });
  connect(m_client, &ChatClient::token, this, [this](int id, const QString& text) {
    if (!m_current || id != m_messageId) return;
    m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->append(text);
    scrollToEnd();
  });
  connect(m_client, &ChatClient::stats, this, [this](int id, const ChatStats& stats) {
    if (!m_current || id != m_messageId) return;
    m_turns[static_cast<std::size_t>(m_current->turn)].cards[m_current->column]->setStats(stats);
    showContext(stats);
  });
  connect(m_client, &ChatClient::failed, this, &ChatPage::showFailure);
  connect(m_client, &ChatClient::ended, this, &ChatPage::engineEnded);
  fillChoices();
}

QWidget* ChatPage::makeCentre() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(16, 12, 16, 12);
  column->setSpacing(10);
  auto* heads = new QHBoxLayout;
  heads->setSpacing(8);
  m_columns[base] = new ColumnCard(ColumnCard::Kind::base);
  m_columns[adapter] = new ColumnCard(ColumnCard::Kind::adapter);
  for (ColumnCard* card : m_columns) {
    heads->addWidget(card, 1);
    connect(card, &ColumnCard::changed, this, &ChatPage::updateState);
  }
  heads->addSpacing(12);
  column->addLayout(heads);
  m_banner = new Banner;
  column->addWidget(m_banner);
  m_stack = new QStackedWidget;
  auto* empty = new EmptyState(
      tr("Ask both the same"),
      tr("Every message goes to the columns that are switched on, base and adapter side by side.\n"
         "Nothing leaves this machine."));
  m_scroll = new QScrollArea;
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  auto* inside = new QWidget;
  m_list = new QVBoxLayout(inside);
  m_list->setContentsMargins(0, 0, 2, 0);
  m_list->setSpacing(10);
  m_list->addStretch();
  m_scroll->setWidget(inside);
  m_stack->addWidget(empty);
  m_stack->addWidget(m_scroll);
  column->addWidget(m_stack, 1);
  column->addWidget(makeComposer());
  connect(m_columns[base], &ColumnCard::choiceMade, this,
          [this](const QString& path) { chatWithModel(path); });
  connect(m_columns[adapter], &ColumnCard::choiceMade, this, [this](const QString& id) {
    if (!id.isEmpty()) chatWith(id);
  });
  return box;
}

QWidget* ChatPage::makeComposer() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  m_composer = new QPlainTextEdit;
  m_composer->setPlaceholderText(tr("Message; Return sends, Shift+Return breaks the line"));
  m_composer->setAccessibleName(tr("Message"));
  m_composer->setTabChangesFocus(true);
  m_composer->setFixedHeight(58);
  m_composer->installEventFilter(this);
  m_send = makeButton(tr("Send"), ButtonKind::primary, QStringLiteral("send"));
  m_send->setMinimumWidth(90);
  row->addWidget(m_composer, 1);
  row->addWidget(m_send, 0, Qt::AlignBottom);
  auto* below = new QHBoxLayout;
  below->setSpacing(8);
  m_contextLabel = new Label({}, Role::caption, &Palette::text2);
  m_contextLabel->setElided(true);
  m_contextLabel->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_contextBar = new ThinBar;
  m_contextBar->setFixedWidth(96);
  m_contextBar->hide();
  below->addWidget(m_contextLabel, 1);
  below->addWidget(m_contextBar);
  column->addLayout(row);
  column->addLayout(below);
  connect(m_composer, &QPlainTextEdit::textChanged, this, &ChatPage::updateState);
  connect(m_send, &QPushButton::clicked, this,
          [this] { isAnswering() ? stop() : sendMessage(m_composer->toPlainText()); });
  return box;
}

void ChatPage::shown() {
  readBases();
  if (!m_modelPath.isEmpty() && !m_client->isRunning()) load(m_modelPath);
}

void ChatPage::readBases() {
  inBackground<std::vector<BaseChoice>>(
      this,
      [sample = m_context.paths.sampleModel(), opened = m_context.wizard] {
        Q_UNUSED(opened);
        std::vector<BaseChoice> bases;
        for (const FoundModel& found : find_base_models())
          bases.push_back({fromUtf8(found.name), fromUtf8(found.path)});
        if (!sample.isEmpty()) bases.push_back({tr("nest, the sample"), sample});
        return bases;
      },
      [this](std::vector<BaseChoice> bases) {
        for (const BaseChoice& known : m_bases) {  // opened by hand
          const auto same = [&](const BaseChoice& b) { return b.path == known.path; };
          if (std::none_of(bases.begin(), bases.end(), same)) bases.push_back(known);
        }
        m_bases = std::move(bases);
        fillChoices();
      });
}

void ChatPage::fillChoices() {
  QList<ColumnCard::Choice> bases, adapters;
  const auto addBase = [&](const QString& name, const QString& path) {
    if (path.isEmpty()) return;
    for (const ColumnCard::Choice& known : bases) {
      if (known.data == path) return;
    }
    bases.append({name, path});
  };
  for (const BaseChoice& one : m_bases) addBase(one.name, one.path);
  for (const AdapterRecord& one : m_context.library->adapters()) {
    if (one.missing) continue;
    addBase(fromUtf8(one.base_name), fromUtf8(one.base_path));
    adapters.append(
        {QStringLiteral("%1 · %2").arg(fromUtf8(one.name), fromUtf8(one.base_name)), fromUtf8(one.id)});
  }
  if (!m_modelPath.isEmpty()) addBase(QFileInfo(m_modelPath).fileName(), m_modelPath);
  m_columns[base]->setChoices(bases, m_modelPath.isEmpty() ? tr("Choose a base model") : QString());
  m_columns[adapter]->setChoices(adapters, tr("No adapter"));
  m_columns[base]->choose(m_modelPath);
  if (!m_wantedAdapter.isEmpty() && m_context.library->find(m_wantedAdapter))
    chatWith(std::exchange(m_wantedAdapter, {}));
}

void ChatPage::chatWith(const QString& adapterId) {
  const AdapterRecord* record = m_context.library->find(adapterId);
  if (!record) {
    m_wantedAdapter = adapterId;
    return;
  }
  const QString path = fromUtf8(record->base_path);
  if (path != m_modelPath) {
    newChat();
    m_modelPath = path;
    fillChoices();
    load(path);
  }
  m_columns[adapter]->choose(adapterId);
  suggestQuestion(m_context.library->runOf(*record));
  updateState();
}

void ChatPage::suggestQuestion(const QString& runPath) {
  if (runPath.isEmpty() || turns() > 0) return;
  inBackground<QString>(
      this,
      [runPath]() -> QString {
        try {
          return fromUtf8(RunFolder::open(runPath.toStdString()).read_job().question);
        } catch (const std::exception&) {
          return {};  // the run is gone; the adapter is not
        }
      },
      [this](const QString& question) {
        if (question.isEmpty() || turns() > 0 || !m_composer->toPlainText().isEmpty()) return;
        m_composer->setPlainText(question);
        m_composer->selectAll();
      });
}

void ChatPage::chatWithModel(const QString& modelPath) {
  if (modelPath.isEmpty() || modelPath == m_modelPath) return;
  newChat();
  m_modelPath = modelPath;
  const AdapterRecord* record = m_context.library->find(m_columns[adapter]->chosen());
  if (record && fromUtf8(record->base_path) != modelPath) m_columns[adapter]->choose({});
  fillChoices();
  load(modelPath);
}

void ChatPage::newChat() {
  stop();
  m_current.reset();
  m_stopping = false;
  m_adaptersId = m_messageId = -1;
  for (const Turn& turn : m_turns) discard(turn.box);
  m_turns.clear();
  m_stack->setCurrentIndex(0);
  m_contextLabel->setText({});
  m_contextBar->hide();
  updateState();
}

void ChatPage::load(const QString& modelPath) {
  m_loadedPath.clear();
  m_columns[base]->setNote(tr("Loading …"));
  m_loadId = m_client->load(modelPath);
  updateState();
}

void ChatPage::updateState() {
  const bool any = m_columns[base]->isOn() || m_columns[adapter]->isOn();
  const bool answering = isAnswering();
  m_send->setText(answering ? tr("Stop") : tr("Send"));
  setButtonKind(m_send, ButtonKind::primary, answering ? QStringLiteral("stop") : QStringLiteral("send"));
  m_send->setEnabled(answering ||
                     (any && !m_modelPath.isEmpty() && !m_composer->toPlainText().trimmed().isEmpty()));
  QString caption = m_modelPath.isEmpty() ? tr("Choose a base model or an adapter to begin")
                                          : m_columns[base]->chosenName();
  if (!m_columns[adapter]->chosen().isEmpty()) caption = m_columns[adapter]->chosenName();
  m_head->setCaption(caption);
}

QWidget* ChatPage::firstFocus() const {
  return m_modelPath.isEmpty() ? static_cast<QWidget*>(m_columns[base]->box()) : m_composer;
}

bool ChatPage::stepBack() {
  if (!isAnswering()) return false;
  stop();
  return true;
}

bool ChatPage::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_composer && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (enter && key->modifiers() == Qt::NoModifier) {
      if (m_send->isEnabled() && !isAnswering()) sendMessage(m_composer->toPlainText());
      return true;
    }
  }
  return Page::eventFilter(watched, event);
}

void ChatPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool narrow = width() < 1200 - 81;
  if (event->oldSize().width() >= 1200 - 81 && narrow) m_panelButton->setChecked(false);
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/help_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QListWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "core/train/settings.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/fonts.h"
#include "ui/widgets/icons.h"
#include "ui/wizard/setting_words.h"

namespace lorikeet::ui {
namespace {

QString paragraph(const QString& title, const QString& text) {
  return QStringLiteral("<h3>%1</h3><p>%2</p>").arg(title.toHtmlEscaped(), text.toHtmlEscaped());
}

QString firstSteps() {
  return paragraph(HelpPage::tr("Train"),
                   HelpPage::tr("Open Train and choose a base model: a folder with safetensors, a GGUF file, "
                                "one from the Hugging Face cache, or the "
                                "sample that comes with Lorikeet. Then choose your rows as Alpaca JSON or "
                                "JSONL. Every page says what is missing.")) +
         paragraph(HelpPage::tr("Look before you train"),
                   HelpPage::tr("The Data page shows rows as a table, as a conversation and as tokens. "
                                "Marked tokens are trained; the others "
                                "are context. The end token must be trained, or answers do not stop.")) +
         paragraph(HelpPage::tr("Watch"),
                   HelpPage::tr("The live run shows loss, evaluation and speed. Pause, go on, write a "
                                "checkpoint or stop and keep what was learnt. Close the "
                                "window and the run goes on; open it and it is found again.")) +
         paragraph(HelpPage::tr("Compare and take away"),
                   HelpPage::tr("Chat asks base and adapter the same. Export writes the adapter for PEFT, or "
                                "merged into its base."));
}

QString keyboard() {
  const std::pair<QString, QString> keys[] = {
      {QStringLiteral("Ctrl+1 … Ctrl+6"), HelpPage::tr("Home, Train, Runs, Library, Chat, Export")},
      {QStringLiteral("Ctrl+,  F1"), HelpPage::tr("Settings, Help")},
      {QStringLiteral("Ctrl+N"), HelpPage::tr("New training run")},
      {QStringLiteral("Alt+Left  Alt+Right"), HelpPage::tr("One step back or on in the wizard")},
      {QStringLiteral("Ctrl+Return"), HelpPage::tr("The filled button of the page")},
      {QStringLiteral("F6  Shift+F6"), HelpPage::tr("Next or previous area of the window")},
      {QStringLiteral("Ctrl+F"), HelpPage::tr("Search of the page")},
      {QStringLiteral("Ctrl+Shift+P"), HelpPage::tr("Pause the run, or go on")},
      {QStringLiteral("Ctrl+Shift+S"), HelpPage::tr("Write a checkpoint now")},
      {QStringLiteral("Left  Right  Home"), HelpPage::tr("In a chart: move the cursor, show all")},
      {QStringLiteral("F2  Del"), HelpPage::tr("In the library: rename, move to trash")},
      {QStringLiteral("Esc"), HelpPage::tr("Close, cancel, or back to the list")}};
  QString html = QStringLiteral("<table cellpadding=\"4\">");
  for (const auto& [key, what] : keys)
    html += QStringLiteral("<tr><td><b>%1</b></td><td>%2</td></tr>")
                .arg(key.toHtmlEscaped(), what.toHtmlEscaped());
  return html + QStringLiteral("</table>");
}

QString allSettings() {
  QString html;
  for (const SettingInfo& info : settings_table()) {
    html += settingTip(info) +
            QStringLiteral("<p><code>--%1</code></p>").arg(QString::fromStdString(info.key).toHtmlEscaped());
  }
  return html;
}

QString trouble() {
  return paragraph(HelpPage::tr("The engine was killed"),
                   HelpPage::tr("Most often the memory ran out. Open the run: its last checkpoint is kept. "
                                "Choose fewer rows at once, shorter rows or "
                                "a smaller base, then go on from the checkpoint.")) +
         paragraph(HelpPage::tr("The disk is full"),
                   HelpPage::tr("The run waits in memory and nothing is lost. Free the space that is named, "
                                "then try again.")) +
         paragraph(HelpPage::tr("A folder is not a model"),
                   HelpPage::tr("A base model is a folder with config.json, safetensors weights and a "
                                "tokenizer, or one GGUF file. Pickle files "
                                "(.bin, .pt) can run code and are refused; convert them to safetensors.")) +
         paragraph(HelpPage::tr("Answers do not stop"),
                   HelpPage::tr("The end token was not trained: look at As tokens on the Data page, and "
                                "raise max length if answers are cut.")) +
         paragraph(HelpPage::tr("The log"),
                   HelpPage::tr("Every run keeps what its engine wrote in engine.log. Show log opens it."));
}

}  // namespace

HelpPage::HelpPage(QWidget* parent) : Page(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  QFrame* headFrame = makeFrame("head");
  auto* headRow = new QHBoxLayout(headFrame);
  headRow->setContentsMargins(24, 0, 24, 0);
  headRow->addWidget(new PageHead(tr("Help")));
  column->addWidget(headFrame);
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  QFrame* side = makeFrame("list");
  side->setFixedWidth(209);
  auto* inSide = new QVBoxLayout(side);
  inSide->setContentsMargins(8, 12, 8, 8);
  m_topics = new QListWidget;
  m_topics->setProperty("kind", QStringLiteral("flat"));
  m_topics->setAccessibleName(tr("Topics"));
  m_topics->setIconSize({16, 16});
  const std::pair<const char*, QString> topics[] = {{"train", tr("First steps")},
                                                    {"keyboard", tr("Keyboard")},
                                                    {"method", tr("Settings of a run")},
                                                    {"warning", tr("If something fails")}};
  for (const auto& [glyph, name] : topics) {
    auto* item = new QListWidgetItem(icon(QString::fromLatin1(glyph)), name, m_topics);
    item->setSizeHint({0, 32});
  }
  inSide->addWidget(m_topics);
  m_text = new QTextBrowser;
  m_text->setProperty("kind", QStringLiteral("plain"));
  m_text->setOpenLinks(false);
  m_text->setFont(roleFont(Role::body));
  m_text->setAccessibleName(tr("Help text"));
  auto* page = new QWidget;
  auto* inPage = new QHBoxLayout(page);
  inPage->setContentsMargins(24, 16, 24, 16);
  m_text->setMaximumWidth(760);
  inPage->addWidget(m_text, 10);
  inPage->addStretch(1);
  row->addWidget(side);
  row->addWidget(page, 1);
  column->addLayout(row, 1);
  connect(m_topics, &QListWidget::currentRowChanged, this, &HelpPage::show);
  m_topics->setCurrentRow(0);
}

void HelpPage::show(int topic) {
  QString html;
  switch (topic) {
    case 0:
      html = firstSteps();
      break;
    case 1:
      html = keyboard();
      break;
    case 2:
      html = allSettings();
      break;
    default:
      html = trouble();
  }
  m_text->document()->setDefaultStyleSheet(
      QStringLiteral("h3 { color: %1; } p, td { color: %2; } code { font-family: 'Noto Sans Mono'; }")
          .arg(tokens().text.name(), tokens().text2.name()));
  m_text->setHtml(html);
}

QWidget* HelpPage::firstFocus() const {
  return m_topics;
}

void HelpPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::StyleChange && m_topics) show(m_topics->currentRow());
}

}  // namespace lorikeet::ui

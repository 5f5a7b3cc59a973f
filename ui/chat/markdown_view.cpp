// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chat/markdown_view.h"

#include <QDesktopServices>
#include <QEvent>
#include <QTextBlock>
#include <QTextDocument>
#include <QWheelEvent>
#include <cmath>

#include "ui/widgets/fonts.h"
#include "ui/widgets/page.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {

MarkdownView::MarkdownView(QWidget* parent) : QTextBrowser(parent) {
  setProperty("kind", QStringLiteral("plain"));
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setOpenLinks(false);
  setFont(roleFont(Role::body));
  document()->setDocumentMargin(0);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  viewport()->setAutoFillBackground(false);
  connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl& url) {
    if (url.scheme() != QLatin1String("http") && url.scheme() != QLatin1String("https")) return;
    if (ask(window(), QStringLiteral("external"), tr("Open this link in the browser?"), url.toDisplayString(),
            tr("Open link"))) {
      QDesktopServices::openUrl(url);
    }
  });
}

void MarkdownView::setAnswer(const QString& markdown, bool open) {
  m_markdown = markdown;
  m_open = open;
  render();
}

QString withLineBreaks(const QString& markdown) {
  QStringList lines = markdown.split(QLatin1Char('\n'));
  bool code = false;
  for (qsizetype i = 0; i + 1 < lines.size(); ++i) {
    const bool fence = lines[i].trimmed().startsWith(QLatin1String("```"));
    if (fence) code = !code;
    if (!code && !fence && !lines[i].trimmed().isEmpty() && !lines[i].contains(QLatin1Char('|')))
      lines[i] += QStringLiteral("  ");
  }
  return lines.join(QLatin1Char('\n'));
}

void MarkdownView::render() {
  const QString text = withLineBreaks(m_open ? m_markdown + QChar(0x258C) : m_markdown);
  document()->setMarkdown(text, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownNoHTML) |
                                    QTextDocument::MarkdownDialectGitHub);
  styleCode();
  fit();
}

void MarkdownView::styleCode() {
  QTextCursor cursor(document());
  cursor.beginEditBlock();
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    const bool code = block.blockFormat().hasProperty(QTextFormat::BlockCodeFence) ||
                      block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage);
    cursor.setPosition(block.position());
    cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
    if (code) {
      QTextBlockFormat format = block.blockFormat();
      format.setBackground(tokens().sunken);
      format.setLeftMargin(8);
      cursor.setBlockFormat(format);
      QTextCharFormat mono;
      mono.setFont(roleFont(Role::mono));
      mono.setForeground(tokens().text);
      cursor.setCharFormat(mono);
    } else {
      QTextCharFormat ink;
      for (auto part = block.begin(); !part.atEnd(); ++part) {
        if (!part.fragment().charFormat().isAnchor()) continue;
        cursor.setPosition(part.fragment().position());
        cursor.setPosition(part.fragment().position() + part.fragment().length(), QTextCursor::KeepAnchor);
        ink.setForeground(tokens().accentText);
        cursor.mergeCharFormat(ink);
      }
    }
  }
  cursor.endEditBlock();
}

QSize MarkdownView::sizeHint() const {
  return {240, std::max(20, static_cast<int>(std::ceil(document()->size().height())) + 2)};
}

void MarkdownView::fit() {
  document()->setTextWidth(viewport()->width());
  const int height = sizeHint().height();
  if (minimumHeight() != height) setFixedHeight(height);
}

void MarkdownView::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fit();
}

void MarkdownView::changeEvent(QEvent* event) {
  QTextBrowser::changeEvent(event);
  if (event->type() == QEvent::StyleChange && !m_markdown.isEmpty()) render();
}

}  // namespace lorikeet::ui

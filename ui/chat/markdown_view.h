// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>

namespace lorikeet::ui {

/// Single line ends become breaks, as people mean them: Markdown would join the lines. Code and tables stay.
QString withLineBreaks(const QString& markdown);

/// An answer as Markdown: no HTML, nothing is loaded from files or the network, links are asked for before
/// they open. As tall as its text.
class MarkdownView : public QTextBrowser {
  Q_OBJECT
 public:
  explicit MarkdownView(QWidget* parent = nullptr);
  /// `open`: the answer is still coming, a block cursor is shown at its end.
  void setAnswer(const QString& markdown, bool open);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }
  QVariant loadResource(int, const QUrl&) override { return {}; }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }

 private:
  void render();
  void styleCode();
  void fit();
  QString m_markdown;
  bool m_open = false;
};

}  // namespace lorikeet::ui

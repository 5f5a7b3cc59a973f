// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>
#include <QString>
#include <cstdint>
#include <vector>

namespace lorikeet::ui {

/// One token as the view shows it.
struct ShownToken {
  std::int32_t id = 0;
  QString text;   ///< spaces as ·, line ends as ↵
  QString bytes;  ///< hexadecimal, for the tooltip
  bool special = false;
  bool trained = false;
  bool cutAway = false;  ///< beyond max-length: the model never sees it
};

/// Bytes of a token made visible: a space is ·, a line end ↵, a tab ⇥, what is no UTF-8 is written in
/// hexadecimal.
QString visibleToken(const std::string& bytes);

/// The tokens of a row in reading order: context outlined, trained ones on a ground with an underline,
/// special ones as pills, a dashed line where the row is cut. Arrow keys walk; the tooltip tells id, bytes,
/// trained or not.
class TokenView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TokenView(QWidget* parent = nullptr);
  /// `cutText` is written on the line before the first token that is cut away.
  void setTokens(std::vector<ShownToken> tokens, const QString& cutText);
  void setIdsShown(bool shown);
  const std::vector<ShownToken>& shownTokens() const { return m_tokens; }
  int currentToken() const { return m_current; }
  int trainedCount() const;
  QString describe(int index) const;
  QRect tokenRect(int index) const;  ///< in viewport coordinates

 signals:
  void currentChanged(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void layOut();
  void paintToken(QPainter& painter, std::size_t index) const;
  void paintCut(QPainter& painter) const;
  int tokenAt(const QPoint& point) const;
  void setCurrent(int index);
  int lineStep() const;
  std::vector<ShownToken> m_tokens;
  std::vector<QRect> m_rects;  ///< in content coordinates
  QString m_cutText;
  int m_cutY = -1;
  int m_current = -1;
  bool m_ids = false;
};

}  // namespace lorikeet::ui

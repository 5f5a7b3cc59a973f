// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/token_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStringDecoder>
#include <QToolTip>
#include <algorithm>

#include "ui/widgets/fonts.h"
#include "ui/widgets/format.h"
#include "ui/widgets/palette.h"

namespace lorikeet::ui {
namespace {

constexpr int kMargin = 12, kGap = 2, kPadding = 4;

QFont tokenFont() {
  return roleFont(Role::monoLarge);
}
int boxHeight() {
  return QFontMetrics(tokenFont()).height() + 4;
}

}  // namespace

QString visibleToken(const std::string& bytes) {
  QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
  QString text = decoder(QByteArray::fromStdString(bytes));
  if (decoder.hasError() || text.contains(QChar::ReplacementCharacter)) {
    return QStringLiteral("0x") + QString::fromLatin1(QByteArray::fromStdString(bytes).toHex()).toUpper();
  }
  text.replace(QLatin1Char('\n'), QChar(0x21B5)).replace(QLatin1Char('\t'), QChar(0x21E5));
  text.replace(QLatin1Char(' '), QChar(0x00B7)).remove(QLatin1Char('\r'));
  for (QChar& c : text) {
    if (c.unicode() < 0x20) c = QChar(0x2400 + c.unicode());  // control pictures
  }
  return text.isEmpty() ? QStringLiteral("∅") : text;
}

TokenView::TokenView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setProperty("kind", QStringLiteral("card"));
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAutoFillBackground(false);
  setAccessibleName(tr("Tokens of the row"));
  setMinimumHeight(80);
}

void TokenView::setTokens(std::vector<ShownToken> tokens, const QString& cutText) {
  m_tokens = std::move(tokens);
  m_cutText = cutText;
  m_current = -1;
  verticalScrollBar()->setValue(0);
  layOut();
  viewport()->update();
}

void TokenView::setIdsShown(bool shown) {
  m_ids = shown;
  layOut();
  viewport()->update();
}

int TokenView::trainedCount() const {
  return static_cast<int>(std::count_if(m_tokens.begin(), m_tokens.end(),
                                        [](const ShownToken& t) { return t.trained && !t.cutAway; }));
}

void TokenView::layOut() {
  const QFontMetrics metrics(tokenFont()), small(roleFont(Role::small));
  const int height = boxHeight(), idHeight = m_ids ? small.height() : 0, pitch = height + idHeight + 8;
  const int right = std::max(100, viewport()->width() - kMargin);
  int x = kMargin, y = kMargin;
  m_rects.clear();
  m_cutY = -1;
  for (std::size_t i = 0; i < m_tokens.size(); ++i) {
    const ShownToken& token = m_tokens[i];
    if (token.cutAway && m_cutY < 0) {
      if (x > kMargin) y += pitch;
      m_cutY = y + 8;
      x = kMargin;
      y += 28;
    }
    int width = metrics.horizontalAdvance(token.text) + 2 * kPadding + (token.special ? 8 : 0);
    if (m_ids) width = std::max(width, small.horizontalAdvance(QString::number(token.id)) + 4);
    width = std::min(width, right - kMargin);
    if (x + width > right && x > kMargin) {
      x = kMargin;
      y += pitch;
    }
    m_rects.emplace_back(x, y, width, height);
    x += width + kGap;
  }
  const int content = m_rects.empty() ? 0 : m_rects.back().bottom() + idHeight + kMargin;
  verticalScrollBar()->setRange(0, std::max(0, content - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  verticalScrollBar()->setSingleStep(pitch);
}

QRect TokenView::tokenRect(int index) const {
  return m_rects.at(static_cast<std::size_t>(index)).translated(0, -verticalScrollBar()->value());
}

void TokenView::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(0, -verticalScrollBar()->value());
  const QRect seen = event->rect().translated(0, verticalScrollBar()->value());
  const auto first = std::lower_bound(m_rects.begin(), m_rects.end(), seen.top() - 40,
                                      [](const QRect& rect, int top) { return rect.bottom() < top; });
  for (auto rect = first; rect != m_rects.end() && rect->top() <= seen.bottom(); ++rect) {
    paintToken(painter, static_cast<std::size_t>(rect - m_rects.begin()));
  }
  paintCut(painter);
}

void TokenView::paintToken(QPainter& painter, std::size_t index) const {
  const Palette& p = tokens();
  const ShownToken& token = m_tokens[index];
  const QRectF box = QRectF(m_rects[index]).adjusted(0.5, 0.5, -0.5, -0.5);
  const double radius = token.special ? box.height() / 2 : 3;
  if (token.cutAway) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(QBrush(p.border, Qt::BDiagPattern));
  } else if (token.trained) {
    painter.setPen(token.special ? QPen(p.beak, 1.2) : QPen(Qt::NoPen));
    painter.setBrush(p.trainedBg);
  } else {
    painter.setPen(QPen(token.special ? p.borderStrong : p.border, 1));
    painter.setBrush(token.special ? p.sunken : p.surface);
  }
  painter.drawRoundedRect(box, radius, radius);
  if (token.trained && !token.special && !token.cutAway) {
    painter.fillRect(QRectF(box.left() + 1, box.bottom() - 1.5, box.width() - 2, 2), p.beak);
  }
  painter.setFont(tokenFont());
  painter.setPen(token.cutAway ? p.text3 : token.trained ? p.trainedText : token.special ? p.text2 : p.text);
  const QFontMetrics metrics(tokenFont());
  const bool fits = metrics.horizontalAdvance(token.text) <= box.width();
  painter.drawText(
      box, Qt::AlignCenter | Qt::TextSingleLine | Qt::TextDontClip,
      fits ? token.text
           : metrics.elidedText(token.text, Qt::ElideRight, static_cast<int>(box.width()) - kPadding));
  if (m_ids) {
    painter.setFont(roleFont(Role::small));
    painter.setPen(p.text3);
    painter.drawText(QRectF(box.left() - 4, box.bottom() + 1, box.width() + 8, 16),
                     Qt::AlignHCenter | Qt::AlignTop, QString::number(token.id));
  }
  if (static_cast<int>(index) == m_current && hasFocus()) {
    painter.setPen(QPen(p.focus, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(-0.5, -0.5, 0.5, 0.5), radius, radius);
  }
}

void TokenView::paintCut(QPainter& painter) const {
  if (m_cutY < 0) return;
  const QFontMetrics metrics(roleFont(Role::captionStrong));
  QPen pen(tokens().beak, 1.5);
  pen.setDashPattern({4, 3});
  painter.setPen(pen);
  const int textWidth = metrics.horizontalAdvance(m_cutText);
  painter.drawLine(kMargin, m_cutY, kMargin + 24, m_cutY);
  painter.drawLine(kMargin + 40 + textWidth, m_cutY, viewport()->width() - kMargin, m_cutY);
  painter.setFont(roleFont(Role::captionStrong));
  painter.setPen(tokens().trainedText);
  painter.drawText(kMargin + 32, m_cutY + metrics.ascent() / 2 - 1, m_cutText);
}

QString TokenView::describe(int index) const {
  if (index < 0 || index >= static_cast<int>(m_tokens.size())) return {};
  const ShownToken& token = m_tokens[static_cast<std::size_t>(index)];
  const QString use = token.cutAway ? tr("cut away") : token.trained ? tr("trained") : tr("context");
  QString text = tr("Token %1: %2 · id %3 · bytes %4 · %5")
                     .arg(countText(index + 1), token.text, QString::number(token.id), token.bytes, use);
  if (token.special) text += tr(" · special");
  return text;
}

int TokenView::tokenAt(const QPoint& point) const {
  const QPoint at = point + QPoint(0, verticalScrollBar()->value());
  for (std::size_t i = 0; i < m_rects.size(); ++i) {
    if (m_rects[i].contains(at)) return static_cast<int>(i);
  }
  return -1;
}

void TokenView::setCurrent(int index) {
  if (m_tokens.empty()) return;
  m_current = std::clamp(index, 0, static_cast<int>(m_tokens.size()) - 1);
  const QRect rect = m_rects[static_cast<std::size_t>(m_current)];
  QScrollBar* bar = verticalScrollBar();
  if (rect.top() - kMargin < bar->value()) bar->setValue(rect.top() - kMargin);
  if (rect.bottom() + kMargin > bar->value() + viewport()->height())
    bar->setValue(rect.bottom() + kMargin - viewport()->height());
  setAccessibleDescription(describe(m_current));
  viewport()->update();
  emit currentChanged(m_current);
}

int TokenView::lineStep() const {
  if (m_current < 0) return 1;
  const int top = m_rects[static_cast<std::size_t>(m_current)].top();
  return static_cast<int>(
      std::count_if(m_rects.begin(), m_rects.end(), [&](const QRect& r) { return r.top() == top; }));
}

void TokenView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Right:
      setCurrent(m_current + 1);
      break;
    case Qt::Key_Left:
      setCurrent(m_current - 1);
      break;
    case Qt::Key_Down:
      setCurrent(m_current + lineStep());
      break;
    case Qt::Key_Up:
      setCurrent(m_current - lineStep());
      break;
    case Qt::Key_Home:
      setCurrent(0);
      break;
    case Qt::Key_End:
      setCurrent(static_cast<int>(m_tokens.size()) - 1);
      break;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void TokenView::mousePressEvent(QMouseEvent* event) {
  const int index = tokenAt(event->pos());
  if (index >= 0) setCurrent(index);
}

bool TokenView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = tokenAt(help->pos());
    index >= 0 ? QToolTip::showText(help->globalPos(), describe(index), viewport()) : QToolTip::hideText();
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TokenView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  layOut();
}

void TokenView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::StyleChange) layOut();
}

void TokenView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  if (m_current < 0 && !m_tokens.empty()) setCurrent(0);
  viewport()->update();
}

void TokenView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

}  // namespace lorikeet::ui

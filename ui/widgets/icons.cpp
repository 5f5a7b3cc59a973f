// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>
#include <algorithm>
#include <cmath>

namespace lorikeet::ui {
namespace {

QByteArray svgBytes(const QString& name) {
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QPixmap render(const QByteArray& svg, const QSize& pixels, double ratio) {
  QPixmap pixmap(pixels);
  pixmap.fill(Qt::transparent);
  QSvgRenderer renderer(svg);
  QPainter painter(&pixmap);
  renderer.render(&painter, QRectF(QPointF(0, 0), QSizeF(pixels)));
  painter.end();
  pixmap.setDevicePixelRatio(ratio);
  return pixmap;
}

/// Draws one glyph in the palette's colour of the moment.
class TintedEngine : public QIconEngine {
 public:
  TintedEngine(QString name, Token ink, Token on) : m_name(std::move(name)), m_ink(ink), m_on(on) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    const int side = std::min(rect.width(), rect.height());
    drawIcon(*painter, m_name, colour(mode, state), QPointF(rect.x(), rect.y() + (rect.height() - side) / 2),
             side);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    return scaledPixmap(size, mode, state, 1.0);
  }
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
    QPixmap result(size);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    const int side = std::min(size.width(), size.height());
    painter.drawPixmap(0, (size.height() - side) / 2, iconPixmap(m_name, colour(mode, state), side, 1.0));
    return result;
  }
  QSize actualSize(const QSize& size, QIcon::Mode, QIcon::State) override { return size; }
  QIconEngine* clone() const override { return new TintedEngine(*this); }

 private:
  QColor colour(QIcon::Mode mode, QIcon::State state) const {
    if (mode == QIcon::Disabled) return tokens().disabled;
    return tokens().*(state == QIcon::On && m_on ? m_on : m_ink);
  }
  QString m_name;
  Token m_ink, m_on;
};

}  // namespace

QByteArray tintedSvg(const QString& name, const QColor& colour) {
  return svgBytes(name).replace("currentColor", colour.name().toLatin1());
}

QPixmap iconPixmap(const QString& name, const QColor& colour, int size, double ratio) {
  const QString key = QStringLiteral("lorikeet:%1:%2:%3:%4").arg(name, colour.name()).arg(size).arg(ratio);
  QPixmap pixmap;
  if (!QPixmapCache::find(key, &pixmap)) {
    const int pixels = std::max(1, static_cast<int>(std::lround(size * ratio)));
    pixmap = render(tintedSvg(name, colour), QSize(pixels, pixels), ratio);
    QPixmapCache::insert(key, pixmap);
  }
  return pixmap;
}

void drawIcon(QPainter& painter, const QString& name, const QColor& colour, const QPointF& topLeft,
              int size) {
  const double ratio = painter.device() ? painter.device()->devicePixelRatioF() : 1.0;
  painter.drawPixmap(topLeft, iconPixmap(name, colour, size, ratio));
}

QPixmap picture(const QString& name, const QSize& size, double ratio) {
  return render(svgBytes(name), (QSizeF(size) * ratio).toSize(), ratio);
}

QIcon icon(const QString& name, Token ink, Token on) {
  return QIcon(new TintedEngine(name, ink, on));
}

QIcon applicationIcon() {
  QIcon result;
  for (const int side : {16, 24}) result.addPixmap(picture(QStringLiteral("app-small"), {side, side}, 1));
  for (const int side : {32, 48, 64, 128, 256})
    result.addPixmap(picture(QStringLiteral("app"), {side, side}, 1));
  return result;
}

}  // namespace lorikeet::ui

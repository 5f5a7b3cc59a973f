// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>
#include <QPixmap>
#include <QString>

#include "ui/widgets/palette.h"

class QPainter;

namespace lorikeet::ui {

/// A line icon of resources/icons that takes its colour from the palette in use whenever it is drawn, so it
/// follows a change of theme. `on` is the colour of the checked state (nullptr: the same). The glyph is a
/// square at the left of whatever size is asked for: buttons ask for 20 x 16 and so get 8 px between glyph
/// and text.
QIcon icon(const QString& name, Token ink = &Palette::text2, Token on = nullptr);

/// The glyph as a picture: `size` in px at 100 %, rendered for `ratio`, cached by name, colour, size and
/// ratio.
QPixmap iconPixmap(const QString& name, const QColor& colour, int size, double ratio);

/// Draws the glyph into a square at (x, y).
void drawIcon(QPainter& painter, const QString& name, const QColor& colour, const QPointF& topLeft, int size);

/// A picture with its own colours (the application's icon).
QPixmap picture(const QString& name, const QSize& size, double ratio);
QIcon applicationIcon();

/// The bytes of an icon with `colour` in place of currentColor.
QByteArray tintedSvg(const QString& name, const QColor& colour);

}  // namespace lorikeet::ui

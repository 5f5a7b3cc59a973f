// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <array>
#include <vector>

class QPalette;

namespace lorikeet::ui {

/// The colours of one theme by name. QPalette, the style sheet, icons, painted widgets and charts are filled
/// from it.
struct Palette {
  bool dark = false;
  QColor window, nav, surface, sunken, hover, border, borderStrong;
  QColor text, text2, text3, disabled;
  QColor accent, accentHover, accentPress, onAccent, accentTint, accentText, focus;
  QColor beak, success, successTint, warning, warningTint, danger, dangerTint;
  QColor trainedBg, trainedText, addBg, delBg;
  QColor raw, grid, axis;
  QColor series1, series2, series3, series4, series5, series6, series7, series8;

  /// Colour of chart series 0..7.
  const QColor& series(int index) const;
  /// Series colour for filled areas: in dark mixed with the surface, lines stay pure.
  QColor area(const QColor& colour) const;
};

/// Names one colour, for example &Palette::text2.
using Token = QColor Palette::*;

/// A token with the name it has in the style sheet ("@accent_text").
struct NamedToken {
  const char* name;
  Token token;
};
const std::vector<NamedToken>& namedTokens();

Palette lightPalette();
Palette darkPalette();

/// The palette in use, as QGuiApplication::palette() is: changed only by Theme.
const Palette& tokens();
void setTokens(const Palette& palette);

QPalette toQPalette(const Palette& palette);

/// Contrast ratio of WCAG 2, 1 to 21.
double contrast(const QColor& a, const QColor& b);

}  // namespace lorikeet::ui

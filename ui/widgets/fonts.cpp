// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/fonts.h"

#include <QDir>
#include <QFontDatabase>

namespace lorikeet::ui {
namespace {

struct Shape {
  double points;
  bool bold, mono;
};

Shape shapeOf(Role role) {
  switch (role) {
    case Role::title:
      return {15, true, false};
    case Role::figure:
      return {15, true, false};
    case Role::figureLarge:
      return {21, true, false};
    case Role::heading:
      return {11.25, true, false};
    case Role::body:
      return {9.75, false, false};
    case Role::strong:
      return {9.75, true, false};
    case Role::caption:
      return {9, false, false};
    case Role::captionStrong:
      return {9, true, false};
    case Role::small:
      return {8.25, false, false};
    case Role::mono:
      return {9, false, true};
    case Role::monoLarge:
      return {9.75, false, true};
  }
  return {9.75, false, false};
}

}  // namespace

void loadFonts() {
  static bool loaded = false;
  if (loaded) return;
  loaded = true;
  const QDir folder(QStringLiteral(":/fonts"));
  for (const QString& file : folder.entryList({QStringLiteral("*.ttf")}, QDir::Files)) {
    QFontDatabase::addApplicationFont(folder.filePath(file));
  }
}

QFont roleFont(Role role) {
  const Shape shape = shapeOf(role);
  QFont font;
  if (shape.mono) {
    font.setFamilies(
        {QStringLiteral("Noto Sans Mono"), QStringLiteral("Noto Sans Bengali"), QStringLiteral("monospace")});
    font.setStyleHint(QFont::Monospace);
  } else {
    font.setFamilies({QStringLiteral("Noto Sans"), QStringLiteral("Noto Sans Bengali")});
  }
  font.setPointSizeF(shape.points);
  font.setBold(shape.bold);
  return font;
}

}  // namespace lorikeet::ui

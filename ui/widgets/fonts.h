// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

namespace lorikeet::ui {

/// The roles text can have. Sizes are points, so that the system's text scaling counts.
enum class Role {
  title,
  figure,
  figureLarge,
  heading,
  body,
  strong,
  caption,
  captionStrong,
  small,
  mono,
  monoLarge
};

/// Loads the embedded Noto fonts; where one was missing at build time the system's is used.
void loadFonts();
QFont roleFont(Role role);

}  // namespace lorikeet::ui

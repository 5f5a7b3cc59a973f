// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

namespace lorikeet::ui {

/// A stretch of text that is the same in both answers, only in the newer, or only in the older one.
struct DiffPart {
  enum class Kind { same, added, removed };
  Kind kind = Kind::same;
  QString text;
};

/// Word by word difference; very long answers are compared by their first 400 words.
std::vector<DiffPart> wordDiff(const QString& before, const QString& after);

/// The difference as rich text in the palette's colours (added on a ground, removed struck through as well).
QString diffHtml(const std::vector<DiffPart>& parts);

}  // namespace lorikeet::ui

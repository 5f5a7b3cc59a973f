// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/word_diff.h"

#include <QStringList>
#include <algorithm>

#include "ui/widgets/palette.h"

namespace lorikeet::ui {
namespace {

constexpr qsizetype kMostWords = 400;

QStringList wordsOf(const QString& text) {
  QStringList words = text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  if (words.size() > kMostWords) words = words.mid(0, kMostWords);
  return words;
}

void push(std::vector<DiffPart>& parts, DiffPart::Kind kind, const QString& word) {
  if (!parts.empty() && parts.back().kind == kind) {
    parts.back().text += QLatin1Char(' ') + word;
  } else {
    parts.push_back({kind, word});
  }
}

}  // namespace

std::vector<DiffPart> wordDiff(const QString& before, const QString& after) {
  const QStringList a = wordsOf(before), b = wordsOf(after);
  const auto n = static_cast<std::size_t>(a.size()), m = static_cast<std::size_t>(b.size());
  // length[i][j]: longest common run of words of a[i..] and b[j..]
  std::vector<std::vector<int>> length(n + 1, std::vector<int>(m + 1, 0));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      length[i][j] = a[static_cast<qsizetype>(i)] == b[static_cast<qsizetype>(j)]
                         ? length[i + 1][j + 1] + 1
                         : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<DiffPart> parts;
  std::size_t i = 0, j = 0;
  while (i < n || j < m) {
    const QString& x = i < n ? a[static_cast<qsizetype>(i)] : QString();
    if (i < n && j < m && x == b[static_cast<qsizetype>(j)]) {
      push(parts, DiffPart::Kind::same, x);
      ++i, ++j;
    } else if (i < n && (j == m || length[i + 1][j] >= length[i][j + 1])) {
      push(parts, DiffPart::Kind::removed, x);
      ++i;
    } else {
      push(parts, DiffPart::Kind::added, b[static_cast<qsizetype>(j)]);
      ++j;
    }
  }
  return parts;
}

QString diffHtml(const std::vector<DiffPart>& parts) {
  QStringList html;
  for (const DiffPart& part : parts) {
    const QString text = part.text.toHtmlEscaped();
    switch (part.kind) {
      case DiffPart::Kind::same:
        html << text;
        break;
      case DiffPart::Kind::added:
        html << QStringLiteral("<span style=\"background-color:%1\">%2</span>")
                    .arg(tokens().addBg.name(), text);
        break;
      case DiffPart::Kind::removed:
        html << QStringLiteral("<span style=\"background-color:%1;text-decoration:line-through\">%2</span>")
                    .arg(tokens().delBg.name(), text);
        break;
    }
  }
  return html.join(QLatin1Char(' '));
}

}  // namespace lorikeet::ui

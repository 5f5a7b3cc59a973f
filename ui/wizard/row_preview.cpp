// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/row_preview.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/widgets/banner.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

/// The view shows the beginning of very long rows; the counts are of all.
constexpr std::size_t kMostShown = 4000;

class RowPreviewText {
  Q_DECLARE_TR_FUNCTIONS(RowPreviewText)
};

RowPreview::Turn turnOf(const Message& message, bool all) {
  const QString text = fromUtf8(message.content);
  if (message.role == "assistant")
    return {RowPreviewText::tr("Assistant"), QStringLiteral("train"), text, message.trained || all};
  if (message.role == "user") return {RowPreviewText::tr("User"), QStringLiteral("chat"), text, all};
  if (message.role == "system") return {RowPreviewText::tr("System"), QStringLiteral("info"), text, all};
  return {RowPreviewText::tr("Tool"), QStringLiteral("info"), text, all};
}

std::vector<RowPreview::Turn> turnsOf(const InstructionRow& row, const PromptFormat& format,
                                      const EncodedText& text, bool all) {
  std::vector<RowPreview::Turn> turns;
  if (row.kind == RowKind::text) {
    turns.push_back({RowPreviewText::tr("Text"), QStringLiteral("train"), fromUtf8(row.output), true});
    return turns;
  }
  const bool namesSystem = !row.messages.empty() && row.messages.front().role == "system";
  if (row.kind == RowKind::conversation && !namesSystem && !format.system().empty())
    turns.push_back({RowPreviewText::tr("System"), QStringLiteral("info"), fromUtf8(format.system()), all});
  for (const Message& message : row.messages) turns.push_back(turnOf(message, all));
  if (row.kind == RowKind::conversation) return turns;
  if (format.format() == "chat") {
    if (!format.system().empty())
      turns.push_back({RowPreviewText::tr("System"), QStringLiteral("info"), fromUtf8(format.system()), all});
    QString user = fromUtf8(row.instruction);
    if (!row.input.empty()) user += QStringLiteral("\n\n") + fromUtf8(row.input);
    turns.push_back({RowPreviewText::tr("User"), QStringLiteral("chat"), user, all});
    turns.push_back({RowPreviewText::tr("Assistant"), QStringLiteral("train"), fromUtf8(row.output), true});
    return turns;
  }
  const std::size_t answer = text.text.rfind(row.output);
  const std::string prompt = answer == std::string::npos ? text.text : text.text.substr(0, answer);
  turns.push_back({RowPreviewText::tr("Prompt"), QStringLiteral("chat"), fromUtf8(prompt).trimmed(), all});
  turns.push_back({RowPreviewText::tr("Answer"), QStringLiteral("train"), fromUtf8(row.output), true});
  return turns;
}

ShownToken shownToken(TokenId id, const Tokenizer& tokenizer) {
  ShownToken token;
  token.id = id;
  token.special = tokenizer.is_special(id);
  const std::string bytes = tokenizer.token_bytes(id);
  token.text = token.special ? fromUtf8(tokenizer.piece(id)) : visibleToken(bytes);
  token.bytes = QString::fromLatin1(QByteArray::fromStdString(bytes).toHex(' ')).toUpper();
  return token;
}

}  // namespace

RowPreview previewRow(const InstructionRow& row, const PreparedData& prepared, const Settings& settings) {
  RowPreview preview;
  preview.number = row.number;
  try {
    const PromptFormat& format = *prepared.format;
    const bool all = settings.train_on == "all";
    const EncodedText text = encode_row(row, format);
    preview.turns = turnsOf(row, format, text, all);
    std::size_t count = text.ids.size();
    if (!all && !text.trained.empty()) count = static_cast<std::size_t>(text.trained.back().second);
    std::vector<bool> trained(count, all);
    for (const auto& [from, to] : text.trained) {
      for (auto i = static_cast<std::size_t>(from); i < std::min(count, static_cast<std::size_t>(to)); ++i)
        trained[i] = true;
    }
    if (all && count > 0) trained[0] = false;  // the first token is never predicted
    const auto limit = static_cast<std::size_t>(prepared.max_length);
    const bool isLong = count > limit, drop = isLong && settings.too_long == "drop",
               cut = isLong && settings.too_long == "cut";
    const std::size_t kept = drop ? 0 : cut ? limit : count;
    for (std::size_t i = 0; i < count; ++i) {
      if (i >= kept)
        ++preview.cut;
      else
        ++(trained[i] ? preview.trained : preview.context);
      if (i >= std::max(kMostShown, kept + 64) || (i >= kMostShown && i + 64 < kept)) continue;
      ShownToken token = shownToken(text.ids[i], *prepared.tokenizer);
      token.trained = trained[i] && i < kept;
      token.cutAway = i >= kept;
      preview.tokens.push_back(std::move(token));
    }
    if (drop)
      preview.cutText = RowPreviewText::tr("Row %1 is left out: it has %2 tokens")
                            .arg(countText(row.number), countText(static_cast<std::int64_t>(count)));
    if (cut)
      preview.cutText = RowPreviewText::tr("Row %1 is cut here, after token %2")
                            .arg(countText(row.number), countText(static_cast<std::int64_t>(limit)));
    preview.begins =
        count > 0 && prepared.tokenizer->bos_id() >= 0 && text.ids[0] == prepared.tokenizer->bos_id();
    preview.endTrained =
        kept > 0 && kept == count && trained[count - 1] && text.ids[count - 1] == format.end_id();
  } catch (const std::exception&) {
    preview.problem = currentProblem().what;
  }
  return preview;
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/setting_words.h"

#include <QCoreApplication>
#include <QHash>
#include <array>
#include <cmath>

#include "kernels/base/error.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

struct Word {
  const char* key;
  const char* text;
};

constexpr Word kLabels[] = {
    {"quantization", QT_TRANSLATE_NOOP("SettingWords", "Quantisation")},
    {"compute", QT_TRANSLATE_NOOP("SettingWords", "Number type")},
    {"rank", QT_TRANSLATE_NOOP("SettingWords", "Rank")},
    {"alpha", QT_TRANSLATE_NOOP("SettingWords", "Alpha")},
    {"dropout", QT_TRANSLATE_NOOP("SettingWords", "Dropout")},
    {"targets", QT_TRANSLATE_NOOP("SettingWords", "Layers")},
    {"rslora", QT_TRANSLATE_NOOP("SettingWords", "Rank-stabilised scale")},
    {"dora", QT_TRANSLATE_NOOP("SettingWords", "Magnitude apart (DoRA)")},
    {"init", QT_TRANSLATE_NOOP("SettingWords", "Start values")},
    {"template", QT_TRANSLATE_NOOP("SettingWords", "Template")},
    {"system", QT_TRANSLATE_NOOP("SettingWords", "System text")},
    {"columns", QT_TRANSLATE_NOOP("SettingWords", "Columns")},
    {"empty-answers", QT_TRANSLATE_NOOP("SettingWords", "Empty answers")},
    {"nested-values", QT_TRANSLATE_NOOP("SettingWords", "Nested values")},
    {"duplicates", QT_TRANSLATE_NOOP("SettingWords", "Duplicates")},
    {"train-on", QT_TRANSLATE_NOOP("SettingWords", "Train on")},
    {"max-length", QT_TRANSLATE_NOOP("SettingWords", "Max length")},
    {"too-long", QT_TRANSLATE_NOOP("SettingWords", "Longer rows")},
    {"packing", QT_TRANSLATE_NOOP("SettingWords", "Packing")},
    {"group-by-length", QT_TRANSLATE_NOOP("SettingWords", "Group by length")},
    {"eval-fraction", QT_TRANSLATE_NOOP("SettingWords", "Evaluation share")},
    {"shuffle", QT_TRANSLATE_NOOP("SettingWords", "Shuffle")},
    {"seed", QT_TRANSLATE_NOOP("SettingWords", "Seed")},
    {"epochs", QT_TRANSLATE_NOOP("SettingWords", "Epochs")},
    {"max-steps", QT_TRANSLATE_NOOP("SettingWords", "Max steps")},
    {"batch-size", QT_TRANSLATE_NOOP("SettingWords", "Rows at once")},
    {"accumulation", QT_TRANSLATE_NOOP("SettingWords", "Collected")},
    {"learning-rate", QT_TRANSLATE_NOOP("SettingWords", "Learning rate")},
    {"schedule", QT_TRANSLATE_NOOP("SettingWords", "Schedule")},
    {"min-rate", QT_TRANSLATE_NOOP("SettingWords", "Lowest rate")},
    {"warmup-ratio", QT_TRANSLATE_NOOP("SettingWords", "Warm-up share")},
    {"warmup-steps", QT_TRANSLATE_NOOP("SettingWords", "Warm-up steps")},
    {"weight-decay", QT_TRANSLATE_NOOP("SettingWords", "Weight decay")},
    {"max-grad-norm", QT_TRANSLATE_NOOP("SettingWords", "Gradient clip")},
    {"neftune", QT_TRANSLATE_NOOP("SettingWords", "Noise on embeddings")},
    {"optimizer", QT_TRANSLATE_NOOP("SettingWords", "Optimiser")},
    {"eval-every", QT_TRANSLATE_NOOP("SettingWords", "Evaluate every")},
    {"save-every", QT_TRANSLATE_NOOP("SettingWords", "Checkpoint every")},
    {"keep-checkpoints", QT_TRANSLATE_NOOP("SettingWords", "Checkpoints kept")},
    {"early-stop", QT_TRANSLATE_NOOP("SettingWords", "Stop early")},
    {"device", QT_TRANSLATE_NOOP("SettingWords", "Device")},
    {"threads", QT_TRANSLATE_NOOP("SettingWords", "Threads")},
    {"memory-limit", QT_TRANSLATE_NOOP("SettingWords", "Memory limit")},
    {"offload", QT_TRANSLATE_NOOP("SettingWords", "Offload")},
};

/// Shorter than the help of the settings table, for beside a field.
constexpr Word kHints[] = {
    {"quantization",
     QT_TRANSLATE_NOOP("SettingWords", "How the frozen weights are kept. NF4 needs a quarter of 16-bit.")},
    {"compute",
     QT_TRANSLATE_NOOP("SettingWords",
                       "Number type of the products. Automatic takes bf16 where the device has it.")},
    {"rank", QT_TRANSLATE_NOOP("SettingWords", "Size of the adapter. Usual: 8 to 64.")},
    {"alpha", QT_TRANSLATE_NOOP("SettingWords", "Scale of the adapter. Usual: equal to the rank.")},
    {"dropout",
     QT_TRANSLATE_NOOP("SettingWords", "Left out at random, against learning by heart. Usual: 0 to 0.1.")},
    {"targets", QT_TRANSLATE_NOOP("SettingWords", "all-linear, or names such as q_proj,v_proj.")},
    {"rslora", QT_TRANSLATE_NOOP("SettingWords", "Alpha over the root of the rank, for rank 64 and up.")},
    {"dora", QT_TRANSLATE_NOOP("SettingWords", "Often better at low ranks; a step takes a third longer.")},
    {"init", QT_TRANSLATE_NOOP("SettingWords", "LoftQ makes up for what quantisation took from the base.")},
    {"columns",
     QT_TRANSLATE_NOOP("SettingWords", "By their names, or such as instruction=question,output=answer.")},
    {"empty-answers", QT_TRANSLATE_NOOP("SettingWords", "Kept rows train the end of an answer alone.")},
    {"nested-values", QT_TRANSLATE_NOOP("SettingWords", "Lists and objects where a text is expected.")},
    {"duplicates", QT_TRANSLATE_NOOP("SettingWords", "Later copies of a row.")},
    {"train-on", QT_TRANSLATE_NOOP("SettingWords", "Answers only is right for most tasks.")},
    {"max-length",
     QT_TRANSLATE_NOOP("SettingWords", "Longest row. Automatic: 1,024 or the model's context.")},
    {"packing",
     QT_TRANSLATE_NOOP("SettingWords", "Fills each row with several texts that never see each other.")},
    {"group-by-length",
     QT_TRANSLATE_NOOP("SettingWords", "Rows of similar length in one step; for runs without packing.")},
    {"system", QT_TRANSLATE_NOOP("SettingWords", "Put before every conversation.")},
    {"eval-fraction", QT_TRANSLATE_NOOP("SettingWords", "Share of the rows kept for evaluation.")},
    {"shuffle", QT_TRANSLATE_NOOP("SettingWords", "A new order every epoch.")},
    {"seed", QT_TRANSLATE_NOOP("SettingWords", "The same seed gives the same run.")},
    {"epochs", QT_TRANSLATE_NOOP("SettingWords", "How often each row is seen.")},
    {"max-steps", QT_TRANSLATE_NOOP("SettingWords", "Overrides the epochs when it is not 0.")},
    {"learning-rate", QT_TRANSLATE_NOOP("SettingWords", "Usual for LoRA: 1e-4 to 3e-4.")},
    {"batch-size", QT_TRANSLATE_NOOP("SettingWords", "Rows computed at once. Only this costs memory.")},
    {"accumulation", QT_TRANSLATE_NOOP("SettingWords", "Batches collected for one step. Costs no memory.")},
    {"schedule", QT_TRANSLATE_NOOP("SettingWords", "How the rate falls over the run.")},
    {"min-rate", QT_TRANSLATE_NOOP("SettingWords", "Where the rate ends.")},
    {"warmup-ratio", QT_TRANSLATE_NOOP("SettingWords", "Share of the run in which the rate rises.")},
    {"warmup-steps", QT_TRANSLATE_NOOP("SettingWords", "Overrides the share when it is not 0.")},
    {"weight-decay", QT_TRANSLATE_NOOP("SettingWords", "Pulls the adapter towards zero.")},
    {"max-grad-norm", QT_TRANSLATE_NOOP("SettingWords", "Longer gradients are shortened; 0 turns that off.")},
    {"neftune", QT_TRANSLATE_NOOP("SettingWords", "NEFTune. Usual: 5; 0 turns it off.")},
    {"optimizer", QT_TRANSLATE_NOOP("SettingWords", "8-bit needs a quarter of the memory.")},
    {"eval-every", QT_TRANSLATE_NOOP("SettingWords", "Automatic: a tenth of the run, 10 steps at least.")},
    {"save-every", QT_TRANSLATE_NOOP("SettingWords", "Automatic: a tenth of the run, 10 steps at least.")},
    {"keep-checkpoints",
     QT_TRANSLATE_NOOP("SettingWords", "Older ones go when a newer one is proven whole.")},
    {"early-stop",
     QT_TRANSLATE_NOOP("SettingWords", "Ends after this many evaluations without gain; 0 never does.")},
    {"device", QT_TRANSLATE_NOOP("SettingWords", "Automatic takes a GPU where there is one.")},
    {"threads", QT_TRANSLATE_NOOP("SettingWords", "Automatic takes all cores.")},
    {"memory-limit", QT_TRANSLATE_NOOP("SettingWords", "Most memory the run may take, such as 6GB.")},
    {"offload", QT_TRANSLATE_NOOP("SettingWords", "Longer rows fit on the GPU, a little slower.")},
};

constexpr Word kUnits[] = {
    {"tokens", QT_TRANSLATE_NOOP("SettingWords", "tokens")},
    {"steps", QT_TRANSLATE_NOOP("SettingWords", "steps")},
    {"rows", QT_TRANSLATE_NOOP("SettingWords", "rows")},
    {"epochs", QT_TRANSLATE_NOOP("SettingWords", "epochs")},
    {"bytes", QT_TRANSLATE_NOOP("SettingWords", "bytes")},
};

constexpr Word kChoices[] = {
    {"nf4", QT_TRANSLATE_NOOP("SettingWords", "NF4, double")},
    {"nf4-single", QT_TRANSLATE_NOOP("SettingWords", "NF4, single")},
    {"fp4", QT_TRANSLATE_NOOP("SettingWords", "FP4, double")},
    {"int8", QT_TRANSLATE_NOOP("SettingWords", "INT8")},
    {"none", QT_TRANSLATE_NOOP("SettingWords", "None")},
    {"auto", QT_TRANSLATE_NOOP("SettingWords", "Automatic")},
    {"completions", QT_TRANSLATE_NOOP("SettingWords", "Answers only")},
    {"all", QT_TRANSLATE_NOOP("SettingWords", "Everything")},
    {"skip", QT_TRANSLATE_NOOP("SettingWords", "Skip")},
    {"keep", QT_TRANSLATE_NOOP("SettingWords", "Keep")},
    {"json", QT_TRANSLATE_NOOP("SettingWords", "As JSON text")},
    {"cut", QT_TRANSLATE_NOOP("SettingWords", "Cut")},
    {"drop", QT_TRANSLATE_NOOP("SettingWords", "Drop")},
    {"split", QT_TRANSLATE_NOOP("SettingWords", "Split")},
    {"linear", QT_TRANSLATE_NOOP("SettingWords", "Linear")},
    {"cosine", QT_TRANSLATE_NOOP("SettingWords", "Cosine")},
    {"constant", QT_TRANSLATE_NOOP("SettingWords", "Constant")},
    {"adamw-8bit", QT_TRANSLATE_NOOP("SettingWords", "AdamW, 8-bit")},
    {"adamw", QT_TRANSLATE_NOOP("SettingWords", "AdamW, 32-bit")},
    {"cpu", QT_TRANSLATE_NOOP("SettingWords", "Processor")},
    {"default", QT_TRANSLATE_NOOP("SettingWords", "Default")},
    {"loftq", QT_TRANSLATE_NOOP("SettingWords", "LoftQ")},
};

template <std::size_t N>
QString find(const Word (&words)[N], const std::string& key) {
  for (const Word& word : words) {
    if (key == word.key) return QCoreApplication::translate("SettingWords", word.text);
  }
  return fromUtf8(key);
}

class SettingText {
  Q_DECLARE_TR_FUNCTIONS(SettingText)
};

QString boundText(double value) {
  if (value != 0 && (std::fabs(value) < 1e-3 || std::fabs(value) >= 1e7)) return rateText(value);
  return QLocale().toString(value, 'g', 9);
}

}  // namespace

QString settingLabel(const SettingInfo& info) {
  return find(kLabels, info.key);
}

QString choiceLabel(const SettingInfo& info, const std::string& choice) {
  if (info.key == "compute" && choice != "auto") return fromUtf8(choice);
  if (info.key == "quantization" && choice == "none") return SettingText::tr("None, 16-bit");
  return find(kChoices, choice);
}

QString settingHint(const SettingInfo& info) {
  const QString hint = find(kHints, info.key);
  return hint == fromUtf8(info.key) ? fromUtf8(info.help) : hint;
}

QString unitLabel(const SettingInfo& info) {
  return find(kUnits, info.unit);
}

QString settingTip(const SettingInfo& info) {
  QString tip = QStringLiteral("<p><b>%1</b><br>%2.</p>")
                    .arg(settingLabel(info).toHtmlEscaped(), fromUtf8(info.help).toHtmlEscaped());
  QStringList facts;
  if (info.high > info.low)
    facts << SettingText::tr("Allowed: %1 to %2").arg(boundText(info.low), boundText(info.high));
  facts << SettingText::tr("Default: %1")
               .arg(info.default_text.empty() ? unknownText() : fromUtf8(info.default_text));
  if (!info.source.empty()) facts << fromUtf8(info.source);
  return tip + QStringLiteral("<p>%1</p>").arg(facts.join(QStringLiteral(" · ")).toHtmlEscaped());
}

bool isBuilt(const SettingInfo& info) {
  // A reserved setting refuses any value but its default, by name.
  std::string other;
  switch (info.kind) {
    case SettingInfo::Kind::boolean:
      other = info.default_text == "true" ? "false" : "true";
      break;
    case SettingInfo::Kind::integer:
    case SettingInfo::Kind::number:
      other = std::to_string(static_cast<std::int64_t>(info.high > 1 ? std::min(info.high, 2.0) : 0));
      break;
    case SettingInfo::Kind::choice:
      return info.choices.size() > 1;
    default:
      return true;
  }
  if (info.kind == SettingInfo::Kind::number && info.high <= 1)
    other = std::to_string((info.low + info.high) / 2);
  try {
    Settings settings;
    set_setting(settings, info.key, other);
    return true;
  } catch (const Error& error) {
    return error.code() != ErrorCode::unsupported;
  }
}

}  // namespace lorikeet::ui

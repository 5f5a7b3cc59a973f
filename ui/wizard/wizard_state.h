// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/model/model_spec.h"
#include "core/train/plan.h"
#include "core/train/prepare.h"
#include "core/train/settings.h"

namespace lorikeet::ui {

/// The base model that was chosen, read as far as the studio reads models: headers, no weights.
struct BaseModelInfo {
  QString path, name;
  ModelSpec spec;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::uint64_t weightBytes = 0;
  QString storage;   ///< types of the weights, for example "bf16" or "q4_0, f32"
  QString endToken;  ///< written form of the token that ends an answer
  bool hasChatTemplate = false;
};

enum class Preset { fast, balanced, thorough, own };
enum class Goal { task, style, facts, goOn };

/// Everything chosen in the wizard and what was read because of it. Values only; it outlives the window.
struct WizardState {
  Goal goal = Goal::task;
  QString adapterPath, adapterName;  ///< go on from this adapter
  std::shared_ptr<const BaseModelInfo> base;
  std::vector<QString> opened;  ///< folders and files opened by hand, for the list of models
  std::shared_ptr<const InstructionData> data;
  std::shared_ptr<const InstructionData> evaluation;  ///< of a file of its own
  std::shared_ptr<const PreparedData> prepared;       ///< rows as the model will see them
  std::optional<Plan> plan;
  Settings settings;
  Preset preset = Preset::balanced;
  bool advanced = false;
  QString runName;
  bool nameByHand = false;
  int page = 0;
  int furthest = 0;  ///< last page visited
};

}  // namespace lorikeet::ui

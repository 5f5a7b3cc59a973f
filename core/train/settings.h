// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/json.h"

namespace lorikeet {

/// Everything a person can set for a training run; names as on the command line with '_' for '-'. Plain
/// values: what they mean, their ranges and defaults stand once, in settings_table().
struct Settings {
  std::string quantization = "nf4";  ///< nf4, nf4-single, fp4, int8, none
  std::string head_quantization = "none";
  std::int64_t rank = 32;
  double alpha = 32;
  double dropout = 0;
  std::string targets = "all-linear";  ///< or a comma-separated list of module names, as in PEFT
  bool rslora = false;
  bool dora = false;
  std::string init = "default";
  std::string template_name = "auto";  ///< "template"
  std::string system;
  std::string columns = "auto";          ///< role=column pairs, or by their names
  std::string empty_answers = "skip";    ///< skip, keep
  std::string nested_values = "skip";    ///< skip, json
  std::string duplicates = "keep";       ///< keep, drop
  std::string train_on = "completions";  ///< completions, all, assistant
  std::int64_t max_length = 0;           ///< 0 = min(1024, the model's context)
  std::string too_long = "cut";          ///< cut, drop, split
  bool packing = true;
  bool group_by_length = false;
  double epochs = 1;
  std::int64_t max_steps = 0;  ///< > 0 overrides epochs
  std::int64_t batch_size = 2;
  std::int64_t accumulation = 4;
  double learning_rate = 2e-4;
  std::string schedule = "linear";
  double min_rate = 0;
  double warmup_ratio = 0.1;
  std::int64_t warmup_steps = 0;  ///< > 0 overrides warmup_ratio
  double weight_decay = 0.01;
  double max_grad_norm = 1.0;  ///< 0 = no clipping
  double neftune = 0;
  std::string optimizer = "adamw-8bit";  ///< adamw-8bit, adamw
  double eval_fraction = 0.01;
  std::string eval_data;        ///< path of an evaluation file, "" = none
  std::int64_t eval_every = 0;  ///< steps; 0 = auto: a tenth of the run, 10 at least
  std::int64_t save_every = 0;  ///< the same
  std::int64_t keep_checkpoints = 2;
  std::int64_t early_stop = 0;
  std::vector<std::string> sample_prompts;
  bool shuffle = true;
  std::uint64_t seed = 3407;
  std::string compute = "auto";          ///< auto, bf16, f16, f32
  std::string device = "auto";           ///< auto, cpu, cuda
  std::int64_t threads = 0;              ///< 0 = auto
  std::uint64_t memory_limit_bytes = 0;  ///< "memory-limit"; 0 = auto
  bool offload = false;  ///< inputs of recomputed layers wait in memory of the host; CUDA only
};

/// Whether the training draws random numbers for its tokens: dropout or noise.
inline bool draws_random_numbers(const Settings& settings) {
  return settings.dropout != 0 || settings.neftune != 0;
}

/// One row of the table that feeds the flags, job.json, the form, tooltips, validation and the help page.
struct SettingInfo {
  enum class Kind : std::uint8_t { integer, number, boolean, choice, text, text_list, bytes };
  std::string key;  ///< as a flag without the dashes, for example "learning-rate"
  Kind kind = Kind::text;
  std::string default_text;            ///< as a person writes it, for example "2e-4" or "auto"
  double low = 0, high = 0;            ///< allowed range of integer, number, bytes
  std::vector<std::string> choices;    ///< allowed values of choice
  std::vector<std::string> not_built;  ///< choices that are known by name and refused by name
  std::string unit;                    ///< "tokens", "steps", "rows", "bytes", ""
  std::string help;                    ///< one sentence
  std::string source;                  ///< the name in PEFT or TRL, or the paper
  std::string group;      ///< "model", "adapter", "data", "schedule", "optimizer", "watching", "machine"
  bool advanced = false;  ///< shown in the advanced form only
};

const std::vector<SettingInfo>& settings_table();
const SettingInfo* find_setting(const std::string& key);

/// Sets one value from its text form, checked against the table ("auto" and "none" where the default says so;
/// sizes such as "6GB"). Throws Error(invalid_argument) with where = key, saying the allowed range;
/// Error(unsupported) for a value or setting that is known but not built.
void set_setting(Settings& settings, const std::string& key, const std::string& text);
/// The text form of one value, parsed back by set_setting to the same value.
std::string setting_text(const Settings& settings, const std::string& key);

/// The object "settings" of job.json and of recipes: key → value in JSON's own types. Reading rejects unknown
/// keys and wrong types by name and starts from `base`.
Json settings_to_json(const Settings& settings);
Settings settings_from_json(const Json& json, const std::string& name, const Settings& base = {});

}  // namespace lorikeet

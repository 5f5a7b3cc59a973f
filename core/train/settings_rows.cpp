// SPDX-License-Identifier: Apache-2.0
#include "core/train/settings_rows.h"

namespace lorikeet {
namespace {

using Kind = SettingInfo::Kind;
using Texts = std::vector<std::string>;

/// Common parts of one row, so that the table below reads as a table.
SettingRow row(std::string key, SettingMember member, Kind kind, std::string default_text, std::string group,
               std::string help, std::string source = {}) {
  SettingRow result{{}, member};
  result.info.key = std::move(key);
  result.info.kind = kind;
  result.info.default_text = std::move(default_text);
  result.info.group = std::move(group);
  result.info.help = std::move(help);
  result.info.source = std::move(source);
  return result;
}
SettingRow range(SettingRow row, double low, double high, std::string unit = {}) {
  row.info.low = low;
  row.info.high = high;
  row.info.unit = std::move(unit);
  return row;
}
SettingRow choice(SettingRow row, Texts choices, Texts not_built = {}) {
  row.info.choices = std::move(choices);
  row.info.not_built = std::move(not_built);
  return row;
}
SettingRow advanced(SettingRow row) {
  row.info.advanced = true;
  return row;
}

std::vector<SettingRow> model_rows() {
  return {
      choice(row("quantization", &Settings::quantization, Kind::choice, "nf4", "model",
                 "How the frozen base weights are kept: 4-bit NF4 takes a quarter of the memory of 16-bit",
                 "bnb_4bit_quant_type"),
             {"nf4", "nf4-single", "fp4", "int8", "none"}),
      advanced(choice(row("head-quantization", &Settings::head_quantization, Kind::choice, "none", "model",
                          "How the output head is kept; 16-bit by default"),
                      {"none"}, {"int8", "nf4"})),
      choice(row("compute", &Settings::compute, Kind::choice, "auto", "model",
                 "Number type of the products: auto is bf16 where the device has it, f16 on older GPUs, else "
                 "f32"),
             {"auto", "bf16", "f16", "f32"}),
  };
}

std::vector<SettingRow> adapter_rows() {
  return {
      range(row("rank", &Settings::rank, Kind::integer, "32", "adapter",
                "Rank of the adapter: how much it can learn, and its size", "LoraConfig.r"),
            1, 1024),
      range(row("alpha", &Settings::alpha, Kind::number, "32", "adapter",
                "Strength of the adapter: its output is scaled by alpha divided by rank",
                "LoraConfig.lora_alpha"),
            0.001, 65536),
      range(row("dropout", &Settings::dropout, Kind::number, "0", "adapter",
                "Share of the adapter's inputs that is left out at random while training, against learning "
                "by heart",
                "LoraConfig.lora_dropout"),
            0, 0.95),
      advanced(row("targets", &Settings::targets, Kind::text, "all-linear", "adapter",
                   "Linear layers that get an adapter: all-linear, or names such as q_proj,v_proj",
                   "LoraConfig.target_modules")),
      advanced(row("rslora", &Settings::rslora, Kind::boolean, "false", "adapter",
                   "Scale by alpha divided by the square root of rank, steadier at high ranks",
                   "LoraConfig.use_rslora")),
      advanced(row("dora", &Settings::dora, Kind::boolean, "false", "adapter",
                   "Learn magnitude and direction apart: often better at low ranks, a third slower",
                   "LoraConfig.use_dora")),
      advanced(choice(row("init", &Settings::init, Kind::choice, "default", "adapter",
                          "Start values: default leaves the model unchanged at step 0, loftq makes up for "
                          "what quantisation lost",
                          "LoraConfig.init_lora_weights"),
                      {"default", "loftq"})),
  };
}

std::vector<SettingRow> data_rows() {
  return {
      row("template", &Settings::template_name, Kind::text, "auto", "data",
          "Form of the prompt: auto, alpaca, none, a known name, or a Jinja file"),
      row("system", &Settings::system, Kind::text, "", "data", "System text put before every conversation"),
      row("columns", &Settings::columns, Kind::text, "auto", "data",
          "Which column is which text: auto goes by their names, or pairs such as "
          "instruction=question,output=answer"),
      advanced(choice(row("empty-answers", &Settings::empty_answers, Kind::choice, "skip", "data",
                          "Rows without an answer: skip them, or keep them to train the end alone"),
                      {"skip", "keep"})),
      advanced(choice(row("nested-values", &Settings::nested_values, Kind::choice, "skip", "data",
                          "Rows whose text is a list or an object: skip them, or take it as JSON text"),
                      {"skip", "json"})),
      advanced(choice(row("duplicates", &Settings::duplicates, Kind::choice, "keep", "data",
                          "Later copies of a row: keep them, or drop them"),
                      {"keep", "drop"})),
      choice(row("train-on", &Settings::train_on, Kind::choice, "completions", "data",
                 "Which tokens are trained: answers only, or the whole text", "completion_only_loss"),
             {"completions", "all"}, {"assistant"}),
      range(row("max-length", &Settings::max_length, Kind::integer, "auto", "data",
                "Longest row in tokens; auto is 1024 or the model's context if that is shorter",
                "SFTConfig.max_length"),
            16, 1048576, "tokens"),
      choice(row("too-long", &Settings::too_long, Kind::choice, "cut", "data",
                 "What happens to longer rows: cut the end, drop the row, or split it",
                 "SFTConfig.truncation_mode"),
             {"cut", "drop", "split"}),
      row("packing", &Settings::packing, Kind::boolean, "true", "data",
          "Fill each batch row with several texts that never see each other", "SFTConfig.packing"),
      advanced(
          row("group-by-length", &Settings::group_by_length, Kind::boolean, "false", "data",
              "Put rows of similar length into one step, so that steps take evener time; for runs without "
              "packing",
              "TrainingArguments.group_by_length")),
      range(row("eval-fraction", &Settings::eval_fraction, Kind::number, "0.01", "data",
                "Share of the rows kept for evaluation"),
            0, 0.9),
      row("eval-data", &Settings::eval_data, Kind::text, "none", "data", "A file of its own for evaluation"),
      advanced(row("shuffle", &Settings::shuffle, Kind::boolean, "true", "data",
                   "A new order every epoch; false keeps the file's order")),
      advanced(row("seed", &Settings::seed, Kind::integer, "3407", "data", "Start of all random numbers",
                   "TrainingArguments.seed")),
  };
}

std::vector<SettingRow> schedule_rows() {
  return {
      range(row("epochs", &Settings::epochs, Kind::number, "1", "schedule",
                "How often the whole data set is seen", "TrainingArguments.num_train_epochs"),
            0.001, 10000, "epochs"),
      range(row("max-steps", &Settings::max_steps, Kind::integer, "0", "schedule",
                "Number of steps; overrides epochs when it is not 0", "TrainingArguments.max_steps"),
            0, 1e9, "steps"),
      range(row("batch-size", &Settings::batch_size, Kind::integer, "2", "schedule", "Rows computed at once",
                "TrainingArguments.per_device_train_batch_size"),
            1, 4096, "rows"),
      range(row("accumulation", &Settings::accumulation, Kind::integer, "4", "schedule",
                "Batches collected for one step", "TrainingArguments.gradient_accumulation_steps"),
            1, 65536, "batches"),
      range(row("learning-rate", &Settings::learning_rate, Kind::number, "2e-4", "schedule",
                "Size of the steps", "TrainingArguments.learning_rate"),
            0, 1),
      choice(row("schedule", &Settings::schedule, Kind::choice, "linear", "schedule",
                 "How the learning rate falls", "TrainingArguments.lr_scheduler_type"),
             {"linear", "cosine", "cosine-min", "constant", "inverse-sqrt"}),
      advanced(range(row("min-rate", &Settings::min_rate, Kind::number, "0", "schedule",
                         "Lowest rate of cosine-min, as a share of learning-rate", "min_lr_rate"),
                     0, 1)),
      range(row("warmup-ratio", &Settings::warmup_ratio, Kind::number, "0.1", "schedule",
                "Share of the steps in which the rate rises from 0", "TrainingArguments.warmup_ratio"),
            0, 1),
      advanced(range(
          row("warmup-steps", &Settings::warmup_steps, Kind::integer, "0", "schedule",
              "The same in steps; overrides warmup-ratio when it is not 0", "TrainingArguments.warmup_steps"),
          0, 1e9, "steps")),
  };
}

std::vector<SettingRow> optimizer_rows() {
  return {
      choice(
          row("optimizer", &Settings::optimizer, Kind::choice, "adamw-8bit", "optimizer",
              "AdamW with 8-bit state (a quarter of the memory) or 32-bit state", "TrainingArguments.optim"),
          {"adamw-8bit", "adamw"}),
      advanced(range(row("weight-decay", &Settings::weight_decay, Kind::number, "0.01", "optimizer",
                         "Pull of the adapter's weights towards 0", "TrainingArguments.weight_decay"),
                     0, 1)),
      advanced(range(row("max-grad-norm", &Settings::max_grad_norm, Kind::number, "1", "optimizer",
                         "Longest gradient; longer ones are shortened, 0 turns that off",
                         "TrainingArguments.max_grad_norm"),
                     0, 1e6)),
      advanced(range(
          row("neftune", &Settings::neftune, Kind::number, "0", "optimizer",
              "Noise on the embeddings while training, weaker in longer rows; 5 is usual, 0 turns it off",
              "neftune_noise_alpha"),
          0, 100)),
  };
}

std::vector<SettingRow> watching_rows() {
  return {
      range(row("eval-every", &Settings::eval_every, Kind::integer, "auto", "watching",
                "Steps between evaluations; auto is a tenth of the run, 10 at least",
                "TrainingArguments.eval_steps"),
            1, 1e9, "steps"),
      range(row("save-every", &Settings::save_every, Kind::integer, "auto", "watching",
                "Steps between checkpoints; auto is a tenth of the run, 10 at least",
                "TrainingArguments.save_steps"),
            1, 1e9, "steps"),
      advanced(range(row("keep-checkpoints", &Settings::keep_checkpoints, Kind::integer, "2", "watching",
                         "How many checkpoints are kept", "TrainingArguments.save_total_limit"),
                     2, 1000)),
      advanced(range(row("early-stop", &Settings::early_stop, Kind::integer, "0", "watching",
                         "Evaluations in a row without gain after which the run ends; 0 never ends it",
                         "EarlyStoppingCallback"),
                     0, 1000)),
      row("sample-prompts", &Settings::sample_prompts, Kind::text_list, "none", "watching",
          "Prompts answered at every evaluation, one a line"),
  };
}

std::vector<SettingRow> machine_rows() {
  return {
      choice(row("device", &Settings::device, Kind::choice, "auto", "machine", "Where to compute"),
             {"auto", "cpu", "cuda"}),
      advanced(range(row("threads", &Settings::threads, Kind::integer, "auto", "machine",
                         "Processor threads; auto takes all cores"),
                     1, 1024)),
      advanced(range(row("memory-limit", &Settings::memory_limit_bytes, Kind::bytes, "auto", "machine",
                         "Most memory the run may take; auto leaves a reserve"),
                     64e6, 1e15, "bytes")),
      advanced(row(
          "offload", &Settings::offload, Kind::boolean, "false", "machine",
          "Keep the inputs of recomputed layers in the computer's memory instead of the GPU's: longer rows "
          "fit, at a small cost in time; CUDA only")),
  };
}

}  // namespace

const std::vector<SettingRow>& setting_rows() {
  static const std::vector<SettingRow> rows = [] {
    std::vector<SettingRow> all;
    for (auto part :
         {model_rows, adapter_rows, data_rows, schedule_rows, optimizer_rows, watching_rows, machine_rows}) {
      for (auto& one : part()) all.push_back(std::move(one));
    }
    return all;
  }();
  return rows;
}

}  // namespace lorikeet

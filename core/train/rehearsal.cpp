// SPDX-License-Identifier: Apache-2.0
#include "core/train/rehearsal.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "core/base/files.h"
#include "core/model/base_model.h"
#include "core/publish/export.h"
#include "core/train/checkpoint.h"
#include "core/train/gradient_check.h"
#include "core/train/stopwatch.h"
#include "core/train/trainer.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone when this is.
struct Leftover {
  std::string path;
  explicit Leftover(std::string folder) : path(std::move(folder)) { remove(); }
  Leftover(const Leftover&) = delete;
  Leftover& operator=(const Leftover&) = delete;
  ~Leftover() { remove(); }
  void remove() const {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// Steps that may be skipped while the loss scale of f16 is looked for (loss_scale.h).
constexpr std::int64_t most_scale_searches = 24;

std::string megabytes(std::uint64_t bytes) {
  return std::to_string((bytes + 500'000) / 1'000'000) + " MB";
}

/// For the step that is there for A, which learns once B is not zero: short, but long enough that its tokens
/// have others to attend to.
std::int64_t short_row(const std::vector<TokenRow>& rows) {
  constexpr std::size_t enough = 16;
  std::size_t best = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::size_t length = rows[i].ids.size(), so_far = rows[best].ids.size();
    if (so_far < enough ? length > so_far : length >= enough && length < so_far) best = i;
  }
  return static_cast<std::int64_t>(best);
}

/// The longest row for evaluation, and others as far as a batch goes.
std::vector<TokenRow> longest_evaluation(const std::vector<TokenRow>& rows, std::int64_t most_tokens) {
  std::vector<TokenRow> chosen;
  if (rows.empty()) return chosen;
  const auto shorter = [](const TokenRow& a, const TokenRow& b) { return a.ids.size() < b.ids.size(); };
  const auto longest = std::max_element(rows.begin(), rows.end(), shorter);
  chosen.push_back(*longest);
  auto tokens = static_cast<std::int64_t>(longest->ids.size());
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const auto length = static_cast<std::int64_t>(row->ids.size());
    if (row == longest || tokens + length > most_tokens) continue;
    chosen.push_back(*row);
    tokens += length;
  }
  return chosen;
}

class Rehearsal {
 public:
  Rehearsal(const RehearsalParts& parts, const std::function<void(const std::string&)>& say,
            const std::function<void()>& between)
      : parts_(parts),
        say_(say),
        between_(between),
        folder_(rehearsal_folder(parts.run_path)),
        export_folder_(rehearsal_folder(parts.run_path) + "-export") {}

  RehearsalReport run();

 private:
  void look_at_disk();
  void look_at_targets();
  void choose_rows();
  void train_and_evaluate();
  void write_checkpoint(const Trainer& trainer);
  void step(Trainer& trainer, GradientCheck& check);
  void put_adapter_back();
  void lay_out_export();
  Trainer::Parts trial() const;

  const RehearsalParts& parts_;
  const std::function<void(const std::string&)>& say_;
  const std::function<void()>& between_;
  const Leftover folder_, export_folder_;
  std::vector<TokenRow> rows_, evaluation_;  ///< the longest batch and one row more; one batch
  RehearsalReport report_;
  bool searches_scale_ = false;  ///< steps were skipped for it
};

void Rehearsal::look_at_disk() {
  const std::uint64_t needed = parts_.plan->disk_bytes, free = disk_free_bytes(parts_.run_path);
  if (needed > free) {
    throw Error(ErrorCode::disk_full,
                "The run writes " + megabytes(needed) + " and the disk has " + megabytes(free) + " free",
                parts_.run_path,
                "Free " + megabytes(needed - free) + ", lower keep-checkpoints, or choose another disk");
  }
  if (needed + parts_.plan->export_bytes > free) {
    report_.warnings.push_back("There is room for the run, but not for a merged export of " +
                               megabytes(parts_.plan->export_bytes) + " beside it");
  }
}

/// What the end of the run writes has a free place.
void Rehearsal::look_at_targets() {
  for (const char* name : {"/adapter", "/best"}) {
    const std::string path = parts_.run_path + name;
    std::error_code ignored;
    if (!fs::exists(path, ignored) || fs::is_directory(path, ignored)) continue;
    throw Error(ErrorCode::io, "The finished adapter would be written here, where a file is", path,
                "Move it away");
  }
}

void Rehearsal::choose_rows() {
  const auto& train = parts_.data->train;
  const auto longest = longest_batch(train, parts_.job->settings, parts_.plan->max_length);
  for (const std::int64_t index : longest) rows_.push_back(train[static_cast<std::size_t>(index)]);
  report_.batch_rows = static_cast<std::int64_t>(rows_.size());
  for (const TokenRow& row : rows_) {
    const auto length = static_cast<double>(row.ids.size());
    report_.batch += {length, length * length, static_cast<double>(row.trained_tokens), 0};
  }
  report_.batch.batches = 1;
  report_.batch_tokens = static_cast<std::int64_t>(report_.batch.tokens);
  rows_.push_back(train[static_cast<std::size_t>(short_row(train))]);
  evaluation_ = longest_evaluation(parts_.data->evaluation, parts_.plan->largest_batch);
  for (const TokenRow& row : evaluation_)
    report_.evaluation_tokens += static_cast<std::int64_t>(row.ids.size());
}

Trainer::Parts Rehearsal::trial() const {
  Trainer::Parts trial;
  trial.model = parts_.model;
  trial.adapter = parts_.adapter;
  trial.train_rows = &rows_;
  trial.evaluation_rows = &evaluation_;
  trial.settings = parts_.job->settings;
  trial.settings.packing = trial.settings.shuffle = trial.settings.group_by_length = false;
  trial.settings.batch_size = report_.batch_rows;
  trial.settings.accumulation = 1;
  trial.plan = *parts_.plan;
  trial.plan.steps = 2 + most_scale_searches;
  trial.plan.warmup_steps = 0;
  trial.compute = parts_.compute;
  trial.rope_linear_factor = parts_.notes->rope_linear_factor;
  return trial;
}

void Rehearsal::write_checkpoint(const Trainer& trainer) {
  say_("Rehearses: writes a checkpoint and reads it back");
  const Stopwatch watch;
  trainer.save(folder_.path, *parts_.notes);
  verify_checkpoint(folder_.path);
  report_.checkpoint_seconds = watch.seconds();
}

void Rehearsal::step(Trainer& trainer, GradientCheck& check) {
  const Stopwatch watch;
  const StepReport report = trainer.step(between_);
  if (trainer.step_number() == 1) report_.batch_seconds = watch.seconds();
  searches_scale_ = searches_scale_ || report.searches_scale();
  std::string rows;
  for (const std::int64_t row : report.rows) rows += (rows.empty() ? "rows " : ", ") + std::to_string(row);
  if (!std::isfinite(report.loss)) {
    throw Error(ErrorCode::numeric, "The loss of a batch is not finite before anything was trained", rows,
                "Look at these rows, and at the base model: lorikeet inspect");
  }
  for (const auto& finding : check.after_step(report, trainer.gradients())) {
    if (finding.nothing_learns) {
      throw Error(ErrorCode::numeric, finding.what + ": nothing would be learned", "rehearsal",
                  "Look at the data as tokens, and at learning-rate");
    }
    report_.warnings.push_back(finding.what);
  }
}

void Rehearsal::train_and_evaluate() {
  Trainer trainer(trial());
  write_checkpoint(trainer);
  say_("Rehearses: the longest batch, " + std::to_string(report_.batch_tokens) + " tokens in " +
       std::to_string(report_.batch_rows) + " rows");
  GradientCheck check(parts_.model->backend(), *parts_.adapter);
  // The longest batch and the short row in turn; in f16 some steps only find the scale.
  for (std::int64_t i = 0; !trainer.finished() && (i < 2 || (!check.done() && searches_scale_)); ++i)
    step(trainer, check);
  if (evaluation_.empty()) return;
  say_("Rehearses: an evaluation");
  const Stopwatch watch;
  const Evaluation result = trainer.evaluate(between_);
  report_.evaluation_seconds = watch.seconds();
  if (!std::isfinite(result.loss))
    report_.warnings.push_back("The loss of the evaluation rows is not finite");
}

void Rehearsal::put_adapter_back() {
  Backend& backend = parts_.model->backend();
  const LoraAdapter saved = LoraAdapter::load(backend, parts_.model->spec(), folder_.path);
  backend.copy(parts_.adapter->parameters(), saved.parameters());
  backend.synchronize();
}

void Rehearsal::lay_out_export() {
  say_("Rehearses: an export");
  ExportRequest request;
  request.model_path = parts_.job->model_path;
  request.adapter_path = folder_.path;
  request.out = export_folder_.path;
  request.kind = "adapter";
  rehearse_export(request, between_);
  request.kind = "merged";
  try {
    report_.export_bytes = rehearse_export(request, between_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    // What this version cannot merge can be trained all the same, and chatted with.
    report_.warnings.push_back(std::string("A merged export is not possible: ") + error.what());
  }
}

RehearsalReport Rehearsal::run() {
  const Stopwatch watch;
  look_at_disk();
  look_at_targets();
  choose_rows();
  train_and_evaluate();
  put_adapter_back();  // the trainer's memory is free again
  lay_out_export();
  report_.seconds = watch.seconds();
  return report_;
}

}  // namespace

std::string rehearsal_folder(const std::string& run_path) {
  return run_path + "/checkpoints/rehearsal";
}

std::vector<std::int64_t> longest_batch(const std::vector<TokenRow>& rows, const Settings& settings,
                                        std::int64_t max_length) {
  std::vector<std::int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length_of = [&](std::int64_t index) {
    return static_cast<std::int64_t>(rows[static_cast<std::size_t>(index)].ids.size());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return length_of(a) > length_of(b); });
  std::vector<std::int64_t> chosen;
  if (!settings.packing) {
    const auto count = std::min(order.size(), static_cast<std::size_t>(settings.batch_size));
    chosen.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    return chosen;
  }
  // Pack after pack, filled with the longest rows that still fit.
  std::vector<std::int64_t> space(static_cast<std::size_t>(settings.batch_size), max_length);
  for (const std::int64_t index : order) {
    const auto pack =
        std::find_if(space.begin(), space.end(), [&](std::int64_t left) { return left >= length_of(index); });
    if (pack == space.end()) continue;
    *pack -= length_of(index);
    chosen.push_back(index);
  }
  return chosen;
}

RehearsalReport rehearse(const RehearsalParts& parts, const std::function<void(const std::string&)>& say,
                         const std::function<void()>& between) {
  return Rehearsal(parts, say, between).run();
}

}  // namespace lorikeet

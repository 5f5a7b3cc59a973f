// SPDX-License-Identifier: Apache-2.0
#include "core/train/time_estimate.h"

#include <algorithm>

#include "core/train/batch_stream.h"

namespace lorikeet {
namespace {

constexpr double fading = 0.97;                // of what was measured, from step to step
constexpr double disk_speed = 100e6;           // of checkpoints, before one was written; bytes a second
constexpr std::int64_t most_rows = 2'000'000;  // looked at before the first step

TokenCounts counts_of(const std::vector<TokenRow>& rows,
                      const std::vector<std::vector<std::int64_t>>& batches) {
  TokenCounts counts;
  for (const auto& batch : batches) {
    for (const std::int64_t index : batch) {
      const TokenRow& row = rows[static_cast<std::size_t>(index)];
      const auto length = static_cast<double>(row.ids.size());
      counts += {length, length * length, static_cast<double>(row.trained_tokens), 0};
    }
    counts.batches += 1;
  }
  return counts;
}

}  // namespace

TimeEstimate::TimeEstimate(const ModelSpec& spec, const Settings& settings, const Plan& plan,
                           const std::vector<TokenRow>& rows, const std::vector<TokenRow>& evaluation)
    : steps_(plan.steps),
      eval_every_(std::max<std::int64_t>(1, plan.eval_every)),
      save_every_(std::max<std::int64_t>(1, plan.save_every)),
      evaluates_(!evaluation.empty()),
      each_(training_operations(spec, settings, plan.recomputed_layers)),
      checkpoint_bytes_(plan.checkpoint_bytes) {
  up_to_.push_back(0);
  if (rows.empty()) return;
  BatchStream stream(rows, settings, plan.max_length);
  const std::int64_t epochs = 1 + most_rows / static_cast<std::int64_t>(rows.size());
  const std::int64_t seen = std::min(steps_, std::max<std::int64_t>(1, plan.steps_per_epoch) * epochs);
  for (std::int64_t step = 0; step < seen; ++step) {
    up_to_.push_back(up_to_.back() + each_.of(counts_of(rows, stream.step_batches())));
    if (step + 1 < seen) stream.advance();
  }
  mean_ = up_to_.back() / static_cast<double>(std::max<std::int64_t>(1, seen));
  TokenCounts evaluated;
  for (const TokenRow& row : evaluation) {
    const auto length = static_cast<double>(row.ids.size());
    evaluated += {length, length * length, static_cast<double>(row.trained_tokens), 0};
  }
  evaluated.batches = evaluated.tokens / static_cast<double>(std::max<std::int64_t>(1, plan.largest_batch));
  evaluation_operations_ = lorikeet::evaluation_operations(spec, settings).of(evaluated);
}

void TimeEstimate::step_took(std::int64_t step, double seconds) {
  const double operations = operations_left(step - 1) - operations_left(step);
  ++measured_;
  const double keep = measured_ == 2 ? 0 : fading;
  seconds_ = keep * seconds_ + seconds;
  operations_ = keep * operations_ + operations;
}

void TimeEstimate::rehearsed(const TokenCounts& counts, double seconds) {
  rehearsed_ = seconds / std::max(1.0, each_.of(counts));
}

double TimeEstimate::operations_left(std::int64_t step) const {
  const auto up_to = [&](std::int64_t count) {
    const auto known = static_cast<std::int64_t>(up_to_.size()) - 1;
    if (count <= known) return up_to_[static_cast<std::size_t>(std::max<std::int64_t>(0, count))];
    return up_to_.back() + mean_ * static_cast<double>(count - known);
  };
  return up_to_.empty() ? 0 : up_to(steps_) - up_to(std::min(step, steps_));
}

std::int64_t TimeEstimate::evaluations_left(std::int64_t step) const {
  if (step >= steps_) return 0;
  return steps_ / eval_every_ - step / eval_every_ + (steps_ % eval_every_ == 0 ? 0 : 1);
}

std::int64_t TimeEstimate::checkpoints_left(std::int64_t step) const {
  if (step >= steps_) return 0;
  const std::int64_t saves = steps_ / save_every_ - step / save_every_ + (steps_ % save_every_ == 0 ? 0 : 1);
  // The best evaluation's is kept too; about every other one is the best so far.
  return eval_every_ == save_every_ || !evaluates_ ? saves : saves + evaluations_left(step) / 2;
}

double TimeEstimate::seconds_left(std::int64_t step) const {
  const double speed = operations_ > 0 ? seconds_ / operations_ : rehearsed_;  // seconds for an operation
  if (speed <= 0) return 0;
  const double evaluation = evaluation_seconds_ > 0 ? evaluation_seconds_ : evaluation_operations_ * speed;
  const double checkpoint =
      checkpoint_seconds_ > 0 ? checkpoint_seconds_ : static_cast<double>(checkpoint_bytes_) / disk_speed;
  return operations_left(step) * speed +
         static_cast<double>(evaluations_left(step)) * (evaluation + samples_seconds_) +
         static_cast<double>(checkpoints_left(step)) * checkpoint;
}

}  // namespace lorikeet

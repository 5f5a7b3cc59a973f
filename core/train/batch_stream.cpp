// SPDX-License-Identifier: Apache-2.0
#include "core/train/batch_stream.h"

#include <algorithm>

#include "core/train/epoch_batches.h"
#include "kernels/base/error.h"

namespace lorikeet {

BatchStream::BatchStream(const std::vector<TokenRow>& rows, const Settings& settings, std::int64_t max_length)
    : rows_(rows), settings_(settings), max_length_(max_length) {
  if (rows.empty()) throw Error(ErrorCode::invalid_argument, "There are no rows to train on");
  load_epoch(0);
}

void BatchStream::load_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  next_ = 0;
  plan_ = epoch_batches(rows_, settings_, epoch, max_length_);
}

void BatchStream::seek(std::int64_t step) {
  // Every epoch has as many micro-batches as this one.
  const std::int64_t steps = (batch_count() + settings_.accumulation - 1) / settings_.accumulation;
  load_epoch(step / steps);
  next_ = step % steps * settings_.accumulation;
}

std::vector<std::vector<std::int64_t>> BatchStream::step_batches() const {
  const std::int64_t end = std::min(next_ + settings_.accumulation, batch_count());
  return {plan_.micro_batches.begin() + next_, plan_.micro_batches.begin() + end};
}

double BatchStream::epoch_after() const {
  const std::int64_t end = std::min(next_ + settings_.accumulation, batch_count());
  return static_cast<double>(epoch_) + static_cast<double>(end) / static_cast<double>(batch_count());
}

void BatchStream::advance() {
  next_ += settings_.accumulation;
  if (next_ >= batch_count()) load_epoch(epoch_ + 1);
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <nlohmann/json.hpp>

#include "core/model/compute_choice.h"
#include "core/train/run.h"
#include "kernels/base/error.h"

namespace lorikeet {

void Run::with_less_memory(const std::function<void()>& work) {
  for (;;) {
    std::string why;
    try {
      return work();
    } catch (const std::bad_alloc&) {
      why = "The system has no memory left";
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      why = error.message();
    }
    take_less_memory(why);
  }
}

void Run::take_less_memory(const std::string& why) {
  const auto change = trainer_->take_less_memory();
  if (!change) {
    throw Error(
        ErrorCode::out_of_memory,
        "A step does not fit into memory, even row by row with all layers recomputed: " + why, "",
        "Go on with resume after closing other programs or raising memory-limit, or start again with a lower "
        "max-length or rank or a smaller model");
  }
  job_.shape_changes.push_back(*change);
  // First, so that a resumed run changes at the same step whatever comes now.
  events_.with_patience([&] { folder_.write_job(job_); });
  say_less_memory(*change, why);
}

void Run::say_less_memory(const StepShapeChange& change, const std::string& why) {
  plan_step_shape(plan_, spec_, data_.shape, job_.settings, plan_device(*backend_, compute_), change.shape);
  events_.append({{"type", "memory"},
                  {"step", change.from_step},
                  {"micro_batch_tokens", change.shape.micro_batch_tokens},
                  {"recomputed_layers", change.shape.recomputed_layers},
                  {"planned_bytes", plan_.memory.total()},
                  {"why", why}});
}

/// What an earlier part of a resumed run learnt about memory.
void Run::recall_less_memory(std::int64_t from_step) {
  for (const auto& change : job_.shape_changes) {
    if (change.from_step > from_step) {
      say_less_memory(change, "As before the run was resumed");  // readers have dropped what was said then
    } else {
      plan_step_shape(plan_, spec_, data_.shape, job_.settings, plan_device(*backend_, compute_),
                      change.shape);
    }
  }
}

}  // namespace lorikeet

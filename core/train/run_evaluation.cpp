// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/atomic_folder.h"
#include "core/train/checkpoint.h"
#include "core/train/run.h"
#include "core/train/stopwatch.h"
#include "kernels/base/error.h"

namespace lorikeet {

bool Run::evaluation_is_due() const {
  const std::int64_t step = trainer_->step_number();
  return step % plan_.eval_every == 0 || trainer_->finished();
}

bool Run::go_on_after(const char* code, const std::string& what, const std::function<void()>& action) {
  std::string why;
  try {
    action();
    return true;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    why = error.what();
  } catch (const std::bad_alloc&) {
    why = "no memory is left";
  }
  events_.warning(code, what + " failed, training goes on: " + why, trainer_->step_number());
  return false;
}

bool Run::evaluate() {
  const std::int64_t step = trainer_->step_number();
  bool best = false;
  if (!data_.evaluation.empty() && !std::exchange(known_evaluation_, false)) {
    events_.state(RunState::evaluating);
    const InPhase evaluating(events_.phases(), Phase::evaluate);
    const Stopwatch watch;
    Evaluation result;
    const bool done = go_on_after("evaluation", "The evaluation", [&] {
      result = trainer_->evaluate(between());
      if (!std::isfinite(result.loss)) throw Error(ErrorCode::numeric, "the loss is not finite");
    });
    if (done) {
      time_.evaluation_took(watch.seconds());
      best = watch_.note(step, result.loss);
      stops_early_ = watch_.stops(job_.settings.early_stop);
      events_.evaluation({step, result.loss, result.perplexity, result.accuracy, result.tokens});
    }
  }
  const InPhase sampling(events_.phases(), Phase::sample);
  const Stopwatch watch;
  go_on_after("samples", "A sample answer", [&] {
    samples_->answer(
        std::exchange(known_samples_, 0), between(),
        [&](const std::string& prompt, const std::string& answer) {
          events_.append({{"type", "sample"}, {"step", step}, {"prompt", prompt}, {"answer", answer}});
        });
  });
  time_.samples_took(watch.seconds());
  if (!data_.evaluation.empty()) events_.state(RunState::training);
  return best;
}

/// Takes from the events what this engine does not know; `was_done`: the run had ended, and whoever resumes
/// it wants it to go on.
void Run::recall_evaluations(const RunHistory& history, bool was_done) {
  const std::int64_t step = trainer_->step_number();
  watch_ = {};
  for (const auto& evaluation : history.evaluations) watch_.note(evaluation.step, evaluation.loss);
  // Killed or stopped between an evaluation and what follows it: nothing is said twice and nothing left out.
  const auto of_step = [&](const auto& event) { return event.step == step; };
  known_evaluation_ = std::any_of(history.evaluations.begin(), history.evaluations.end(), of_step);
  known_samples_ =
      static_cast<std::size_t>(std::count_if(history.samples.begin(), history.samples.end(), of_step));
  evaluation_missing_ = evaluation_is_due() && ((!known_evaluation_ && !data_.evaluation.empty()) ||
                                                known_samples_ < job_.settings.sample_prompts.size());
  stops_early_ = !was_done && known_evaluation_ && watch_.stops(job_.settings.early_stop);
  if (evaluation_missing_) return;
  known_evaluation_ = false;
  known_samples_ = 0;
}

std::string Run::best_checkpoint() const {
  return watch_.best_step() > 0 ? folder_.checkpoint_path(watch_.best_step()) : std::string();
}

std::string Run::write_best() {
  if (watch_.best_step() == 0) return {};
  if (watch_.never_beat_the_start()) {
    events_.warning(
        "no_gain",
        "No evaluation was better than the one before training: the adapter does not help on rows "
        "it has not seen");
  }
  const std::string from = best_checkpoint();
  const bool written = go_on_after("best", "Keeping the adapter of the best evaluation", [&] {
    // What cannot be read just now is waited for; what is gone or damaged is not.
    events_.with_patience([&] {
      try {
        verify_checkpoint(from);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found) throw;
        throw Error(ErrorCode::bad_format, error.message(), error.where(), error.hint());
      }
    });
    events_.with_patience([&] {
      AtomicFolder target(folder_.best_path());
      for (const char* file :
           {"adapter_config.json", "adapter_model.safetensors", "lorikeet.json", "README.md"})
        copy_file_synced(from + "/" + file, target.folder() + "/" + file);
      target.commit(true);
    });
  });
  return written ? "best" : "";
}

}  // namespace lorikeet

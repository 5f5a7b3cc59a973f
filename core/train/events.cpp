// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/train/run_folder.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::pair<RunState, const char*> state_names[] = {
    {RunState::loading, "loading"},   {RunState::training, "training"}, {RunState::evaluating, "evaluating"},
    {RunState::pausing, "pausing"},   {RunState::paused, "paused"},     {RunState::waiting, "waiting"},
    {RunState::stopping, "stopping"}, {RunState::done, "done"},         {RunState::failed, "failed"},
};

std::int64_t whole(const Json& event, const char* key) {
  return json_int(event, key, 0, 0, INT64_MAX, "event");
}
double number(const Json& event, const char* key) {
  return json_number(event, key, 0, "event");
}
/// A number that is null where it was not finite.
double finite_or_nan(const Json& event, const char* key) {
  return json_number(event, key, std::numeric_limits<double>::quiet_NaN(), "event");
}
std::string text(const Json& event, const char* key) {
  return json_string(event, key, "", "event");
}

/// A list of numbers, one a layer; null where a number was not finite.
std::vector<double> numbers(const Json& event, const char* key) {
  constexpr std::size_t most_layers = 4096;
  std::vector<double> values;
  if (!event.contains(key) || !event.at(key).is_array() || event.at(key).size() > most_layers) return values;
  for (const auto& value : event.at(key)) {
    values.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

template <typename Event>
void drop_beyond(std::vector<Event>& events, std::int64_t step) {
  std::erase_if(events, [&](const Event& event) { return event.step > step; });
}

}  // namespace

const char* to_string(RunState state) {
  for (const auto& [value, name] : state_names) {
    if (value == state) return name;
  }
  return "unknown";
}

std::optional<RunState> run_state_from(const std::string& name) {
  for (const auto& [value, known] : state_names) {
    if (name == known) return value;
  }
  return std::nullopt;
}

void EventReader::feed(std::string_view bytes) {
  rest_ += bytes;
  std::size_t from = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', from)) {
    const std::string_view line(rest_.data() + from, end - from);
    from = end + 1;
    if (line.empty()) continue;
    try {
      apply(parse_json(line, "events.jsonl"));
    } catch (const Error& error) {
      history_.warnings.push_back({"broken_line", error.what()});
    }
  }
  rest_.erase(0, from);
}

void EventReader::apply(const Json& event) {
  const std::string type = text(event, "type");
  history_.last_time = std::max(history_.last_time, number(event, "time"));
  if (type == "state") {
    if (const auto state = run_state_from(text(event, "state"))) history_.state = *state;
    history_.state_why = text(event, "why");
    if (const auto total = whole(event, "total_steps")) history_.total_steps = total;
    if (event.contains("seconds_by_phase") && event.at("seconds_by_phase").is_object()) {
      history_.seconds_by_phase.clear();
      for (const auto& [name, seconds] : event.at("seconds_by_phase").items()) {
        if (seconds.is_number()) history_.seconds_by_phase.emplace_back(name, seconds.get<double>());
      }
    }
    if (event.contains("seconds_left")) {
      history_.seconds_left = number(event, "seconds_left");
      history_.seconds_left_time = number(event, "time");
    }
    history_.rehearsed = history_.rehearsed || event.contains("rehearsal");
    history_.rehearsing = !history_.rehearsed && (history_.rehearsing || event.contains("rehearsing"));
    if (history_.state == RunState::training) history_.error.reset();
  } else if (type == "step") {
    history_.steps.push_back({whole(event, "step"), number(event, "epoch"), finite_or_nan(event, "loss"),
                              number(event, "learning_rate"), finite_or_nan(event, "grad_norm"),
                              whole(event, "tokens"), whole(event, "trained_tokens"),
                              number(event, "tokens_per_second"), whole(event, "memory_bytes"),
                              number(event, "elapsed_seconds")});
  } else if (type == "eval") {
    history_.evaluations.push_back({whole(event, "step"), finite_or_nan(event, "loss"),
                                    finite_or_nan(event, "perplexity"), number(event, "accuracy"),
                                    whole(event, "tokens")});
  } else if (type == "sample") {
    history_.samples.push_back({whole(event, "step"), text(event, "prompt"), text(event, "answer")});
  } else if (type == "norms") {
    history_.norms.push_back({whole(event, "step"), numbers(event, "gradient"), numbers(event, "update"),
                              numbers(event, "parameter")});
  } else if (type == "data") {
    history_.data =
        DataEvent{whole(event, "rows"),           whole(event, "evaluation_rows"), whole(event, "tokens"),
                  whole(event, "trained_tokens"), whole(event, "refused_rows"),    whole(event, "cut_rows")};
  } else if (type == "checkpoint") {
    history_.checkpoints.push_back({whole(event, "step"), text(event, "path")});
  } else if (type == "memory") {
    history_.memory.push_back({whole(event, "step"), whole(event, "micro_batch_tokens"),
                               whole(event, "recomputed_layers"), whole(event, "planned_bytes"),
                               text(event, "why")});
  } else if (type == "warning") {
    history_.warnings.push_back({text(event, "code"), text(event, "what")});
  } else if (type == "error") {
    history_.error =
        ErrorEvent{text(event, "code"), text(event, "what"), text(event, "where"), text(event, "hint")};
  } else if (type == "done") {
    history_.done = DoneEvent{text(event, "adapter"), whole(event, "best_step"), text(event, "best")};
  } else if (type == "resume") {
    const std::int64_t step = whole(event, "from_step");
    drop_beyond(history_.steps, step);
    drop_beyond(history_.evaluations, step);
    drop_beyond(history_.samples, step);
    drop_beyond(history_.norms, step);
    drop_beyond(history_.checkpoints, step);
    drop_beyond(history_.memory, step);
    history_.error.reset();
    history_.done.reset();
  }
}

}  // namespace lorikeet

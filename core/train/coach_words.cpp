// SPDX-License-Identifier: Apache-2.0
#include "core/train/coach_words.h"

#include <array>
#include <cstddef>

namespace lorikeet {
namespace {

constexpr std::size_t count = static_cast<std::size_t>(Says::count);

/// In the order of Says.
constexpr std::array<const char*, count> texts = {
    "A loss or gradient was not a finite number.",
    "The adapter was lost: its weights are no finite numbers any more.",
    "steps skipped, which changed nothing: %1",
    "rows of the last of them: %1",
    "weights not finite after step %1, with rows %2",
    "the loss of step %1 is not finite",
    "Train in bf16 or f32, whose range is wider than that of f16.",
    "Look at these rows; if they are in order, train with a learning rate of %1 instead of %2.",
    "Let it go on from the last good checkpoint, or train with a learning rate of %1 instead of %2.",
    "Nearly all of the data is masked out: the model learns from very few tokens.",
    "%1 of %2 tokens were trained (%3 %)",
    "steps without a trained token: %1 of %2",
    "See the token view of the data: answers may be cut off by max-length, or lie in the prompt's column.",
    "The loss went up and stays up: training diverges.",
    "loss %1 around step %2, %3 now",
    "learning rates up to %1",
    "Go on from a checkpoint before it with a learning rate of %1 instead of %2.",
    "The learning rate is too high: steps overshoot.",
    "the loss jumped %1 times, first at step %2",
    "loss %1 at the start, %2 now",
    "a step changes the adapter by %1 %",
    "learning rate %1",
    "The model begins to learn the rows by heart: it gets better on them and worse on others.",
    "evaluation loss %1 at step %2, %3 now",
    "training loss %1 then, %2 now",
    "Take the checkpoint of step %1; next time use fewer epochs or early stopping.",
    "The learning rate is too low: the adapter has hardly moved.",
    "the learning rates of all %1 steps add up to %2",
    "Train with a learning rate of %1.",
    "The loss has stopped falling, and much of the run is still to come.",
    "since step %1 the loss has kept around %2",
    "%1 of %2 steps are done",
    "Stop and keep the best checkpoint, or train again with a higher rank or another learning rate.",
};
static_assert(texts.back() != nullptr, "a text is missing");

}  // namespace

const char* coach_text(Says says) {
  return texts[static_cast<std::size_t>(says)];
}

std::string Phrase::english() const {
  std::string text;
  for (const char* at = coach_text(says); *at != '\0'; ++at) {
    const bool place = at[0] == '%' && at[1] >= '1' && at[1] <= '9';
    const auto index = place ? static_cast<std::size_t>(at[1] - '1') : values.size();
    if (index < values.size()) {
      text += values[index];
      ++at;
    } else {
      text += *at;
    }
  }
  return text;
}

std::string english(const std::vector<Phrase>& parts) {
  std::string text;
  for (const Phrase& part : parts) text += (text.empty() ? "" : "; ") + part.english();
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

}  // namespace lorikeet

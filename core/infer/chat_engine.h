// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/infer/session.h"
#include "core/model/lora_adapter.h"
#include "core/text/prompt.h"
#include "core/train/settings.h"

namespace lorikeet {

/// One adapter of a chat and how strongly it acts (1 = as trained).
struct ChatAdapter {
  std::string folder;
  double strength = 1;
};

/// What an answer cost.
struct ChatStats {
  std::int64_t prompt_tokens = 0, tokens = 0, context = 0;
  double tokens_per_second = 0;  ///< of the answer, without the prompt
  StopReason reason = StopReason::end_token;
  std::uint64_t seed = 0;
};

/// A resident base model that answers, with any adapters: what `lorikeet chat` and the studio's chat window
/// talk to.
class ChatEngine {
 public:
  /// `settings` decides device, threads, memory, quantisation, compute type, template and system text;
  /// `context` tokens of cache, 0 = the model's own, at most 4,096.
  ChatEngine(const std::string& model_path, const Settings& settings, std::int64_t context,
             std::stop_token stop = {});
  ~ChatEngine();

  /// Replaces the adapters. With template auto the first one's template, system text and stop ids are used
  /// (design.md §10). When it throws, the adapters of before are still set.
  void set_adapters(const std::vector<ChatAdapter>& adapters);
  /// Answers a conversation; `say` gets valid UTF-8 as it comes. With template none the last message's text
  /// is continued.
  ChatStats answer(const std::vector<Message>& messages, const Sampling& sampling,
                   const std::function<void(const std::string&)>& say, std::stop_token stop = {});

  const ModelSpec& spec() const;
  const PromptFormat& format() const;
  std::int64_t context() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/engine/chat_protocol.h"
#include "app/engine/command.h"
#include "app/engine/settings_flags.h"
#include "core/infer/chat_engine.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct ChatOptions {
  std::string model;
  std::vector<std::string> adapters;
  std::optional<std::string> prompt;
  Sampling sampling;
  std::int64_t context = 0;
  std::vector<std::pair<std::string, std::string>>
      settings;  ///< key and text, for the settings chat shares with training
  Settings resolved() const {
    Settings result;
    for (const auto& [key, text] : settings) {
      if (!text.empty()) set_setting(result, key, text);
    }
    return result;
  }
};

/// "DIR" or "DIR:0.5". A colon that is not followed by a number belongs to the folder's name.
ChatAdapter parse_adapter(const std::string& text, const std::string& home) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon + 1 < text.size()) {
    char* end = nullptr;
    const double strength = std::strtod(text.c_str() + colon + 1, &end);
    if (*end == '\0') {
      if (!(strength >= -10 && strength <= 10)) {
        throw Error(ErrorCode::invalid_argument, "The strength must lie between -10 and 10", "--adapter");
      }
      return {resolve_adapter(text.substr(0, colon), home), strength};
    }
  }
  return {resolve_adapter(text, home), 1.0};
}

/// Streams one answer to standard output; returns it.
std::string answer(ChatEngine& engine, const std::vector<Message>& messages, const ChatOptions& options,
                   const CommandContext& context) {
  std::string text;
  const ChatStats stats = engine.answer(
      messages, options.sampling,
      [&](const std::string& piece) {
        text += piece;
        print_text(piece);
      },
      context.stop);
  const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
  if (on_terminal) print_text("\n");
  if (on_terminal || ::isatty(STDERR_FILENO) != 0) {
    std::fprintf(stderr, "(%lld tokens, %.1f tokens/s, seed %llu)\n", static_cast<long long>(stats.tokens),
                 stats.tokens_per_second, static_cast<unsigned long long>(stats.seed));
  }
  return text;
}

int run_terminal(ChatEngine& engine, const ChatOptions& options, const CommandContext& context) {
  const bool interactive = !options.prompt && ::isatty(STDIN_FILENO) != 0;
  std::vector<Message> messages;
  if (!interactive) {
    const std::string prompt = options.prompt ? *options.prompt
                                              : std::string(std::istreambuf_iterator<char>(std::cin),
                                                            std::istreambuf_iterator<char>());
    messages.push_back({"user", prompt});
    answer(engine, messages, options, context);
    return context.stop.stop_requested() ? exit_stopped : exit_done;
  }
  std::fprintf(stderr, "Type a message and press Return; Ctrl-D ends the chat.\n");
  for (std::string line; print_text("> "), std::getline(std::cin, line);) {
    if (line.empty()) continue;
    messages.push_back({"user", line});
    messages.push_back({"assistant", answer(engine, messages, options, context)});
    if (context.stop.stop_requested()) return exit_stopped;
  }
  print_text("\n");
  return exit_done;
}

int run_chat(const CommandContext& context, const ChatOptions& options) {
  if (context.json) {
    ChatDefaults defaults;
    defaults.model = options.model.empty() ? "" : resolve_model(options.model, context.home);
    for (const auto& adapter : options.adapters)
      defaults.adapters.push_back(parse_adapter(adapter, context.home));
    defaults.settings = options.resolved();
    defaults.sampling = options.sampling;
    defaults.context = options.context;
    if (!options.prompt) return serve_chat(defaults, context);
  }
  if (options.model.empty()) throw Error(ErrorCode::invalid_argument, "A model is needed", "--model");
  ChatEngine engine(resolve_model(options.model, context.home), options.resolved(), options.context,
                    context.stop);
  std::vector<ChatAdapter> adapters;
  for (const auto& adapter : options.adapters) adapters.push_back(parse_adapter(adapter, context.home));
  if (!adapters.empty()) engine.set_adapters(adapters);
  if (!context.json) return run_terminal(engine, options, context);
  std::string text;
  const ChatStats stats = engine.answer(
      {{"user", *options.prompt}}, options.sampling, [&](const std::string& piece) { text += piece; },
      context.stop);
  print_json({{"answer", text},
              {"tokens", stats.tokens},
              {"prompt_tokens", stats.prompt_tokens},
              {"tokens_per_second", stats.tokens_per_second},
              {"context", stats.context},
              {"seed", stats.seed},
              {"reason", to_string(stats.reason)}});
  return context.stop.stop_requested() ? exit_stopped : exit_done;
}

}  // namespace

void add_chat(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "chat", "Talk to a base model, with adapters if there are any");
  auto options = std::make_shared<ChatOptions>();
  Sampling& sampling = options->sampling;
  command->add_option("--model", options->model, "Folder, GGUF file or name");
  command
      ->add_option("--adapter", options->adapters,
                   "Adapter folder, with :strength if it is not 1; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--prompt", options->prompt, "Answer this and end; without it standard input is read");
  command->add_flag("--greedy", sampling.greedy, "Always the most likely token");
  command->add_option("--temperature", sampling.temperature)
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--top-k", sampling.top_k, "0 = off")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--top-p", sampling.top_p, "1 = off")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--min-p", sampling.min_p, "0 = off")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--repeat-penalty", sampling.repeat_penalty, "1 = off")
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  command->add_option("--seed", sampling.seed, "0 = a new one each time")->capture_default_str();
  command->add_option("--max-new-tokens", sampling.max_new_tokens)
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  command->add_option("--context", options->context, "Tokens of context; 0 = the model's own, at most 4096")
      ->check(CLI::Range(0, 10000000));
  for (const char* key :
       {"template", "system", "quantization", "compute", "device", "threads", "memory-limit"}) {
    options->settings.emplace_back(key, "");
  }
  for (auto& [key, text] : options->settings) command->add_option("--" + key, text, find_setting(key)->help);
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_chat(context, *options); }; });
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "app/engine/chat_protocol.h"

#include <condition_variable>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Requests in the order they came. A stop request overtakes: it ends the answer at hand at once.
class RequestQueue {
 public:
  void push(Json request) {
    const std::lock_guard lock(mutex_);
    if (request.is_object() && request.value("op", "") == "stop") current_.request_stop();
    requests_.push_back(std::move(request));
    changed_.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    current_.request_stop();  // nobody reads the answer any more
    changed_.notify_one();
  }
  /// The next request with a stop token for its work, or nothing when the input has ended.
  std::optional<std::pair<Json, std::stop_token>> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !requests_.empty(); });
    if (closed_) return std::nullopt;
    Json request = std::move(requests_.front());
    requests_.pop_front();
    current_ = std::stop_source();
    // A stop that already waits behind this request was meant for it.
    for (const auto& later : requests_) {
      if (later.is_object() && later.value("op", "") == "stop") current_.request_stop();
    }
    return std::pair(std::move(request), current_.get_token());
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Json> requests_;
  std::stop_source current_;
  bool closed_ = false;
};

void read_requests(RequestQueue& queue) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    try {
      queue.push(parse_json(line, "request"));
    } catch (const Error& error) {
      queue.push({{"op", "invalid"}, {"what", error.what()}});
    }
  }
  queue.close();
}

Sampling sampling_from(const Json& request, const Sampling& defaults) {
  Sampling sampling = defaults;
  if (!request.contains("sampling")) return sampling;
  const Json& json = request["sampling"];
  const std::string name = "sampling";
  const auto bounded = [&](const char* key, double fallback, double low, double high) {
    const double value = json_number(json, key, fallback, name);
    if (!(value >= low && value <= high))
      throw Error(ErrorCode::invalid_argument, "The number is outside its range", name + ": " + key);
    return value;
  };
  sampling.greedy = json_bool(json, "greedy", sampling.greedy, name);
  sampling.temperature = bounded("temperature", sampling.temperature, 0, 100);
  sampling.top_k = json_int(json, "top_k", sampling.top_k, 0, 1'000'000, name);
  sampling.top_p = bounded("top_p", sampling.top_p, 0, 1);
  sampling.min_p = bounded("min_p", sampling.min_p, 0, 1);
  sampling.repeat_penalty = bounded("repeat_penalty", sampling.repeat_penalty, 0.1, 10);
  sampling.repeat_window = json_int(json, "repeat_window", sampling.repeat_window, 0, 1'000'000, name);
  sampling.seed = static_cast<std::uint64_t>(
      json_int(json, "seed", static_cast<std::int64_t>(sampling.seed), 0, INT64_MAX, name));
  sampling.max_new_tokens = json_int(json, "max_new_tokens", sampling.max_new_tokens, 1, 10'000'000, name);
  return sampling;
}

std::vector<Message> messages_from(const Json& request) {
  if (!request.contains("messages") || !request["messages"].is_array() || request["messages"].empty()) {
    throw Error(ErrorCode::invalid_argument, "A message request needs a list of messages", "messages");
  }
  std::vector<Message> messages;
  for (const auto& message : request["messages"]) {
    messages.push_back(
        {json_string(message, "role", "", "messages"), json_string(message, "content", "", "messages")});
  }
  return messages;
}

class ChatServer {
 public:
  ChatServer(const ChatDefaults& defaults, const CommandContext& context)
      : defaults_(defaults), context_(context) {}

  void handle(const Json& request, std::stop_token stop) {
    id_ = request.is_object() && request.contains("id") ? request["id"] : Json(nullptr);
    try {
      const std::string op = json_string(request, "op", "", "request");
      if (op == "load")
        load(request, stop);
      else if (op == "adapters")
        set_adapters(request);
      else if (op == "message")
        message(request, stop);
      else if (op == "stop")
        say({{"type", "done"}});
      else if (op == "invalid")
        throw Error(ErrorCode::bad_format, json_string(request, "what", "", "request"), "request");
      else
        throw Error(ErrorCode::invalid_argument, "There is no operation \"" + op + "\"", "op",
                    "Use load, adapters, message or stop");
    } catch (const Error& error) {
      say({{"type", "error"},
           {"code", to_string(error.code())},
           {"what", error.message()},
           {"where", error.where()},
           {"hint", error.hint()}});
    } catch (const std::bad_alloc&) {
      say({{"type", "error"},
           {"code", "out_of_memory"},
           {"what", "The system has no memory left"},
           {"where", ""},
           {"hint", ""}});
    }
  }

  void load_default() {
    Json request = {{"op", "load"}, {"model", defaults_.model}};
    handle(request, context_.stop);
    if (engine_ && !defaults_.adapters.empty()) {
      Json list = Json::array();
      for (const auto& adapter : defaults_.adapters)
        list.push_back({{"path", adapter.folder}, {"strength", adapter.strength}});
      handle({{"op", "adapters"}, {"adapters", list}}, context_.stop);
    }
  }

 private:
  void say(const Json& answer) {
    Json line = {{"id", id_}};
    line.update(answer);
    print_json(line);
  }

  void load(const Json& request, std::stop_token stop) {
    Settings settings = defaults_.settings;
    for (const char* key :
         {"template", "system", "quantization", "compute", "device", "threads", "memory-limit"}) {
      if (!request.contains(key) || request[key].is_null()) continue;
      set_setting(settings, key,
                  request[key].is_string() ? request[key].get<std::string>() : request[key].dump());
    }
    const std::string model = resolve_model(json_string(request, "model", "", "load"), context_.home);
    const std::int64_t size = json_int(request, "context", defaults_.context, 0, 10'000'000, "load");
    engine_.reset();  // first give the old model's memory back
    engine_ = std::make_unique<ChatEngine>(model, settings, size, stop);
    say({{"type", "loaded"},
         {"name", engine_->spec().name},
         {"context", engine_->context()},
         {"format", engine_->format().format()},
         {"vocab_size", engine_->spec().vocab_size}});
  }

  ChatEngine& engine() {
    if (!engine_)
      throw Error(ErrorCode::invalid_argument, "No model is loaded", "op", "Send a load request first");
    return *engine_;
  }

  void set_adapters(const Json& request) {
    std::vector<ChatAdapter> adapters;
    if (!request.contains("adapters") || !request["adapters"].is_array()) {
      throw Error(ErrorCode::invalid_argument, "An adapters request needs a list", "adapters");
    }
    for (const auto& adapter : request["adapters"]) {
      const double strength = json_number(adapter, "strength", 1, "adapters");
      if (!(strength >= -10 && strength <= 10)) {
        throw Error(ErrorCode::invalid_argument, "The strength must lie between -10 and 10",
                    "adapters: strength");
      }
      adapters.push_back({absolute_path(json_string(adapter, "path", "", "adapters")), strength});
    }
    engine().set_adapters(adapters);
    say({{"type", "done"}});
  }

  void message(const Json& request, std::stop_token stop) {
    const ChatStats stats = engine().answer(
        messages_from(request), sampling_from(request, defaults_.sampling),
        [&](const std::string& text) {
          say({{"type", "token"}, {"text", text}});
        },
        stop);
    say({{"type", "stats"},
         {"tokens_per_second", stats.tokens_per_second},
         {"prompt_tokens", stats.prompt_tokens},
         {"tokens", stats.tokens},
         {"context", stats.context},
         {"seed", stats.seed}});
    say({{"type", "done"}, {"reason", to_string(stats.reason)}});
  }

  const ChatDefaults& defaults_;
  const CommandContext& context_;
  std::unique_ptr<ChatEngine> engine_;
  Json id_;
};

}  // namespace

int serve_chat(const ChatDefaults& defaults, const CommandContext& context) {
  // Detached: it may stand in a read of standard input for ever when a signal ends the process first.
  auto shared = std::make_shared<RequestQueue>();
  std::thread([shared] { read_requests(*shared); }).detach();
  const std::stop_callback end_on_signal(context.stop, [shared] { shared->close(); });
  ChatServer server(defaults, context);
  if (!defaults.model.empty()) server.load_default();
  while (auto request = shared->pop()) server.handle(request->first, request->second);
  return context.stop.stop_requested() ? exit_stopped : exit_done;
}

}  // namespace lorikeet

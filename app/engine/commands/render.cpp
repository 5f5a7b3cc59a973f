// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "core/model/model_spec.h"
#include "core/text/prompt.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct RenderOptions {
  std::string model, messages, template_name = "auto", system;
  bool generation_prompt = false;
};

/// A list of {"role", "content"}, or an object with it under "messages".
std::vector<Message> read_messages(const std::string& path) {
  const Json json = read_json_file(path);
  const Json* list = &json;
  if (json.is_object() && json.contains("messages")) list = &json["messages"];
  if (!list->is_array()) {
    throw Error(ErrorCode::bad_format, "Expected a list of messages", path,
                "Write [{\"role\": \"user\", \"content\": \"...\"}]");
  }
  std::vector<Message> messages;
  for (const auto& message : *list) {
    if (!message.is_object() || !message.contains("role") || !message.contains("content")) {
      throw Error(ErrorCode::bad_format,
                  "Message " + std::to_string(messages.size() + 1) + " lacks role or content", path);
    }
    messages.push_back({json_string(message, "role", "", path), json_string(message, "content", "", path)});
  }
  return messages;
}

int run_render(const CommandContext& context, const RenderOptions& options) {
  const std::string model = resolve_model(options.model, context.home);
  const ModelSpec spec = read_model_spec(model);
  const auto format =
      PromptFormat::choose(options.template_name, "", options.system, load_tokenizer(model), spec.eos_ids);
  const auto messages = read_messages(options.messages);
  const EncodedText encoded =
      options.generation_prompt ? format.encode_prompt(messages) : format.encode_conversation(messages, true);
  Json trained = Json::array();
  for (const auto& [from, to] : encoded.trained) trained.push_back({from, to});
  print_json({{"text", encoded.text}, {"ids", encoded.ids}, {"trained", trained}});
  return exit_done;
}

}  // namespace

void add_render(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "render", "A conversation as the model sees it: text, ids, trained tokens");
  auto options = std::make_shared<RenderOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name")->required();
  command->add_option("--messages", options->messages, "JSON file with a list of {role, content}")
      ->required();
  command->add_option("--template", options->template_name, "auto, a known name, or a Jinja file");
  command->add_option("--system", options->system, "System text");
  command->add_flag("--generation-prompt", options->generation_prompt, "End where the answer begins");
  command->callback([&context, options] {
    context.action = [&context, options] { return run_render(context, *options); };
  });
}

}  // namespace lorikeet

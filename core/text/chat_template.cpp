// SPDX-License-Identifier: Apache-2.0
#include "core/text/chat_template.h"

#include "core/base/utf8.h"
#include "core/text/jinja/interpreter.h"
#include "core/text/jinja/parser.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using jinja::TaggedText;
using jinja::Value;

constexpr std::size_t largest_template = std::size_t{1} << 20;

/// Text of people with the number of its message; what is not valid UTF-8 cannot have come through our
/// readers.
TaggedText content_of(const Message& message, std::size_t index) {
  if (const std::size_t valid = valid_utf8_prefix(message.content); valid < message.content.size()) {
    throw Error(ErrorCode::invalid_argument, "A message is not valid UTF-8",
                "message " + std::to_string(index + 1) + ", byte " + std::to_string(valid));
  }
  return TaggedText(message.content, static_cast<std::int32_t>(index));
}

/// The usual roles are words of the template's own; any other may hold anything, as content may.
Value role_of(const Message& message, std::size_t index) {
  for (const char* role : {"system", "user", "assistant", "tool"}) {
    if (message.role == role) return Value(role);
  }
  return TaggedText(message.role, static_cast<std::int32_t>(index));
}

Value messages_value(const std::vector<Message>& messages) {
  auto list = std::make_shared<jinja::List>();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    auto message = std::make_shared<jinja::Dict>();
    message->items.emplace_back("role", role_of(messages[i], i));
    message->items.emplace_back("content", content_of(messages[i], i));
    list->items.emplace_back(std::shared_ptr<const jinja::Dict>(std::move(message)));
  }
  list->depth = 2;
  list->weight = 1 + 5 * std::ssize(messages);
  return std::shared_ptr<const jinja::List>(std::move(list));
}

}  // namespace

struct ChatTemplate::Impl {
  std::string source;
  jinja::Block program;
};

ChatTemplate::ChatTemplate(std::string source) : impl_(std::make_unique<Impl>()) {
  if (source.size() > largest_template)
    throw Error(ErrorCode::bad_format, "The chat template is larger than 1 MiB");
  if (const std::size_t valid = valid_utf8_prefix(source); valid < source.size()) {
    throw Error(ErrorCode::bad_format, "The chat template is not valid UTF-8",
                "byte " + std::to_string(valid));
  }
  impl_->program = jinja::Parser(jinja::tokenise_template(source)).parse();
  impl_->source = std::move(source);
}

ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

RenderedChat ChatTemplate::render(const std::vector<Message>& messages, bool add_generation_prompt,
                                  const Tokenizer& tokenizer) const {
  std::vector<std::pair<std::string, Value>> variables;
  variables.emplace_back("messages", messages_value(messages));
  variables.emplace_back("add_generation_prompt", Value(add_generation_prompt));
  variables.emplace_back("tools", Value(jinja::None{}));
  variables.emplace_back("documents", Value(jinja::None{}));
  const auto token = [&](const char* name, std::string text) {
    if (!text.empty()) variables.emplace_back(name, Value(std::move(text)));
  };
  token("bos_token", tokenizer.bos_token());
  token("eos_token", tokenizer.eos_token());
  token("pad_token", tokenizer.pad_token());
  token("unk_token", tokenizer.unk_token());
  jinja::Interpreter interpreter(std::move(variables));
  interpreter.run(impl_->program);
  RenderedChat chat;
  chat.text = interpreter.output().text();
  chat.generation = interpreter.generation();
  for (const TaggedText::Tag& tag : interpreter.output().tags()) {
    chat.content.push_back({tag.begin, tag.end, static_cast<std::size_t>(tag.source)});
  }
  return chat;
}

const std::string& ChatTemplate::source() const {
  return impl_->source;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/text/prompt.h"

#include <algorithm>
#include <filesystem>

#include "core/base/hash.h"
#include "core/text/encoded_text_builder.h"
#include "core/text/special_text.h"
#include "core/text/template_source.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

// The Alpaca form, formats.md §5.1.
constexpr const char* opening_with_input =
    "Below is an instruction that describes a task, paired with an input that provides further context. "
    "Write a response that appropriately completes the request.";
constexpr const char* opening_without_input =
    "Below is an instruction that describes a task. Write a response that appropriately completes the "
    "request.";
constexpr const char* instruction_heading = "\n\n### Instruction:\n";
constexpr const char* input_heading = "\n\n### Input:\n";
constexpr const char* response_heading = "\n\n### Response:";

std::size_t last_answer(const std::vector<Message>& messages) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (messages[i].role == "assistant") return i;
  }
  return messages.size();
}

}  // namespace

PromptFormat PromptFormat::choose(const std::string& template_setting, const std::string& carried,
                                  const std::string& system, std::shared_ptr<const Tokenizer> tokenizer,
                                  std::vector<TokenId> model_eos_ids) {
  PromptFormat format;
  format.system_ = system;
  format.tokenizer_ = std::move(tokenizer);
  format.special_ = std::make_shared<const SpecialText>(*format.tokenizer_);
  const TemplateSource source = find_template(template_setting, carried, format.tokenizer_->chat_template());
  format.format_ = source.format;
  format.template_text_ = source.text;
  format.template_hash_ = sha256_hex(source.format + "\n" + source.text);
  if (source.format == "chat") format.template_ = std::make_shared<const ChatTemplate>(source.text);
  format.find_end_token(model_eos_ids);
  return format;
}

void PromptFormat::find_end_token(const std::vector<TokenId>& model_eos_ids) {
  end_id_ = tokenizer_->eos_id();
  if (end_id_ < 0 && !model_eos_ids.empty()) end_id_ = model_eos_ids.front();
  if (template_) find_turn_end();
  if (turn_end_id_ >= 0) end_id_ = turn_end_id_;
  const auto add = [&](TokenId id) {
    if (id >= 0 && std::find(stop_ids_.begin(), stop_ids_.end(), id) == stop_ids_.end())
      stop_ids_.push_back(id);
  };
  add(end_id_);
  add(tokenizer_->eos_id());
  for (const TokenId id : model_eos_ids) add(id);
}

std::vector<Message> PromptFormat::with_system(const std::vector<Message>& messages) const {
  std::vector<Message> all = messages;
  if (!system_.empty() && (all.empty() || all.front().role != "system"))
    all.insert(all.begin(), {"system", system_});
  return all;
}

EncodedText PromptFormat::encode_instruction(const std::string& instruction, const std::string& input,
                                             const std::string& output) const {
  if (format_ == "alpaca" && !input.empty()) {
    EncodedTextBuilder builder(*tokenizer_);
    builder.text((system_.empty() ? opening_with_input : system_) + instruction_heading + instruction +
                 input_heading + input + response_heading);
    builder.answer(output, end_id_, true);
    return builder.take();
  }
  const std::string blank_line = instruction.empty() || input.empty() ? "" : "\n\n";
  return encode_conversation({{"user", instruction + blank_line + input}, {"assistant", output}}, false);
}

EncodedText PromptFormat::encode_conversation(const std::vector<Message>& messages,
                                              bool train_all_turns) const {
  if (template_) return encode_chat(with_system(messages), train_all_turns);
  return encode_plain(with_system(messages), train_all_turns, false);
}

EncodedText PromptFormat::encode_text(const std::string& text) const {
  std::string_view rest = text;
  const std::string end = tokenizer_->eos_id() >= 0 ? tokenizer_->piece(tokenizer_->eos_id()) : std::string();
  if (!end.empty() && rest.ends_with(end)) rest.remove_suffix(end.size());
  EncodedTextBuilder builder(*tokenizer_);
  builder.text(rest, true);
  const TokenId end_id = tokenizer_->eos_id() >= 0 ? tokenizer_->eos_id() : end_id_;
  if (end_id >= 0) builder.token(end_id);
  builder.train(std::min<std::int64_t>(1, builder.size()), builder.size());  // nothing predicts the first
  return builder.take();
}

EncodedText PromptFormat::encode_prompt(const std::vector<Message>& messages) const {
  if (template_) return encode_chat_prompt(with_system(messages));
  return encode_plain(with_system(messages), false, true);
}

/// The Alpaca form and plain text; `ask` leaves the text open for an answer.
EncodedText PromptFormat::encode_plain(const std::vector<Message>& messages, bool train_all_turns,
                                       bool ask) const {
  const bool alpaca = format_ == "alpaca";
  const std::size_t last = ask ? messages.size() : last_answer(messages);
  EncodedTextBuilder builder(*tokenizer_);
  std::string text;
  if (alpaca && (messages.empty() || messages.front().role != "system")) text = opening_without_input;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.role == "assistant") {
      builder.text(text + (alpaca ? response_heading : ""));
      text.clear();
      builder.answer(message.content, alpaca || i == last ? end_id_ : -1,
                     !ask && message.trained && (train_all_turns || i == last));
    } else if (message.role == "user") {
      text += (alpaca ? instruction_heading : "") + message.content;
    } else if (message.role == "system") {
      text += alpaca ? (i == 0 ? "" : "\n\n") + message.content : message.content + "\n\n";
    } else {
      throw Error(ErrorCode::invalid_argument,
                  "The roles are system, user and assistant, not \"" + message.role + "\"",
                  "message " + std::to_string(i + 1));
    }
  }
  builder.text(text + (alpaca && ask ? response_heading : ""));
  return builder.take();
}

}  // namespace lorikeet

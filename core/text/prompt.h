// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/text/chat_template.h"
#include "core/text/tokenizer.h"

namespace lorikeet {

class EncodedTextBuilder;
class SpecialText;

/// Ids with the ranges that are trained. Half-open token ranges, ascending, not touching.
struct EncodedText {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<std::pair<std::int64_t, std::int64_t>> trained;
};

/// The one object that turns conversations into ids, for training, the token view, chat and export alike, so
/// that they cannot differ. Either a chat template, or the Alpaca form (formats.md §5.1). Mask rule
/// (design.md §10): the prompt is encoded exactly as chat encodes it, the answer as its continuation, and
/// joined; trained = answer tokens and the end token.
class PromptFormat {
 public:
  /// `template_setting` is "auto", "alpaca", "none", a known name ("chatml", "zephyr", "llama2", "llama3",
  /// "mistral") or a path of a Jinja file; `carried` is an adapter's template text ("" = none) and wins over
  /// the model's own with auto. `system` is put before every conversation that does not begin with a system
  /// text itself, when not empty; in the Alpaca form it takes the place of the opening sentence. Throws Error
  /// when there is no such name or file, or when the template cannot render a conversation of one question
  /// and one answer.
  static PromptFormat choose(const std::string& template_setting, const std::string& carried,
                             const std::string& system, std::shared_ptr<const Tokenizer> tokenizer,
                             std::vector<TokenId> model_eos_ids);

  /// "alpaca", "none" or "chat".
  const std::string& format() const { return format_; }
  const std::string& template_text() const {
    return template_text_;
  }  ///< Jinja source, "" for alpaca and none
  const std::string& template_hash() const { return template_hash_; }  ///< SHA-256 of format and text
  const std::string& system() const { return system_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Ids that end an answer: the format's end token and every end id of the model.
  const std::vector<TokenId>& stop_ids() const { return stop_ids_; }
  /// The end token that is trained after an answer, -1 when the format has none.
  TokenId end_id() const { return end_id_; }

  /// An Alpaca record as a training text. `input` may be empty. With a chat template the user's turn is the
  /// instruction, a blank line and the input; with "none" the answer follows the instruction directly.
  EncodedText encode_instruction(const std::string& instruction, const std::string& input,
                                 const std::string& output) const;
  /// A whole conversation as a training text; every assistant turn is trained (train_all_turns) or only the
  /// last, but those that say they are not.
  EncodedText encode_conversation(const std::vector<Message>& messages, bool train_all_turns) const;
  /// A text that is trained whole, as it stands: its special tokens count, a begin or end token that is
  /// written in it is not doubled, and the tokenizer's end token closes it.
  EncodedText encode_text(const std::string& text) const;
  /// What chat sends: ids that end where the answer begins. Earlier answers are cut out at the same edges as
  /// in encode_conversation(), so the ids of a finished turn are the beginning of the next turn's prompt.
  EncodedText encode_prompt(const std::vector<Message>& messages) const;
  // They throw Error(bad_format) with the template's own words when it refuses a conversation. Text of
  // messages never becomes a special token, whatever stands in it; a begin token is there exactly once when
  // the tokenizer adds one or the template prints it.

 private:
  PromptFormat() = default;
  std::vector<Message> with_system(const std::vector<Message>& messages) const;
  EncodedText encode_chat(const std::vector<Message>& messages, bool train_all_turns) const;
  EncodedText encode_chat_prompt(const std::vector<Message>& messages) const;
  void add_chat_prompt(const std::vector<Message>& messages, EncodedTextBuilder& builder) const;
  EncodedText encode_plain(const std::vector<Message>& messages, bool train_all_turns, bool ask) const;
  void find_end_token(const std::vector<TokenId>& model_eos_ids);
  void find_turn_end();

  std::string format_;
  std::string template_text_;
  std::string template_hash_;
  std::string system_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const ChatTemplate> template_;
  std::shared_ptr<const SpecialText> special_;
  std::vector<TokenId> stop_ids_;
  TokenId end_id_ = -1;
  TokenId turn_end_id_ = -1;  ///< the end token that the template itself writes, -1 when it writes none
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "core/text/encoded_text_builder.h"
#include "core/text/prompt.h"
#include "core/text/special_text.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// An answer in a rendered text: its content with what the template puts before it.
struct Answer {
  std::size_t message = 0;
  bool follows_prompt = false;  ///< the text before it is what chat sends
  std::size_t begin = 0, end = 0;
  TokenId end_id = -1;  ///< the end token before `end`, -1 when there is none
};

/// Encodes parts of a rendered text so that special tokens are found in what the template wrote and never in
/// what people wrote.
class ChatEncoder {
 public:
  ChatEncoder(const RenderedChat& chat, const SpecialText& special, EncodedTextBuilder& builder)
      : chat_(chat), special_(special), builder_(builder) {}

  void encode(std::size_t begin, std::size_t end) const {
    const std::string_view text = chat_.text;
    for (const ContentRange& range : chat_.content) {
      const std::size_t from = std::max(begin, range.begin), to = std::min(end, range.end);
      // Cutting costs merges across the edge, so only text that looks like a special token is cut out.
      if (from >= to || !special_.touches(text, from, to)) continue;
      if (begin < from) builder_.text(text.substr(begin, from - begin), true);
      builder_.text(text.substr(from, to - from), false);
      begin = to;
    }
    if (begin < end) builder_.text(text.substr(begin, end - begin), true);
  }

 private:
  const RenderedChat& chat_;
  const SpecialText& special_;
  EncodedTextBuilder& builder_;
};

/// Finds the answers of a rendered conversation.
class AnswerFinder {
 public:
  /// `end_id` is the token that ends an answer; without it any special token does.
  AnswerFinder(const ChatTemplate& chat_template, const Tokenizer& tokenizer, const SpecialText& special,
               const std::vector<Message>& messages, std::optional<TokenId> end_id)
      : template_(chat_template),
        tokenizer_(tokenizer),
        special_(special),
        messages_(messages),
        end_id_(end_id) {}

  /// The answers that can be found in `chat`, in the order of its text.
  std::vector<Answer> find_all(const RenderedChat& chat) const {
    std::vector<Answer> answers;
    std::size_t done = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].role != "assistant") continue;
      const std::optional<Answer> answer = find(chat, i);
      if (!answer || answer->begin < done) continue;
      answers.push_back(*answer);
      done = answer->end;
    }
    return answers;
  }

 private:
  std::optional<Answer> find(const RenderedChat& chat, std::size_t index) const {
    const std::optional<std::string> prompt = prompt_before(index);
    Answer answer{.message = index, .follows_prompt = prompt && chat.text.starts_with(*prompt)};
    const std::size_t prompt_end = answer.follows_prompt ? prompt->size() : 0;
    const ContentRange* first = nullptr;
    const ContentRange* last = nullptr;
    for (const ContentRange& range : chat.content) {
      if (range.message != index || range.end <= prompt_end) continue;
      if (!first) first = &range;
      last = &range;
    }
    if (!first && !answer.follows_prompt) return std::nullopt;
    answer.begin = answer.follows_prompt ? prompt_end : first->begin;
    answer.end = last ? last->end : answer.begin;
    find_end_token(chat, answer);
    return answer;
  }

  /// What chat would have sent before message `index`; nothing when the template refuses a conversation that
  /// short.
  std::optional<std::string> prompt_before(std::size_t index) const {
    try {
      const std::vector<Message> before(messages_.begin(),
                                        messages_.begin() + static_cast<std::ptrdiff_t>(index));
      return template_.render(before, true, tokenizer_).text;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// The end token of an answer stands before the next message's text.
  void find_end_token(const RenderedChat& chat, Answer& answer) const {
    std::size_t next = chat.text.size();
    for (const ContentRange& range : chat.content) {
      if (range.message != answer.message && range.begin >= answer.end) next = std::min(next, range.begin);
    }
    auto hit = special_.find(chat.text, answer.end, next, next);
    while (hit && end_id_ && hit->id != *end_id_) hit = special_.find(chat.text, hit->end, next, next);
    if (hit) answer.end_id = hit->id;
  }

  const ChatTemplate& template_;
  const Tokenizer& tokenizer_;
  const SpecialText& special_;
  const std::vector<Message>& messages_;
  std::optional<TokenId> end_id_;
};

}  // namespace

/// The token that ends an answer in this template, found with a conversation of one question and one answer.
void PromptFormat::find_turn_end() {
  const std::vector<Message> probe = with_system({{"user", "Hello"}, {"assistant", "Hi"}});
  const RenderedChat chat = template_->render(probe, false, *tokenizer_);
  const auto answers = AnswerFinder(*template_, *tokenizer_, *special_, probe, std::nullopt).find_all(chat);
  if (!answers.empty()) turn_end_id_ = answers.back().end_id;
}

/// What chat sends before an answer, with earlier answers cut out.
void PromptFormat::add_chat_prompt(const std::vector<Message>& messages, EncodedTextBuilder& builder) const {
  const RenderedChat chat = template_->render(messages, true, *tokenizer_);
  const ChatEncoder encoder(chat, *special_, builder);
  std::size_t done = 0;
  for (const Answer& answer :
       AnswerFinder(*template_, *tokenizer_, *special_, messages, turn_end_id_).find_all(chat)) {
    encoder.encode(done, answer.begin);
    encoder.encode(answer.begin, answer.end);
    done = answer.end;
  }
  encoder.encode(done, chat.text.size());
}

EncodedText PromptFormat::encode_chat_prompt(const std::vector<Message>& messages) const {
  EncodedTextBuilder builder(*tokenizer_);
  add_chat_prompt(messages, builder);
  return builder.take();
}

/// The text is cut where answers begin and where their content ends. Behind that the end token and what
/// follows it are one piece, since tokenizers treat the text behind a special token in ways of their own.
EncodedText PromptFormat::encode_chat(const std::vector<Message>& messages, bool train_all_turns) const {
  const RenderedChat chat = template_->render(messages, false, *tokenizer_);
  const auto answers =
      AnswerFinder(*template_, *tokenizer_, *special_, messages, turn_end_id_).find_all(chat);
  EncodedTextBuilder builder(*tokenizer_);
  const ChatEncoder encoder(chat, *special_, builder);
  std::size_t done = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Answer& answer = answers[i];
    const bool last = i + 1 == answers.size();
    if (last && !answer.follows_prompt && (i == 0 || !train_all_turns)) {
      // The template writes a finished turn otherwise than it asks for one; what chat sends counts.
      builder = EncodedTextBuilder(*tokenizer_);
      const auto before = messages.begin() + static_cast<std::ptrdiff_t>(answer.message);
      add_chat_prompt(std::vector<Message>(messages.begin(), before), builder);
    } else if (i == 0) {
      encoder.encode(0, answer.begin);
    }
    const std::int64_t begin = builder.size();
    encoder.encode(answer.begin, answer.end);
    std::int64_t end = builder.size();
    done = last ? chat.text.size() : answers[i + 1].begin;
    if (answer.end_id < 0 && last && answer.message + 1 == messages.size() && end_id_ >= 0) {
      builder.token(end_id_);  // a template without end tokens: the tokenizer's stands in its place
      end = builder.size();
    } else {
      encoder.encode(answer.end, done);
      if (answer.end_id >= 0) end = builder.after(answer.end_id, end);
    }
    if ((last || train_all_turns) && messages[answer.message].trained) builder.train(begin, end);
  }
  if (answers.empty()) encoder.encode(0, chat.text.size());
  return builder.take();
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "core/text/encoded_text_builder.h"
#include "core/text/prompt.h"
#include "core/text/special_text.h"

namespace lorikeet {
namespace {

/// An answer in a rendered text: [begin, end of its content) and the end token after it, if there is one.
struct Answer {
  std::size_t message = 0;
  bool follows_prompt = false;  ///< the text before it is what chat sends
  std::size_t begin = 0, content_end = 0, end = 0;
  bool has_end_token = false;
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
  AnswerFinder(const ChatTemplate& chat_template, const Tokenizer& tokenizer, const SpecialText& special,
               const std::vector<Message>& messages)
      : template_(chat_template), tokenizer_(tokenizer), special_(special), messages_(messages) {}

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
    const std::vector<Message> before(messages_.begin(),
                                      messages_.begin() + static_cast<std::ptrdiff_t>(index));
    const std::string prompt = template_.render(before, true, tokenizer_).text;
    Answer answer{.message = index, .follows_prompt = chat.text.starts_with(prompt)};
    const ContentRange* first = nullptr;
    const ContentRange* last = nullptr;
    for (const ContentRange& range : chat.content) {
      if (range.message != index || (answer.follows_prompt && range.end <= prompt.size())) continue;
      if (!first) first = &range;
      last = &range;
    }
    if (!first && !answer.follows_prompt) return std::nullopt;
    answer.begin = answer.follows_prompt ? prompt.size() : first->begin;
    answer.content_end = last ? last->end : answer.begin;
    std::size_t next = chat.text.size();  // the end token stands before the next message's text
    for (const ContentRange& range : chat.content) {
      if (range.message != index && range.begin >= answer.content_end) next = std::min(next, range.begin);
    }
    const auto hit = special_.find(chat.text, answer.content_end, next, next);
    answer.has_end_token = hit.has_value();
    answer.end = hit ? hit->end : answer.content_end;
    return answer;
  }

  const ChatTemplate& template_;
  const Tokenizer& tokenizer_;
  const SpecialText& special_;
  const std::vector<Message>& messages_;
};

}  // namespace

/// What chat sends before an answer, with earlier answers cut out.
void PromptFormat::add_chat_prompt(const std::vector<Message>& messages, EncodedTextBuilder& builder) const {
  const RenderedChat chat = template_->render(messages, true, *tokenizer_);
  const ChatEncoder encoder(chat, *special_, builder);
  std::size_t done = 0;
  for (const Answer& answer : AnswerFinder(*template_, *tokenizer_, *special_, messages).find_all(chat)) {
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

EncodedText PromptFormat::encode_chat(const std::vector<Message>& messages, bool train_all_turns) const {
  const RenderedChat chat = template_->render(messages, false, *tokenizer_);
  const std::vector<Answer> answers =
      AnswerFinder(*template_, *tokenizer_, *special_, messages).find_all(chat);
  EncodedTextBuilder builder(*tokenizer_);
  const ChatEncoder encoder(chat, *special_, builder);
  std::size_t done = 0;
  for (const Answer& answer : answers) {
    const bool last = &answer == &answers.back();
    if (last && !answer.follows_prompt && (answers.size() == 1 || !train_all_turns)) {
      // The template writes a finished turn otherwise than it asks for one; what chat sends counts.
      builder = EncodedTextBuilder(*tokenizer_);
      const auto before = messages.begin() + static_cast<std::ptrdiff_t>(answer.message);
      add_chat_prompt(std::vector<Message>(messages.begin(), before), builder);
    } else {
      encoder.encode(done, answer.begin);
    }
    const std::int64_t begin = builder.size();
    encoder.encode(answer.begin, answer.end);
    done = answer.end;
    if (last && !answer.has_end_token && answer.message + 1 == messages.size() && end_id_ >= 0) {
      builder.token(end_id_);  // a template without end tokens: the tokenizer's stands in its place
      done = chat.text.size();
    }
    if (last || train_all_turns) builder.train_from(begin);
  }
  encoder.encode(done, chat.text.size());
  return builder.take();
}

}  // namespace lorikeet

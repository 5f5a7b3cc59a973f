// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lorikeet {

class Tokenizer;

/// One turn of a conversation.
struct Message {
  std::string role;     ///< "system", "user" or "assistant"
  std::string content;  ///< UTF-8
  bool trained = true;  ///< of an answer: whether training learns it
};

/// Bytes of a rendered text that people wrote and the template only passed on (trimmed, cut, joined or not).
struct ContentRange {
  std::size_t begin = 0, end = 0;
  std::size_t message = 0;  ///< index of the message whose content it is
};

/// Text made by a template, and where its bytes come from.
struct RenderedChat {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>>
      generation;                     ///< half-open byte ranges inside {% generation %}
  std::vector<ContentRange> content;  ///< ascending, not overlapping
};

/// A compiled chat template: the Jinja subset of formats.md §5.2, with limits on steps, output and depth,
/// since templates are files from strangers.
class ChatTemplate {
 public:
  /// Throws Error(bad_format) with line and what was not understood.
  explicit ChatTemplate(std::string source);
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  /// Throws Error(bad_format) with the template's own raise_exception text, or where and why it failed.
  RenderedChat render(const std::vector<Message>& messages, bool add_generation_prompt,
                      const Tokenizer& tokenizer) const;
  const std::string& source() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet

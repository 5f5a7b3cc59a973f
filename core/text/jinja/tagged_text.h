// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::jinja {

/// Text that remembers which of its bytes came from which message, through every cut and join. So the reader
/// of a rendered prompt knows what people wrote and what the template wrote.
class TaggedText {
 public:
  /// Bytes [begin, end) came from message `source`. Ascending, not overlapping, neighbours of one source
  /// joined.
  struct Tag {
    std::uint32_t begin, end;
    std::int32_t source;
  };

  TaggedText() = default;
  explicit TaggedText(std::string text) : text_(std::move(text)) {}
  TaggedText(std::string text, std::int32_t source);

  const std::string& text() const { return text_; }
  std::string_view view() const { return text_; }
  const std::vector<Tag>& tags() const { return tags_; }
  std::size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }

  void append(std::string_view text) { text_ += text; }
  void append(const TaggedText& other) { append(other, 0, other.size()); }
  /// Bytes [begin, end) of `other`, which must not be this text.
  void append(const TaggedText& other, std::size_t begin, std::size_t end);
  /// `text` in the place of bytes of `other` at `origin`: it gets their source.
  void append_like(std::string_view text, const TaggedText& other, std::size_t origin);
  TaggedText slice(std::size_t begin, std::size_t end) const;

  static constexpr std::int32_t no_source = -1;
  std::int32_t source_at(std::size_t position) const;
  /// The source of the first tagged byte.
  std::int32_t first_source() const { return tags_.empty() ? no_source : tags_.front().source; }

 private:
  void tag(std::size_t begin, std::size_t end, std::int32_t source);

  std::string text_;
  std::vector<Tag> tags_;
};

}  // namespace lorikeet::jinja

// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/tagged_text.h"

#include <algorithm>

namespace lorikeet::jinja {

TaggedText::TaggedText(std::string text, std::int32_t source) : text_(std::move(text)) {
  if (source != no_source) tag(0, text_.size(), source);
}

void TaggedText::tag(std::size_t begin, std::size_t end, std::int32_t source) {
  if (begin == end) return;
  if (!tags_.empty() && tags_.back().end == begin && tags_.back().source == source) {
    tags_.back().end = static_cast<std::uint32_t>(end);
  } else {
    tags_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), source});
  }
}

void TaggedText::append(const TaggedText& other, std::size_t begin, std::size_t end) {
  const std::size_t at = text_.size();
  text_.append(other.text_, begin, end - begin);
  auto first = std::lower_bound(other.tags_.begin(), other.tags_.end(), begin,
                                [](const Tag& tag, std::size_t position) { return tag.end <= position; });
  for (; first != other.tags_.end() && first->begin < end; ++first) {
    tag(at + std::max<std::size_t>(first->begin, begin) - begin,
        at + std::min<std::size_t>(first->end, end) - begin, first->source);
  }
}

void TaggedText::append_like(std::string_view text, const TaggedText& other, std::size_t origin) {
  const std::size_t at = text_.size();
  text_ += text;
  if (const std::int32_t source = other.source_at(origin); source != no_source) tag(at, text_.size(), source);
}

TaggedText TaggedText::slice(std::size_t begin, std::size_t end) const {
  TaggedText part;
  part.append(*this, begin, end);
  return part;
}

std::int32_t TaggedText::source_at(std::size_t position) const {
  const auto found = std::lower_bound(tags_.begin(), tags_.end(), position,
                                      [](const Tag& tag, std::size_t at) { return tag.end <= at; });
  return found != tags_.end() && found->begin <= position ? found->source : no_source;
}

}  // namespace lorikeet::jinja

// SPDX-License-Identifier: Apache-2.0
#include "core/text/space_mark.h"

namespace lorikeet {

std::size_t next_space_edge(std::string_view text, std::size_t from) {
  constexpr std::size_t size = kSpaceMark.size();
  for (std::size_t at = text.find(kSpaceMark, from); at != std::string_view::npos;
       at = text.find(kSpaceMark, at + size)) {
    if (at > 0 && (at < size || text.substr(at - size, size) != kSpaceMark)) return at;
  }
  return text.size();
}

std::string with_space_marks(std::string_view text, bool prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  if (prefix && !text.empty()) out += kSpaceMark;
  for (const char c : text) {
    if (c == ' ') {
      out += kSpaceMark;
    } else {
      out += c;
    }
  }
  return out;
}

std::string with_spaces(std::string_view piece) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = piece.find(kSpaceMark); at != std::string_view::npos;
       at = piece.find(kSpaceMark, done)) {
    out.append(piece, done, at - done).append(" ");
    done = at + kSpaceMark.size();
  }
  return out.append(piece, done);
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/text/added_tokens.h"

#include <algorithm>

#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const std::string& where)
    : tokens_(std::move(tokens)), ends_(1, -1) {
  for (std::size_t index = 0; index < tokens_.size(); ++index) {
    const std::string& content = tokens_[index].content;
    if (content.empty() || content.size() > max_bytes) {
      throw Error(ErrorCode::bad_format,
                  "An added token is empty or longer than " + std::to_string(max_bytes) + " bytes", where);
    }
    begins_[byte_at(content, 0)] = true;
    std::uint32_t node = 0;
    for (std::size_t at = 0; at < content.size(); ++at) {
      const auto next = static_cast<std::uint32_t>(ends_.size());
      const auto [edge, fresh] = edges_.emplace(std::uint64_t{node} << 8 | byte_at(content, at), next);
      if (fresh) ends_.push_back(-1);
      node = edge->second;
    }
    ends_[node] = static_cast<std::int32_t>(index);
  }
}

std::int32_t AddedTokens::longest_at(std::string_view text, std::size_t at) const {
  std::int32_t best = -1;
  std::uint32_t node = 0;
  for (; at < text.size(); ++at) {
    const auto edge = edges_.find(std::uint64_t{node} << 8 | byte_at(text, at));
    if (edge == edges_.end()) break;
    node = edge->second;
    if (ends_[node] >= 0) best = ends_[node];
  }
  return best;
}

void AddedTokens::split(std::string_view text, bool parse_special, std::vector<TextPart>& parts) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t index = begins_[byte_at(text, at)] ? longest_at(text, at) : -1;
    if (index < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    std::size_t begin = at;
    std::size_t end = at + token.content.size();
    at = end;
    if (token.special && !parse_special) continue;
    if (token.single_word && ((begin > 0 && is_word(utf8_before(text, begin).code)) ||
                              (end < text.size() && is_word(utf8_at(text, end).code)))) {
      continue;
    }
    if (end <= done) continue;  // its white space was swallowed by the token before
    while (token.lstrip && begin > done && is_space(utf8_before(text, begin).code))
      begin -= utf8_before(text, begin).bytes;
    while (token.rstrip && end < text.size() && is_space(utf8_at(text, end).code))
      end += utf8_at(text, end).bytes;
    begin = std::max(begin, done);
    if (begin > done) parts.push_back({text.substr(done, begin - done), -1});
    parts.push_back({text.substr(begin, end - begin), token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({text.substr(done), -1});
}

}  // namespace lorikeet

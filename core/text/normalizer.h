// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

/// A pattern of tokenizer.json: {"String": "..."} or {"Regex": "..."}. Calls back with each match, left to
/// right.
using MatchFinder =
    std::function<void(std::string_view text, const std::function<void(std::size_t, std::size_t)>& found)>;
MatchFinder make_pattern(const nlohmann::json& pattern, const std::string& where);

/// The `normalizer` of tokenizer.json (formats.md §6.3): valid UTF-8 in, valid UTF-8 out.
class Normalizer {
 public:
  /// `json` is an object with `type`, or null for none. Throws Error(unsupported) naming a type not built.
  static Normalizer from_json(const nlohmann::json& json, const std::string& where);

  /// `continuation`: Prepend is left out.
  std::string apply(std::string_view text, bool continuation) const;
  bool empty() const { return steps_.empty(); }

 private:
  using Step = std::function<void(std::string& text, bool continuation)>;
  void add(const nlohmann::json& json, const std::string& where, int depth);
  std::vector<Step> steps_;
};

}  // namespace lorikeet

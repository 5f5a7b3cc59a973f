// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/normalizer.h"

namespace lorikeet {

/// A part of a text that tokens do not cross.
struct Piece {
  std::string_view text;
  bool at_start;  ///< begins where the whole text begins
};

/// Pieces on their way through the pre-tokenizer, with the texts that had to be made for them.
struct PieceList {
  std::vector<Piece> pieces;
  std::deque<std::string> made;
  bool continuation = false;  ///< the text goes on from ids already there: no prefix before its first piece
};

/// The `pre_tokenizer` of tokenizer.json (formats.md §6.3).
class PreTokenizer {
 public:
  /// `json` is an object with `type`, or null for none. Throws Error(unsupported) naming a type not built.
  static PreTokenizer from_json(const nlohmann::json& json, const std::string& where);
  /// Cuts at each pattern in turn, matches being pieces of their own; the way GGUF files name it.
  static PreTokenizer from_patterns(const std::vector<std::string>& patterns, const std::string& where);

  void apply(PieceList& list) const;
  /// The pieces are then taken as bytes, each written as one character (formats.md §6.2); the last step.
  bool byte_level() const { return byte_level_; }

 private:
  using Step = std::function<void(PieceList&)>;
  void add(const nlohmann::json& json, const std::string& where, int depth);
  void add_byte_level(bool add_prefix_space, bool use_regex, const std::string& where);
  std::vector<Step> steps_;
  bool byte_level_ = false;
};

}  // namespace lorikeet

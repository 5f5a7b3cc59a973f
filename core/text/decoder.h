// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lorikeet {

/// The `decoder` of tokenizer.json (formats.md §6.3): written pieces to text.
class Decoder {
 public:
  /// Null: pieces joined by spaces. Throws Error(unsupported) naming a type not built.
  static Decoder from_json(const nlohmann::json& json, const std::string& where);

  std::string text(std::vector<std::string> pieces) const;
  /// What one piece adds in the middle of a text, in bytes that need not be whole characters.
  std::string bytes(const std::string& piece) const;

 private:
  using Step = std::function<void(std::vector<std::string>&)>;
  using PieceStep = std::function<std::string(const std::string&)>;
  void add(const nlohmann::json& json, const std::string& where, int depth);
  std::vector<Step> steps_;
  std::vector<PieceStep> piece_steps_;  ///< the same without what looks at a text's edges
};

}  // namespace lorikeet

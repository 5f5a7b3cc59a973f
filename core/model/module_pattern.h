// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace lorikeet {

/// A regular expression of an adapter_config.json (Python's syntax, run by PCRE2) over module paths. The file
/// may come from a stranger, so length, steps and memory of a match are limited.
class ModulePattern {
 public:
  /// Throws Error(bad_format) with `where` when it cannot be compiled.
  ModulePattern(const std::string& pattern, const std::string& where);
  ModulePattern(ModulePattern&&) noexcept;
  ModulePattern& operator=(ModulePattern&&) noexcept;
  ~ModulePattern();

  /// Whether the whole path matches. Throws Error(bad_format) when that takes more steps than a sane pattern
  /// does.
  bool matches(const std::string& path) const;
  /// Matches from the start of the path and gives the first group; nothing when there is no match.
  std::optional<std::string> first_group(const std::string& path) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lorikeet

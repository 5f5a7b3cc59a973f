// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace lorikeet {

/// A pattern of a tokenizer file in Oniguruma's syntax, run by PCRE2 with limits, since the file may be
/// hostile. Differences of the two are rewritten (\s, \w, \h) or refused by name (class intersections,
/// options). Thread-safe. PCRE2 10.42 knows Unicode 14: letters added later count as unassigned.
class Regex {
 public:
  /// Throws Error(bad_format | unsupported) with `where` when the pattern cannot be compiled.
  Regex(std::string_view pattern, const std::string& where);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  /// Calls `found(begin, end)` for each match in valid UTF-8, left to right, not overlapping; empty ones are
  /// left out. Throws Error(bad_format) when the pattern needs more steps than a sane one does.
  void for_each(std::string_view text, const std::function<void(std::size_t, std::size_t)>& found) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lorikeet

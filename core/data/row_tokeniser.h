// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/data/dataset.h"

namespace lorikeet {

/// Tokenises one row after the other into `data`, as tokenise() does; whoever streams takes the rows out of
/// `data` after each.
class RowTokeniser {
 public:
  /// All three must outlive this object. Throws Error(invalid_argument) for a max_length below 2.
  RowTokeniser(const PromptFormat& format, const TokeniseOptions& options, TokenisedData& data);

  void add(const InstructionRow& source);
  /// Behind the last row: what a person should know of all.
  void finish();

 private:
  void refuse(const InstructionRow& source, std::string reason);
  bool keep(TokenRow row);

  const PromptFormat& format_;
  const TokeniseOptions& options_;
  TokenisedData& data_;
  std::int64_t kept_ = 0;
};

}  // namespace lorikeet

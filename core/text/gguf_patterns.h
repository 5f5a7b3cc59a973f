// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

/// What a value of tokenizer.ggml.pre stands for.
struct GgufPre {
  std::vector<std::string> patterns;  ///< applied in turn, matches are pieces of their own
  bool ignore_merges = false;         ///< a piece that is in the vocabulary is one token
  bool add_bos = false;               ///< unless the file says otherwise
  bool nfc = false;                   ///< the model was trained on NFC text
};

/// Nothing for a name that is not known; "" is "default".
std::optional<GgufPre> find_gguf_pre(std::string_view name);

}  // namespace lorikeet

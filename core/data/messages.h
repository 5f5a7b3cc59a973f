// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/data/json_scan.h"
#include "core/text/chat_template.h"

namespace lorikeet {

/// What a conversation held besides texts; a report tells it.
struct MessageNotes {
  bool from_value = false;  ///< ShareGPT's keys from and value
  bool tool_calls = false;  ///< calls of tools became text
};

/// Takes a list of turns apart: objects with role and content (OpenAI) or from and value (ShareGPT); a
/// content may be null beside tool calls, or a list of text parts; an answer of weight 0 is not trained. Role
/// words in use are mapped to system, user, assistant and tool. The list may stand in a text, as tables keep
/// it, or be an object of a list of roles and one of contents. Returns why it cannot be used (naming the
/// turn), or "".
std::string parse_messages(const JsonSlice& list, std::vector<Message>& messages, MessageNotes& notes);

/// The history of earlier turns in LLaMA-Factory's Alpaca rows: a list of [question, answer] pairs.
std::string parse_history(const JsonSlice& list, std::vector<Message>& messages);

/// "system", "user", "assistant" or "tool" for a role word in whatever letter case; "" when it is unknown.
std::string_view standard_role(std::string_view word);

/// The JSON text without the white space between its values.
std::string compact_json(std::string_view text);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/engine/command.h"
#include "core/infer/chat_engine.h"

namespace lorikeet {

/// What the command line said before the first request came.
struct ChatDefaults {
  std::string model;  ///< loaded at once when not empty
  std::vector<ChatAdapter> adapters;
  Settings settings;
  Sampling sampling;
  std::int64_t context = 0;
};

/// `lorikeet chat --json`: requests as JSON lines on standard input, answers as JSON lines on standard output
/// (design.md §10). load, adapters, message, stop; an error answers the request it belongs to and the process
/// lives on. Ends with its standard input.
int serve_chat(const ChatDefaults& defaults, const CommandContext& context);

}  // namespace lorikeet

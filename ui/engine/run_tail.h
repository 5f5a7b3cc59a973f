// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "core/train/run_folder.h"

namespace lorikeet::ui {

/// Follows the events.jsonl of one run by its complete lines. Plain object: use it from one thread at a time.
class RunTail {
 public:
  explicit RunTail(std::string runPath) : m_path(std::move(runPath)) {}

  /// Reads what was appended since the last call; true when there was something. A file that became shorter
  /// than what was read is read again from its beginning.
  bool poll();
  const RunHistory& history() const { return m_reader.history(); }
  const std::string& runPath() const { return m_path; }

 private:
  std::string m_path;
  std::uint64_t m_offset = 0;
  EventReader m_reader;
};

}  // namespace lorikeet::ui

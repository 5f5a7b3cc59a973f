// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_tail.h"

#include <QFile>

namespace lorikeet::ui {

bool RunTail::poll() {
  QFile file(QString::fromStdString(m_path + "/events.jsonl"));
  if (!file.open(QIODevice::ReadOnly)) return false;
  bool changed = false;
  if (static_cast<std::uint64_t>(file.size()) < m_offset) {
    m_reader = EventReader();
    m_offset = 0;
    changed = true;
  }
  if (!file.seek(static_cast<qint64>(m_offset))) return changed;
  // Only up to the last line end: a torn line may be cut away and written anew.
  QByteArray bytes = file.readAll();
  bytes.truncate(bytes.lastIndexOf('\n') + 1);
  if (bytes.isEmpty()) return changed;
  m_reader.feed(std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
  m_offset += static_cast<std::uint64_t>(bytes.size());
  return true;
}

}  // namespace lorikeet::ui

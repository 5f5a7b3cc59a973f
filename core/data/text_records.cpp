// SPDX-License-Identifier: Apache-2.0
#include "core/data/text_records.h"

#include <algorithm>

namespace lorikeet {
namespace {

struct Line {
  std::size_t text_end, next;  ///< without and with its line end
};

/// The line that begins at `start`; nothing when the text ends before the line does.
bool find_line(std::string_view text, std::size_t start, bool final, Line& line) {
  line.text_end = std::min(text.find_first_of("\r\n", start), text.size());
  line.next = std::min(line.text_end + 1, text.size());
  if (line.text_end == text.size()) return final;
  if (text[line.text_end] == '\r') {
    if (line.next == text.size()) return final;
    if (text[line.next] == '\n') ++line.next;
  }
  return true;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\f\v") == std::string_view::npos;
}

}  // namespace

/// Moves to the first line that is not blank; false at the end of the file.
bool TextRecords::find_document() {
  for (;;) {
    const std::string_view view = source_.view();
    std::size_t start = 0;
    Line line{};
    while (start < view.size() && find_line(view, start, source_.at_end(), line)) {
      if (!is_blank(view.substr(start, line.text_end - start))) {
        source_.consume(start);
        return true;
      }
      start = line.next;
    }
    source_.consume(start);
    if (source_.view().size() > max_record_bytes) return true;
    if (!source_.more() && source_.view().empty()) return false;
  }
}

bool TextRecords::next(DataRecord& record) {
  source_.consume(pending_);
  pending_ = 0;
  if (!find_document()) return false;
  record.number = ++records_;
  record.offset = source_.offset();
  record.kind = JsonKind::object;
  record.members.clear();
  record.problem.clear();
  std::size_t start = 0;
  lines_.clear();
  for (;;) {
    const std::string_view view = source_.view();
    Line line{};
    if (!find_line(view, start, source_.at_end(), line)) {
      if (view.size() > max_record_bytes) break;
      source_.more();
      continue;
    }
    const std::string_view text = view.substr(start, line.text_end - start);
    if (is_blank(text)) break;
    if (!lines_.empty()) lines_ += '\n';
    lines_ += text;
    start = line.next;
    if (start > max_record_bytes || (start == view.size() && source_.at_end())) break;
    if (start == view.size()) source_.more();
  }
  pending_ = start;
  record.text = source_.view().substr(0, pending_);
  if (source_.view().size() > max_record_bytes && (start == 0 || start > max_record_bytes)) {
    record.problem = "The row is larger than 64 MB";
    record.text = {};
    skip_document();
    return true;
  }
  record.members.push_back({"text", false, {JsonKind::string, lines_, false, lines_.empty()}});
  return true;
}

/// Goes on to the blank line that ends a document which is too long to be held.
void TextRecords::skip_document() {
  pending_ = 0;
  bool blank = false;
  do {
    const std::string_view view = source_.view();
    for (std::size_t i = 0; i < view.size(); ++i) {
      const char c = view[i];
      if (c == '\n' && blank) {
        source_.consume(i);
        return;
      }
      blank = c == '\n' || (blank && (c == ' ' || c == '\t' || c == '\r'));
    }
    source_.consume(view.size());
  } while (source_.more());
}

}  // namespace lorikeet

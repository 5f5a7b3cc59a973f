// SPDX-License-Identifier: Apache-2.0
#include "core/data/json_records.h"

#include <algorithm>
#include <array>

#include "core/base/utf8.h"

namespace lorikeet {
namespace {

/// Keys under which files keep their list of rows.
constexpr std::array<std::string_view, 7> wrapper_keys = {"data",    "train", "rows",   "examples",
                                                          "records", "items", "samples"};
/// Keys that show that an object is a row itself, whatever lists it holds besides.
constexpr std::array<std::string_view, 4> row_keys = {"instruction", "output", "prompt", "response"};
/// White space and a key between two records are not longer than this when a next record is looked for.
constexpr std::size_t longest_gap = std::size_t{1} << 16;
constexpr std::size_t learnt_columns = 64, longest_learnt_column = 200;

std::string describe_byte(int byte) {
  constexpr char digits[] = "0123456789ABCDEF";
  if (byte > 0x20 && byte < 0x7F) return std::string("'") + static_cast<char>(byte) + "'";
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

void JsonRecords::warn(const std::string& text) {
  if (std::find(warnings_.begin(), warnings_.end(), text) == warnings_.end()) warnings_.push_back(text);
}

bool JsonRecords::skip_space() {
  for (;;) {
    const std::string_view view = source_.view();
    std::size_t i = 0;
    for (; i < view.size(); ++i) {
      const char c = view[i];
      if (c == '\n' || c == '\r') {
        indent_ = 0;
      } else if (c == ' ' || c == '\t') {
        ++indent_;
      } else {
        source_.consume(i);
        return true;
      }
    }
    source_.consume(i);
    if (!source_.more()) return false;
  }
}

/// Moves to the first byte of the next record.
bool JsonRecords::find_record() {
  for (;;) {
    if (!skip_space()) {
      if (place_ != Place::top) {
        warn("The file breaks off after " + std::to_string(records_) + " rows (byte " +
             std::to_string(source_.offset()) + "): its list is not closed");
      }
      return false;
    }
    const char c = source_.view().front();
    if (c == ',') {
      if (place_ == Place::top)
        warn("Commas between the rows were ignored");
      else if (comma_seen_)
        warn("A comma too many between the rows was ignored");
      comma_seen_ = true;
      source_.consume(1);
    } else if (place_ != Place::top && c == ']') {
      leave_list();
    } else if (place_ == Place::top && c == '[' && (records_ == 0 || saw_list_)) {
      place_ = Place::list;
      saw_list_ = comma_seen_ = true;
      source_.consume(1);
    } else if (place_ == Place::top && c == '{' && wrapper_possible_ && enter_wrapper()) {
      continue;
    } else if (place_ == Place::top && saw_list_) {
      warn("What stands after the end of the list (byte " + std::to_string(source_.offset()) +
           ") was left out");
      return false;
    } else {
      if (place_ != Place::top && !comma_seen_) warn("A missing comma between two rows was put in");
      return true;
    }
  }
}

/// At a top-level object: if one of its members is a list of objects under a usual name, goes into that list.
bool JsonRecords::enter_wrapper() {
  std::size_t list_at = 0;
  for (;;) {
    JsonScanner scanner(source_.view(), source_.at_end());
    scanner.advance();
    scanner.skip_space();
    ScanResult result = ScanResult::complete;
    while (result == ScanResult::complete && list_at == 0) {
      std::string_view key;
      bool escaped = false;
      result = scanner.key(key, escaped);
      if (result != ScanResult::complete) break;
      if (std::find(row_keys.begin(), row_keys.end(), key) != row_keys.end()) break;
      if (scanner.peek() == '[' &&
          std::find(wrapper_keys.begin(), wrapper_keys.end(), key) != wrapper_keys.end()) {
        JsonScanner inside(source_.view(), false, scanner.position() + 1);
        inside.skip_space();
        if (inside.peek() < 0) result = ScanResult::incomplete;
        if (inside.peek() == '{' || inside.peek() == ']') list_at = scanner.position() + 1;
        if (list_at > 0 || result != ScanResult::complete) break;
      }
      JsonSlice value;
      result = scanner.value(value);
      scanner.skip_space();
      if (result == ScanResult::complete && scanner.peek() < 0) result = ScanResult::incomplete;
      if (result == ScanResult::complete && scanner.peek() != ',') break;
      scanner.advance();
      scanner.skip_space();
    }
    const bool undecided = list_at == 0 && result == ScanResult::incomplete;
    if (!undecided || source_.view().size() > max_record_bytes || !source_.more()) break;
  }
  wrapper_possible_ = list_at > 0;
  if (list_at == 0) return false;
  source_.consume(list_at);
  place_ = Place::wrapped_list;
  saw_list_ = comma_seen_ = true;
  return true;
}

void JsonRecords::leave_list() {
  source_.consume(1);
  const bool wrapped = place_ == Place::wrapped_list;
  place_ = Place::top;
  if (wrapped) skip_rest_of_object();
}

void JsonRecords::skip_rest_of_object() {
  int depth = 1;
  bool in_string = false, after_backslash = false, more_members = false;
  do {
    const std::string_view view = source_.view();
    for (std::size_t i = 0; i < view.size(); ++i) {
      const char c = view[i];
      if (in_string) {
        if (after_backslash)
          after_backslash = false;
        else if (c == '\\')
          after_backslash = true;
        else if (c == '"')
          in_string = false;
        continue;
      }
      if (c == '"') in_string = more_members = true;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) {
        source_.consume(i + 1);
        if (more_members)
          warn("Only the first list of rows was read; the other members of its object were left out");
        return;
      }
    }
    source_.consume(view.size());
  } while (source_.more());
  warn("The file breaks off after its list of rows");
}

bool JsonRecords::next(DataRecord& record) {
  source_.consume(pending_);
  indent_ += pending_;
  pending_ = 0;
  if (!find_record()) return false;
  record.number = ++records_;
  record.offset = source_.offset();
  record.members.clear();
  record.problem.clear();
  comma_seen_ = false;
  parse(record);
  if (pending_ > 0 && columns_.size() < learnt_columns) {
    for (const JsonMember& member : record.members) {
      if (member.key.size() <= longest_learnt_column) columns_.emplace(member.key);
    }
  }
  return true;
}

void JsonRecords::parse(DataRecord& record) {
  for (;;) {
    const std::string_view view = source_.view();
    JsonScanner scanner(view, source_.at_end());
    ScanResult result = ScanResult::complete;
    if (view.front() == '{') {
      record.kind = JsonKind::object;
      result = scanner.object(record.members);
    } else {
      JsonSlice slice;
      result = scanner.value(slice);
      record.kind = slice.kind;
    }
    if (result == ScanResult::complete && scanner.position() <= max_record_bytes) {
      pending_ = scanner.position();
      record.text = view.substr(0, pending_);
      return;
    }
    if (result == ScanResult::broken) {
      const std::string at = " at byte " + std::to_string(record.offset + scanner.position());
      const int byte = scanner.peek();
      const bool not_text = byte >= 0x80 && valid_utf8_prefix(view.substr(scanner.position(), 4)) == 0;
      return refuse(record, "Not valid JSON" + at + ": " + scanner.problem() +
                                (byte < 0 ? "" : ", found " + describe_byte(byte)) +
                                (not_text ? " (not valid UTF-8)" : ""));
    }
    if (view.size() > max_record_bytes) return refuse(record, "The row is larger than 64 MB");
    if (!source_.more()) {
      return refuse(record, "The file breaks off inside this row, which begins at byte " +
                                std::to_string(record.offset));
    }
  }
}

void JsonRecords::refuse(DataRecord& record, const std::string& problem) {
  record.problem = problem;
  record.members.clear();
  record.text = {};
  find_next();
}

/// Whether a record seems to begin at `position`: a brace and the name of a known column.
bool JsonRecords::starts_record(std::size_t position, bool& runs_out) const {
  const std::string_view view = source_.view().substr(0, position + longest_gap);
  JsonScanner scanner(view, false, position);
  scanner.skip_space();
  std::string_view key;
  bool escaped = false;
  ScanResult result = ScanResult::incomplete;
  if (scanner.peek() == '{') {
    scanner.advance();
    scanner.skip_space();
    result = scanner.key(key, escaped);
  } else if (scanner.peek() >= 0) {
    return false;
  }
  runs_out = result == ScanResult::incomplete && view.size() < position + longest_gap;
  return result == ScanResult::complete && (columns_.empty() || columns_.contains(key));
}

/// Gives up the record at the front: consumes up to where the next record seems to begin.
void JsonRecords::find_next() {
  const bool list = place_ != Place::top;
  const bool object = source_.view().front() == '{';
  const std::size_t indent = indent_;
  source_.consume(1);
  for (;;) {
    const std::string_view view = source_.view();
    std::size_t i = 0;
    bool runs_out = false;
    for (; i < view.size(); ++i) {
      i = std::min(list ? view.find(',', i) : view.find_first_of("\r\n", i), view.size());
      if (i == view.size()) break;
      const std::size_t at = i + 1;
      if (list) {
        if (starts_record(at, runs_out)) {
          source_.consume(i);
          return;
        }
      } else if (!object) {
        break;
      } else {
        const std::size_t text = std::min(view.find_first_not_of(" \t", at), view.size());
        runs_out = text == view.size();
        if (!runs_out && text - at == indent && view[text] == '{') break;
      }
      if (runs_out && !source_.at_end()) break;
    }
    source_.consume(i);
    if (i < view.size() && !(runs_out && !source_.at_end())) {
      indent_ = 0;
      return;
    }
    if (!source_.more()) {
      source_.consume(source_.view().size());
      return;
    }
  }
}

}  // namespace lorikeet

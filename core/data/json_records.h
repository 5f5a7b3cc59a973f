// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/json_scan.h"
#include "core/data/text_source.h"

namespace lorikeet {

/// One record of a file, good or bad.
struct JsonRecord {
  std::int64_t number = 0;           ///< 1-based
  std::uint64_t offset = 0;          ///< of its first byte in the file
  std::string problem;               ///< why it is no JSON value, "" when it is one
  JsonKind kind = JsonKind::object;  ///< of the value
  std::vector<JsonMember> members;   ///< of an object
  std::string_view text;  ///< the whole record as written; like `members` valid until the next record
};

/// Hands out the records of a JSON array, of an array inside an object ({"data": [...]}), of JSONL or of
/// objects written one after the other, whichever the file turns out to be. A broken record is reported and
/// the next one is looked for: in a list at the next `, {"known column":`, elsewhere at the next line that
/// begins like this one.
class JsonRecords {
 public:
  static constexpr std::size_t max_record_bytes = std::size_t{64} << 20;

  explicit JsonRecords(TextSource& source) : source_(source) {}

  /// False at the end of the file. Throws what TextSource::more() throws.
  bool next(JsonRecord& record);

  /// Whether the records stand in a list; otherwise they follow each other (JSONL, or a single object).
  bool in_list() const { return saw_list_; }
  /// Things a person should know, each once.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  enum class Place : std::uint8_t { top, list, wrapped_list };

  bool find_record();
  bool enter_wrapper();
  void leave_list();
  void skip_rest_of_object();
  void parse(JsonRecord& record);
  void refuse(JsonRecord& record, const std::string& problem);
  void find_next();
  bool starts_record(std::size_t position, bool& runs_out) const;
  bool skip_space();
  void warn(const std::string& text);

  TextSource& source_;
  Place place_ = Place::top;
  std::int64_t records_ = 0;
  std::size_t pending_ = 0;  ///< bytes of the record last handed out, to be consumed
  bool comma_seen_ = true;   ///< nothing is due before the next record
  bool saw_list_ = false;
  bool wrapper_possible_ = true;
  std::size_t indent_ = 0;                      ///< white space before the present record on its line
  std::set<std::string, std::less<>> columns_;  ///< of the first records; what a next record may begin with
  std::vector<std::string> warnings_;
};

}  // namespace lorikeet

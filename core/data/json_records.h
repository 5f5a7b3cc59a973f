// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/record.h"

namespace lorikeet {

/// Hands out the records of a JSON array, of an array inside an object ({"data": [...]}), of JSONL or of
/// objects written one after the other, whichever the file turns out to be. A broken record is reported and
/// the next one is looked for: in a list at the next `, {"known column":`, elsewhere at the next line that
/// begins like this one.
class JsonRecords final : public RecordSource {
 public:
  explicit JsonRecords(TextSource& source) : source_(source) {}

  bool next(DataRecord& record) override;
  /// "JSON" when the records stand in a list; otherwise they follow each other ("JSONL", or a single object).
  std::string format() const override { return saw_list_ ? "JSON" : "JSONL"; }
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  enum class Place : std::uint8_t { top, list, wrapped_list };

  bool find_record();
  bool enter_wrapper();
  void leave_list();
  void skip_rest_of_object();
  void parse(DataRecord& record);
  void refuse(DataRecord& record, const std::string& problem);
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

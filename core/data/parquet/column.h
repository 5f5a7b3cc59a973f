// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/parquet/bits.h"
#include "core/data/parquet/metadata.h"

namespace lorikeet::parquet {

/// Walks over the entries of one column of one row group, page by page; holds a page and the dictionary. An
/// entry has its levels and, where the definition level is the column's, a value. Errors have no place but
/// read on from "The column ...".
class Column {
 public:
  Column(const Node& node, const Chunk& chunk, std::string_view file);

  /// Whether there is an entry; its levels are valid then.
  bool at_entry();
  int definition() const { return definition_; }
  int repetition() const { return repetition_; }
  /// The bytes of the present entry's value as PLAIN has them, without the length of a text; a boolean is one
  /// byte. Valid until at_entry() goes to another page.
  std::string_view value();
  /// Goes on to the next entry.
  void next();

 private:
  struct PageHeader;
  PageHeader read_page_header();
  void load_page();
  void load_data_page(const PageHeader& header, std::string_view packed);
  void load_dictionary(const PageHeader& header, std::string_view packed);
  void begin_values(std::int64_t encoding, std::string_view values);
  void read_levels();
  std::string_view plain_value(std::string_view& bytes) const;

  const Node& node_;
  std::int64_t codec_;
  std::string_view bytes_;        ///< of the chunk, from the next page on
  std::int64_t chunk_values_;     ///< entries in pages not yet loaded
  std::int64_t page_values_ = 0;  ///< entries left in this page, the present one included
  std::string page_, dictionary_page_;
  std::vector<std::string_view> dictionary_;
  HybridDecoder repetitions_, definitions_, indexes_;
  bool by_dictionary_ = false, by_runs_ = false;
  std::string_view plain_;       ///< values not yet read
  std::uint64_t plain_bit_ = 0;  ///< of the next plain boolean
  bool levels_read_ = false, value_taken_ = false;
  std::string_view value_;
  char boolean_ = 0;
  int definition_ = 0, repetition_ = 0;
};

}  // namespace lorikeet::parquet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/data/record.h"

namespace lorikeet {

/// Documents of a plain text file, which end at a blank line (as with sample_by="paragraph" of Hugging Face
/// datasets; its default, a document a line, tears texts apart). CRLF and lone CR become LF. Each document is
/// a record with the one column "text".
class TextRecords final : public RecordSource {
 public:
  explicit TextRecords(TextSource& source) : source_(source) {}

  bool next(DataRecord& record) override;
  std::string format() const override { return "Plain text"; }
  std::vector<std::string> warnings() const override {
    return {"Read as plain text: a document ends at a blank line"};
  }

 private:
  bool find_document();
  void skip_document();

  TextSource& source_;
  std::size_t pending_ = 0;
  std::int64_t records_ = 0;
  std::string lines_;  ///< the document with its line ends made alike
};

}  // namespace lorikeet

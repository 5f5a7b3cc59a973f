// SPDX-License-Identifier: Apache-2.0
#include "core/data/record_file.h"

#include <algorithm>

#include "core/data/parquet/parquet_records.h"

namespace lorikeet {

RecordFile::RecordFile(const std::string& path, const ColumnChoice& choice, std::stop_token stop) {
  bytes_ = std::make_unique<FileBytes>(path, stop);
  if (parquet::is_parquet(bytes_->peek(4))) {
    const bool chosen =
        std::any_of(choice.begin(), choice.end(), [](const std::string& name) { return !name.empty(); });
    records_ = std::make_unique<parquet::ParquetRecords>(path, stop, [&](const std::string& name) {
      return chosen ? std::find(choice.begin(), choice.end(), name) != choice.end() : is_known_column(name);
    });
    return;
  }
  bytes_.reset();
  text_ = std::make_unique<TextSource>(path, stop);
  is_empty_ = text_->view().empty();
  records_ = open_text_records(*text_, path);
}

RecordFile::~RecordFile() = default;

std::vector<std::string> RecordFile::warnings() const {
  std::vector<std::string> all = records_->warnings();
  if (!text_) return all;
  for (std::string& warning : text_->warnings()) all.push_back(std::move(warning));
  return all;
}

std::uint64_t RecordFile::finish(std::string& sha256) {
  if (text_) return text_->finish(sha256);
  sha256 = bytes_->finish();
  return bytes_->bytes_read();
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/data/dataset.h"
#include "kernels/base/error.h"

namespace lorikeet::test {

/// Reads contents as a data set of any name, and holds every report to its promise: read = used + listed.
class DataFolder {
 public:
  std::string write(const std::string& content, const std::string& name) const {
    const std::string path = folder_.path().toStdString() + "/" + name;
    std::remove(path.c_str());  // cutting an old file to length makes some file systems wait for the disk
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  InstructionData read(const std::string& content, const std::string& name,
                       const ReadOptions& options = {}) const {
    InstructionData data = read_instruction_data(write(content, name), {}, {}, options);
    const DataReport& report = data.report;
    if (report.read != report.used + report.refused_rows || report.used != std::ssize(data.rows))
      throw std::logic_error("rows are missing from the report");
    if (std::ssize(report.refused) != std::min<std::int64_t>(report.refused_rows, max_listed_rows))
      throw std::logic_error("refused rows are not listed");
    return data;
  }
  std::string error_of(const std::string& content, const std::string& name,
                       const ReadOptions& options = {}) const {
    try {
      read(content, name, options);
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "no error";
  }

 private:
  QTemporaryDir folder_;
};

/// "number:instruction|input|output", "number:role=content;role=content" or "number:text" of every row, one a
/// line.
inline std::string rows_text(const InstructionData& data) {
  std::string text;
  for (const InstructionRow& row : data.rows) {
    text += std::to_string(row.number) + ":";
    if (row.kind == RowKind::instruction) text += row.instruction + "|" + row.input + "|" + row.output;
    if (row.kind == RowKind::text) text += row.output;
    for (const Message& message : row.messages)
      text += (&message == &row.messages.front() ? "" : ";") + message.role + "=" + message.content;
    text += "\n";
  }
  return text;
}

inline std::string refused_text(const InstructionData& data) {
  std::string text;
  for (const RefusedRow& row : data.report.refused)
    text += std::to_string(row.number) + ":" + row.reason + "\n";
  return text;
}

inline bool has_warning(const InstructionData& data, const std::string& part) {
  return std::any_of(data.report.warnings.begin(), data.report.warnings.end(),
                     [&](const std::string& warning) { return warning.find(part) != std::string::npos; });
}

}  // namespace lorikeet::test

// SPDX-License-Identifier: Apache-2.0
// Assembling rows from columns: Melnik et al., "Dremel", VLDB 2010, and parquet-format's LogicalTypes.md
// (lists).
#include "core/data/parquet/parquet_records.h"

#include <charconv>
#include <cstring>
#include <type_traits>

#include "core/base/utf8.h"
#include "core/data/byte_source.h"
#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

/// What a row takes in memory beside its texts, so that rows which take no bytes in the file are bounded too.
constexpr std::uint64_t bytes_of_a_row = 64;
/// Rows handed out of a file that has no column of use: enough for a report.
constexpr std::int64_t sample_rows = 1000;

template <class Number>
void append_number(std::string_view bytes, std::string& out) {
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof number);
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
  // A whole number keeps its point, as in Python's JSON.
  if (std::is_floating_point_v<Number> &&
      std::string_view(digits, end).find_first_not_of("-0123456789") == std::string_view::npos)
    out += ".0";
}

void append_json_string(std::string_view text, std::string& out) {
  constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_text(const Node& node) {
  return node.type == Physical::bytes || node.type == Physical::fixed_bytes;
}

}  // namespace

ParquetRecords::ParquetRecords(const std::string& path, std::stop_token stop,
                               const std::function<bool(const std::string&)>& wanted)
    : path_(path), stop_(std::move(stop)), file_(path), metadata_(read_metadata(file_.text(), path)) {
  for (const Node& column : metadata_.root.children) {
    wanted_.push_back(wanted(column.name));
    any_wanted_ = any_wanted_ || wanted_.back();
  }
  texts_.resize(metadata_.root.children.size());
}

bool ParquetRecords::begin_group() {
  while (rows_left_ == 0) {
    finish_group();
    if (group_ == metadata_.groups.size()) return false;
    const RowGroup& group = metadata_.groups[group_++];
    rows_left_ = group.rows;
    columns_.clear();
    columns_.resize(group.chunks.size());
    std::size_t index = 0;
    for (const Node& top : metadata_.root.children) {
      if (!wanted_[index++]) continue;
      const std::function<void(const Node&)> open = [&](const Node& node) {
        if (node.leaf >= 0) {
          const auto leaf = static_cast<std::size_t>(node.leaf);
          columns_[leaf] = std::make_unique<Column>(node, group.chunks[leaf], file_.text());
        }
        for (const Node& child : node.children) open(child);
      };
      open(top);
    }
  }
  return true;
}

/// A column that has entries left behind the last row of its group fits no other column.
void ParquetRecords::finish_group() {
  for (const Node& top : metadata_.root.children) {
    for (int leaf = top.first_leaf; leaf < top.first_leaf + top.leaf_count; ++leaf) {
      const auto i = static_cast<std::size_t>(leaf);
      if (i >= columns_.size() || !columns_[i]) continue;
      column_name_ = top.name;
      if (columns_[i]->at_entry()) throw Error(ErrorCode::bad_format, "has more rows than its row group");
      const Chunk& chunk = metadata_.groups[group_ - 1].chunks[i];
      columns_[i].reset();
      file_.forget(static_cast<std::size_t>(chunk.begin), static_cast<std::size_t>(chunk.size));
    }
  }
}

bool ParquetRecords::next(DataRecord& record) {
  if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "Reading was stopped", path_);
  if (!any_wanted_ && records_ == sample_rows) return false;
  try {
    if (!begin_group()) return false;
    --rows_left_;
    record.number = ++records_;
    record.kind = JsonKind::object;
    record.problem.clear();
    record.text = {};
    record.members.clear();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Node& node = metadata_.root.children[i];
      column_name_ = node.name;
      if (wanted_[i])
        read_member(node, texts_[i], record);
      else
        record.members.push_back({node.name, false, {JsonKind::null, "null"}});
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) throw;
    throw Error(error.code(),
                "The column \"" + column_name_.substr(0, 200) + "\" of row group " + std::to_string(group_) +
                    " " + error.message(),
                path_, "Write the data again, or convert them to JSONL");
  }
  check_expansion(record);
  return true;
}

void ParquetRecords::check_expansion(const DataRecord& record) {
  expanded_ += bytes_of_a_row;
  for (const JsonMember& member : record.members) expanded_ += member.value.text.size();
  if (expanded_ <= free_expansion || (expanded_ - free_expansion) / most_expansion <= file_.text().size())
    return;
  throw Error(ErrorCode::bad_format,
              "The file unpacks to more than " + std::to_string(most_expansion) +
                  " times its size, which no data set does",
              path_, "Convert it to JSONL if you trust it");
}

/// The present entry of the first column below `node`.
Column& ParquetRecords::entry_of(const Node& node) {
  Column& column = *columns_[static_cast<std::size_t>(node.first_leaf)];
  if (!column.at_entry()) throw Error(ErrorCode::bad_format, "has fewer rows than its row group");
  return column;
}

void ParquetRecords::read_member(const Node& node, std::string& text, DataRecord& record) {
  Column& column = entry_of(node);
  if (column.repetition() != 0)
    throw Error(ErrorCode::bad_format, "has a row that does not begin where it should");
  JsonSlice slice{JsonKind::null, "null"};
  text.clear();
  if (node.leaf >= 0 && node.repetition != Repetition::repeated) {
    if (column.definition() < node.definition) {
      column.next();
    } else if (is_text(node)) {
      slice = {JsonKind::string, column.value()};
      slice.empty = slice.text.empty();
      column.next();
    } else {
      slice.kind = take_scalar(node, text);
      slice.text = text;
    }
  } else {
    write_field(node, text);
    slice.text = text;
    slice.kind = text.front() == '['   ? JsonKind::array
                 : text.front() == '{' ? JsonKind::object
                                       : JsonKind::null;
    slice.empty = text == "[]" || text == "{}";
  }
  if (slice.text.size() > max_record_bytes)
    record.problem = "The row is larger than 64 MB";
  else if (valid_utf8_prefix(slice.text) < slice.text.size())
    record.problem = "The column \"" + node.name + "\" is not valid UTF-8";
  record.members.push_back({node.name, false, slice});
}

/// Takes a number or truth value and goes on.
JsonKind ParquetRecords::take_scalar(const Node& node, std::string& text) {
  Column& column = entry_of(node);
  const std::string_view bytes = column.value();
  JsonKind kind = JsonKind::number;
  switch (node.type) {
    case Physical::boolean:
      kind = JsonKind::boolean;
      text += bytes.front() != 0 ? "true" : "false";
      break;
    case Physical::int32:
      node.is_unsigned ? append_number<std::uint32_t>(bytes, text) : append_number<std::int32_t>(bytes, text);
      break;
    case Physical::int64:
      node.is_unsigned ? append_number<std::uint64_t>(bytes, text) : append_number<std::int64_t>(bytes, text);
      break;
    case Physical::real32:
      append_number<float>(bytes, text);
      break;
    case Physical::real64:
      append_number<double>(bytes, text);
      break;
    case Physical::int96:
      throw Error(ErrorCode::unsupported, "has values of the type INT96, which is not read");
    default:
      kind = JsonKind::string;
      append_json_string(bytes, text);
      break;
  }
  column.next();
  if (text.ends_with("nan") || text.ends_with("inf")) {  // as JSON writers of Python do
    kind = text.ends_with("nan") ? JsonKind::null : JsonKind::number;
    text.replace(text.size() - 3, 3, kind == JsonKind::null ? "NaN" : "Infinity");
  }
  return kind;
}

void ParquetRecords::skip(const Node& node) {
  for (int leaf = node.first_leaf; leaf < node.first_leaf + node.leaf_count; ++leaf) {
    Column& column = *columns_[static_cast<std::size_t>(leaf)];
    if (!column.at_entry()) throw Error(ErrorCode::bad_format, "has fewer rows than its row group");
    column.next();
  }
}

void ParquetRecords::write_field(const Node& node, std::string& out) {
  if (node.repetition == Repetition::repeated) return write_list(node, true, out);
  if (entry_of(node).definition() < node.definition) {
    out += "null";
    return skip(node);
  }
  write_value(node, out);
}

void ParquetRecords::write_value(const Node& node, std::string& out) {
  if (node.leaf >= 0) {
    std::string text;
    take_scalar(node, text);
    out += text;
    return;
  }
  if (node.is_list && node.children.size() == 1 && node.children[0].repetition == Repetition::repeated) {
    const Node& repeated = node.children[0];
    const bool whole =
        repeated.children.size() != 1 || repeated.name == "array" || repeated.name == node.name + "_tuple";
    return write_list(repeated, whole, out);
  }
  char before = '{';
  for (const Node& child : node.children) {
    out += before;
    append_json_string(child.name, out);
    out += ':';
    write_field(child, out);
    before = ',';
  }
  out += '}';
}

/// The elements are the values of `repeated` itself (`whole`) or of its only child.
void ParquetRecords::write_list(const Node& repeated, bool whole, std::string& out) {
  out += '[';
  if (entry_of(repeated).definition() < repeated.definition) {
    skip(repeated);
  } else {
    Column& column = *columns_[static_cast<std::size_t>(repeated.first_leaf)];
    for (bool more = true; more;) {
      whole ? write_value(repeated, out) : write_field(repeated.children[0], out);
      more = column.at_entry() && column.repetition() >= repeated.repetitions;
      if (more) out += ',';
    }
  }
  out += ']';
}

}  // namespace lorikeet::parquet

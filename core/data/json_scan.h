// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

enum class JsonKind : std::uint8_t { string, number, boolean, null, array, object };

/// A value as it stands in the text, checked but not decoded.
struct JsonSlice {
  JsonKind kind = JsonKind::null;
  std::string_view text;  ///< a string without its quotes, anything else as written
  bool escaped = false;   ///< the string holds escapes: decode_json_string() it
  bool empty = false;     ///< an array or object without members
};

struct JsonMember {
  std::string_view key;  ///< as written, without quotes
  bool key_escaped = false;
  JsonSlice value;
};

enum class ScanResult : std::uint8_t {
  complete,
  incomplete,  ///< the text ends inside the value
  broken,      ///< not JSON; see problem()
};

/// Walks over JSON text (RFC 8259; NaN counts as null and Infinity as a number, since Python writes them)
/// without copying, so that a file can be read at the speed of memory. Never recurses. Bytes above 0x7F are
/// let through inside strings: the caller checks UTF-8 for the whole row at once.
class JsonScanner {
 public:
  static constexpr int max_depth = 128;
  static constexpr std::size_t max_members = 4096;

  /// `final`: the text ends where the file ends, so a number at its end is complete.
  JsonScanner(std::string_view text, bool final, std::size_t position = 0)
      : text_(text), final_(final), position_(position) {}

  std::size_t position() const { return position_; }
  /// What was wrong, and where, after ScanResult::broken.
  const char* problem() const { return problem_; }

  void skip_space();
  /// The next byte, or -1 at the end of the text.
  int peek() const { return position_ < text_.size() ? static_cast<unsigned char>(text_[position_]) : -1; }
  void advance() { ++position_; }

  /// The value that begins at position().
  ScanResult value(JsonSlice& slice);
  /// The members of the object that begins at position(), in the order of the text.
  ScanResult object(std::vector<JsonMember>& members);
  /// `"key" :` at position(), with the space after the colon.
  ScanResult key(std::string_view& text, bool& escaped);

 private:
  ScanResult string(std::string_view& text, bool& escaped);
  ScanResult number();
  ScanResult scalar(JsonSlice& slice);
  ScanResult container(JsonSlice& slice);
  ScanResult literal(std::string_view word);
  ScanResult fail(const char* problem) {
    problem_ = problem;
    return ScanResult::broken;
  }

  std::string_view text_;
  bool final_;
  std::size_t position_;
  const char* problem_ = "";
};

/// Decodes the escapes of a scanned string. False when the result would not be text: half of a surrogate
/// pair.
bool decode_json_string(std::string_view written, std::string& text);

}  // namespace lorikeet

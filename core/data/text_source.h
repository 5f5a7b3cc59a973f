// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/data/byte_source.h"

namespace lorikeet {

/// A text file of any size read piece by piece, unpacked on the way when it is compressed by gzip or zstd:
/// UTF-8 with or without a byte order mark, or UTF-16 (known by its mark or by the zero bytes of its first
/// characters), which is handed out as UTF-8. Halves of surrogate pairs come out as bytes that are not valid
/// UTF-8, so that whoever checks the text finds them.
class TextSource {
 public:
  /// Opens the file and reads its first piece. Throws Error naming the path.
  TextSource(const std::string& path, std::stop_token stop);
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  ~TextSource();

  /// What was read and not yet consumed. Valid until more() or the end of this object.
  std::string_view view() const { return std::string_view(buffer_).substr(begin_); }
  void consume(std::size_t bytes) { begin_ += bytes; }
  /// Where view() begins, in bytes from the start of the file (of its text as UTF-8 when it was unpacked or
  /// converted).
  std::uint64_t offset() const { return base_ + begin_; }

  /// Reads on, at least as much again as view() holds; false when the file has no more.
  /// Throws Error(io | cancelled).
  bool more();
  bool at_end() const { return ended_; }

  /// Things a person should know: unpacking, where it broke off, conversion from UTF-16.
  std::vector<std::string> warnings() const;
  /// Bytes and SHA-256 of the whole file; reads to its end. Call once.
  std::uint64_t finish(std::string& sha256);

 private:
  enum class Encoding : std::uint8_t { utf8, utf16_little, utf16_big };

  std::size_t read_piece(std::size_t wanted);
  void detect_encoding();
  void append_utf16(bool last);

  FileBytes file_;
  std::unique_ptr<ByteSource> unpacked_;  ///< nothing for a file that is not compressed
  std::size_t piece_bytes_ = 0;           ///< the least that the next piece reads
  Encoding encoding_ = Encoding::utf8;
  std::string buffer_;  ///< UTF-8; consumed up to begin_
  std::size_t begin_ = 0;
  std::uint64_t base_ = 0;  ///< offset of buffer_[0]
  std::string raw_;         ///< UTF-16 bytes not yet converted
  bool ended_ = false;
};

}  // namespace lorikeet

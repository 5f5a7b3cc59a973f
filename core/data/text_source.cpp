// SPDX-License-Identifier: Apache-2.0
#include "core/data/text_source.h"

#include <algorithm>

#include "core/base/utf8.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 20;

}  // namespace

TextSource::TextSource(const std::string& path, std::stop_token stop) : file_(path, std::move(stop)) {
  const std::uint64_t size = file_.size_on_disk();
  // A piece that takes a small file whole, and finds its end in the same go.
  piece_bytes_ =
      size == 0 ? largest_piece : static_cast<std::size_t>(std::min<std::uint64_t>(size + 1, largest_piece));
  if (const Compression compression = find_compression(file_); compression != Compression::none) {
    unpacked_ = decompress(file_, compression);
  }
  more();
  detect_encoding();
}

TextSource::~TextSource() = default;

void TextSource::detect_encoding() {
  const auto at = [&](std::size_t i) {
    return i < buffer_.size() ? static_cast<int>(static_cast<unsigned char>(buffer_[i])) : -1;
  };
  std::size_t mark = 0;
  if (at(0) == 0xEF && at(1) == 0xBB && at(2) == 0xBF) {
    mark = 3;
  } else if ((at(0) == 0xFF && at(1) == 0xFE && at(2) == 0 && at(3) == 0) ||
             (at(0) == 0 && at(1) == 0 && at(2) == 0xFE && at(3) == 0xFF)) {
    throw Error(ErrorCode::unsupported, "The text is in UTF-32", file_.path(), "Save it as UTF-8");
  } else if ((at(0) == 0xFF && at(1) == 0xFE) || (at(0) > 0 && at(0) < 0x80 && at(1) == 0)) {
    encoding_ = Encoding::utf16_little;
    mark = at(0) == 0xFF ? 2 : 0;
  } else if ((at(0) == 0xFE && at(1) == 0xFF) || (at(0) == 0 && at(1) > 0 && at(1) < 0x80)) {
    encoding_ = Encoding::utf16_big;
    mark = at(0) == 0xFE ? 2 : 0;
  }
  if (encoding_ == Encoding::utf8) {
    begin_ = mark;
    return;
  }
  raw_ = buffer_.substr(mark);
  buffer_.clear();
  append_utf16(ended_);
}

std::size_t TextSource::read_piece(std::size_t wanted) {
  std::string& target = encoding_ == Encoding::utf8 ? buffer_ : raw_;
  const std::size_t before = target.size();
  target.resize(before + wanted);
  ByteSource& bytes = unpacked_ ? *unpacked_ : file_;
  const std::size_t filled = bytes.read(target.data() + before, wanted);
  target.resize(before + filled);
  if (filled < wanted) ended_ = true;
  return filled;
}

bool TextSource::more() {
  if (ended_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    base_ += begin_;
    begin_ = 0;
  }
  const std::size_t before = buffer_.size();
  do {
    read_piece(std::max(piece_bytes_, buffer_.size()));
    piece_bytes_ = largest_piece;
    if (encoding_ != Encoding::utf8) append_utf16(ended_);
  } while (!ended_ && buffer_.size() == before);
  return buffer_.size() > before;
}

void TextSource::append_utf16(bool last) {
  const std::size_t low = encoding_ == Encoding::utf16_little ? 0 : 1;
  const auto unit = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(raw_[i + low])) |
           static_cast<std::uint32_t>(static_cast<unsigned char>(raw_[i + 1 - low])) << 8;
  };
  std::size_t i = 0;
  while (i + 2 <= raw_.size()) {
    std::uint32_t code_point = unit(i);
    std::size_t used = 2;
    if (code_point >= 0xD800 && code_point < 0xDC00) {
      if (i + 4 > raw_.size() && !last) break;
      const std::uint32_t second = i + 4 <= raw_.size() ? unit(i + 2) : 0;
      if (second >= 0xDC00 && second < 0xE000) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + (second - 0xDC00);
        used = 4;
      }
    }
    append_utf8(buffer_, code_point);
    i += used;
  }
  raw_.erase(0, i);
  if (last && !raw_.empty()) {
    buffer_.push_back('\xFF');  // an odd last byte: no character
    raw_.clear();
  }
}

std::uint64_t TextSource::finish(std::string& sha256) {
  while (!ended_) {
    begin_ = buffer_.size();
    more();
  }
  sha256 = file_.finish();
  return file_.bytes_read();
}

std::vector<std::string> TextSource::warnings() const {
  std::vector<std::string> all;
  if (unpacked_) all = unpacked_->warnings();
  if (encoding_ != Encoding::utf8) all.push_back("Converted from UTF-16");
  return all;
}

}  // namespace lorikeet

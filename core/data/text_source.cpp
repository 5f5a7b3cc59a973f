// SPDX-License-Identifier: Apache-2.0
#include "core/data/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/utf8.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 20;

/// A piece that takes a small file whole, and finds its end in the same go.
std::size_t first_piece(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return largest_piece;
  return std::min(static_cast<std::size_t>(status.st_size) + 1, largest_piece);
}

}  // namespace

TextSource::TextSource(const std::string& path, std::stop_token stop) : path_(path), stop_(std::move(stop)) {
  descriptor_ = OwnedDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor_.value() < 0) throw system_error("Cannot open", path, errno);
  piece_bytes_ = first_piece(descriptor_.value());
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
    throw Error(ErrorCode::unsupported, "The text is in UTF-32", path_, "Save it as UTF-8");
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
  converted_from_ = "UTF-16";
  raw_ = buffer_.substr(mark);
  buffer_.clear();
  append_utf16(ended_);
}

std::size_t TextSource::read_piece(std::size_t wanted) {
  std::string& target = encoding_ == Encoding::utf8 ? buffer_ : raw_;
  const std::size_t before = target.size();
  target.resize(before + wanted);
  std::size_t filled = 0;
  while (filled < wanted) {
    if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "Reading was stopped", path_);
    const ssize_t got =
        ::read(descriptor_.value(), target.data() + before + filled, std::min(wanted - filled, largest_piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("Cannot read", path_, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  target.resize(before + filled);
  hash_.update(target.data() + before, filled);
  file_bytes_ += filled;
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
  sha256 = hash_.hex();
  return file_bytes_;
}

}  // namespace lorikeet

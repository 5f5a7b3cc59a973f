// SPDX-License-Identifier: Apache-2.0
#include "core/data/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t largest_piece = std::size_t{1} << 20;

struct KnownStart {
  std::string_view bytes;
  const char* name;
};
/// First bytes of what people pack files into, and what is not unpacked here.
constexpr std::array<KnownStart, 6> not_unpacked = {{
    {{"BZh", 3}, "compressed by bzip2"},
    {{"\xFD"
      "7zXZ\0",
      6},
     "compressed by xz"},
    {{"\x04\x22\x4D\x18", 4}, "compressed by LZ4"},
    {{"PK\x03\x04", 4}, "a zip archive"},
    {{"7z\xBC\xAF\x27\x1C", 6}, "a 7z archive"},
    {{"Rar!", 4}, "a rar archive"},
}};

}  // namespace

FileBytes::FileBytes(std::string path, std::stop_token stop)
    : path_(std::move(path)), stop_(std::move(stop)) {
  descriptor_ = OwnedDescriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor_.value() < 0) throw system_error("Cannot open", path_, errno);
}

std::uint64_t FileBytes::size_on_disk() const {
  struct stat status = {};
  if (::fstat(descriptor_.value(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t FileBytes::read_file(char* into, std::size_t wanted) {
  std::size_t filled = 0;
  while (filled < wanted) {
    if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "Reading was stopped", path_);
    const ssize_t got = ::read(descriptor_.value(), into + filled, std::min(wanted - filled, largest_piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("Cannot read", path_, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  hash_.update(into, filled);
  bytes_ += filled;
  return filled;
}

std::size_t FileBytes::read(char* into, std::size_t wanted) {
  const std::size_t from_peeked = std::min(wanted, peeked_.size());
  std::memcpy(into, peeked_.data(), from_peeked);
  peeked_.erase(0, from_peeked);
  return from_peeked + read_file(into + from_peeked, wanted - from_peeked);
}

std::string_view FileBytes::peek(std::size_t wanted) {
  const std::size_t before = peeked_.size();
  if (before < wanted) {
    peeked_.resize(wanted);
    peeked_.resize(before + read_file(peeked_.data() + before, wanted - before));
  }
  return std::string_view(peeked_).substr(0, wanted);
}

std::string FileBytes::finish() {
  std::string piece(largest_piece, '\0');
  while (read(piece.data(), piece.size()) > 0) {
  }
  return hash_.hex();
}

Compression find_compression(FileBytes& file) {
  const std::string_view first = file.peek(6);
  if (first.starts_with("\x1F\x8B")) return Compression::gzip;
  if (first.starts_with("\x28\xB5\x2F\xFD")) return Compression::zstd;
  const bool skippable =
      first.size() >= 4 && (first[0] & 0xF0) == 0x50 && first.substr(1).starts_with("\x2A\x4D\x18");
  if (skippable) return Compression::zstd;
  for (const KnownStart& known : not_unpacked) {
    if (first.starts_with(known.bytes)) {
      throw Error(ErrorCode::unsupported, std::string("The file is ") + known.name + ", which is not read",
                  file.path(), "Unpack it, or pack it by gzip or zstd");
    }
  }
  return Compression::none;
}

}  // namespace lorikeet

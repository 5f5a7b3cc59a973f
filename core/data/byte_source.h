// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files.h"
#include "core/base/hash.h"

namespace lorikeet {

/// Bytes handed out one piece after the other.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Puts up to `wanted` bytes into `into`; fewer only at the end, 0 behind it. Throws Error.
  virtual std::size_t read(char* into, std::size_t wanted) = 0;
  /// Things a person should know of what was read so far.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// The bytes of a file as they lie on the disk, counted and hashed on the way.
class FileBytes final : public ByteSource {
 public:
  /// Throws Error naming the path.
  FileBytes(std::string path, std::stop_token stop);

  /// Throws Error(io | cancelled).
  std::size_t read(char* into, std::size_t wanted) override;
  /// The first bytes of the file, `wanted` of them where it has so many; to be called before read().
  std::string_view peek(std::size_t wanted);
  const std::string& path() const { return path_; }
  /// Of a regular file as the system has it now, 0 for anything else.
  std::uint64_t size_on_disk() const;
  std::uint64_t bytes_read() const { return bytes_; }
  /// SHA-256 of the whole file; reads what is left. Call once.
  std::string finish();

 private:
  std::size_t read_file(char* into, std::size_t wanted);

  std::string path_;
  std::stop_token stop_;
  OwnedDescriptor descriptor_;
  std::string peeked_;  ///< read but not handed out yet
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

/// How a file is compressed, known by its first bytes.
enum class Compression : std::uint8_t { none, gzip, zstd };

/// Throws Error(unsupported) for archives and compressions that are known but not read, by name.
Compression find_compression(FileBytes& file);

/// Decompressed bytes of `file`, which must outlive them; all members or frames one after the other. What
/// breaks off or is damaged ends the bytes with a warning: what was read before stands. Throws
/// Error(bad_format) when the bytes grow beyond most_expansion times what they were made from.
std::unique_ptr<ByteSource> decompress(FileBytes& file, Compression compression);

/// Text seldom shrinks to a hundredth; this far beyond `free_expansion` a file is made to fill memory.
inline constexpr std::uint64_t most_expansion = 200;
inline constexpr std::uint64_t free_expansion = std::uint64_t{64} << 20;

}  // namespace lorikeet

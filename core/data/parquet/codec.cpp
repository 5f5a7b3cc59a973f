// SPDX-License-Identifier: Apache-2.0
#include "core/data/parquet/codec.h"

#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

#include "core/data/byte_source.h"
#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

constexpr std::array<const char*, 8> codec_names = {"none",   "snappy", "gzip", "LZO",
                                                    "Brotli", "LZ4",    "zstd", "LZ4 raw"};
enum : std::int64_t { uncompressed = 0, snappy_codec = 1, gzip_codec = 2, zstd_codec = 6 };

// Sizes are compared before memory is taken, so that a damaged size costs nothing.

bool unpack_gzip(std::string_view packed, std::size_t plain_bytes, std::string& plain) {
  constexpr std::size_t most_of_deflate = 1040;  // a byte stands for at most 1032
  if (plain_bytes / most_of_deflate > packed.size()) return false;
  plain.resize(plain_bytes);
  z_stream stream = {};
  constexpr int largest_window_of_gzip_or_zlib = 15 + 32;
  if (inflateInit2(&stream, largest_window_of_gzip_or_zlib) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

bool unpack_snappy(std::string_view packed, std::size_t plain_bytes, std::string& plain) {
  std::size_t size = 0;
  if (snappy_uncompressed_length(packed.data(), packed.size(), &size) != SNAPPY_OK || size != plain_bytes)
    return false;
  plain.resize(size);
  return snappy_uncompress(packed.data(), packed.size(), plain.data(), &size) == SNAPPY_OK &&
         size == plain.size();
}

bool unpack_zstd(std::string_view packed, std::size_t plain_bytes, std::string& plain) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || (size != ZSTD_CONTENTSIZE_UNKNOWN && size != plain_bytes))
    return false;
  plain.resize(plain_bytes);
  return ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) == plain.size();
}

}  // namespace

void unpack(std::int64_t codec, std::string_view packed, std::size_t plain_bytes, std::string& plain) {
  if (codec != uncompressed && codec != snappy_codec && codec != gzip_codec && codec != zstd_codec) {
    const bool known = codec > 0 && codec < std::ssize(codec_names);
    throw Error(ErrorCode::unsupported, "is compressed by " +
                                            (known ? std::string(codec_names[static_cast<std::size_t>(codec)])
                                                   : "the unknown codec " + std::to_string(codec)) +
                                            ", which is not read");
  }
  if (plain_bytes > free_expansion && (plain_bytes - free_expansion) / most_expansion > packed.size())
    throw Error(ErrorCode::bad_format, "has a page that unpacks to more than any page does");
  if (codec == uncompressed) {
    if (packed.size() != plain_bytes)
      throw Error(ErrorCode::bad_format, "has a page of another size than it says");
    plain = packed;
    return;
  }
  if (plain_bytes == 0) plain.clear();
  const bool whole = plain_bytes == 0        ? true
                     : codec == snappy_codec ? unpack_snappy(packed, plain_bytes, plain)
                     : codec == gzip_codec   ? unpack_gzip(packed, plain_bytes, plain)
                                             : unpack_zstd(packed, plain_bytes, plain);
  if (!whole) throw Error(ErrorCode::bad_format, "has a damaged page");
}

}  // namespace lorikeet::parquet

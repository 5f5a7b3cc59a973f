// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lorikeet::parquet {

/// Decodes Parquet's hybrid of run lengths and bit packing (Encodings.md, RLE = 3). With a width of 0 every
/// value is 0 and no bytes are needed, as some writers leave them out.
class HybridDecoder {
 public:
  HybridDecoder() = default;
  HybridDecoder(std::string_view bytes, int bit_width) : bytes_(bytes), width_(bit_width) {}

  /// The next value. Throws Error(bad_format) behind the end of the bytes.
  std::uint32_t next();

 private:
  void start_run();

  std::string_view bytes_;
  int width_ = 0;
  std::size_t position_ = 0;
  std::uint64_t repeated_ = 0;  ///< values left of a run of equal ones
  std::uint32_t value_ = 0;
  std::uint64_t packed_ = 0;  ///< values left of a bit-packed run
  std::uint64_t bit_ = 0;     ///< of the next packed value, from the start of the bytes
};

/// Bits that are needed to write numbers up to `most`.
int bits_for(int most);

}  // namespace lorikeet::parquet

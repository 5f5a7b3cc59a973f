// SPDX-License-Identifier: Apache-2.0
#include "core/data/parquet/bits.h"

#include <bit>

#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

[[noreturn]] void breaks_off() {
  throw Error(ErrorCode::bad_format, "its levels or dictionary indexes break off");
}

}  // namespace

int bits_for(int most) {
  return std::bit_width(static_cast<unsigned>(most));
}

void HybridDecoder::start_run() {
  std::uint64_t header = 0;
  for (int shift = 0;; shift += 7) {
    if (position_ >= bytes_.size() || shift > 35) breaks_off();
    const auto part = static_cast<unsigned char>(bytes_[position_++]);
    header |= static_cast<std::uint64_t>(part & 0x7F) << shift;
    if (part < 0x80) break;
  }
  if ((header & 1) != 0) {  // groups of eight packed values
    packed_ = (header >> 1) * 8;
    bit_ = static_cast<std::uint64_t>(position_) * 8;
    const std::uint64_t run_bytes = (header >> 1) * static_cast<std::uint64_t>(width_);
    position_ += static_cast<std::size_t>(run_bytes);  // the last run may be cut where its values end
    return;
  }
  repeated_ = header >> 1;
  value_ = 0;
  const auto value_bytes = static_cast<std::size_t>((width_ + 7) / 8);
  if (value_bytes > bytes_.size() - position_) breaks_off();
  for (std::size_t i = 0; i < value_bytes; ++i)
    value_ |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[position_++])) << (8 * i);
}

std::uint32_t HybridDecoder::next() {
  if (width_ == 0) return 0;
  while (repeated_ == 0 && packed_ == 0) start_run();
  if (repeated_ > 0) {
    --repeated_;
    return value_;
  }
  --packed_;
  std::uint64_t window = 0;
  const std::uint64_t first = bit_ / 8, last = (bit_ + static_cast<std::uint64_t>(width_) - 1) / 8;
  if (last >= bytes_.size()) breaks_off();
  for (std::uint64_t i = first; i <= last; ++i)
    window |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[static_cast<std::size_t>(i)]))
              << (8 * (i - first));
  window >>= bit_ % 8;
  bit_ += static_cast<std::uint64_t>(width_);
  return static_cast<std::uint32_t>(window & ((std::uint64_t{1} << width_) - 1));
}

}  // namespace lorikeet::parquet

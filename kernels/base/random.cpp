// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/random.h"

#include <cmath>
#include <numbers>

namespace lorikeet {

std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53u, multiplier_1 = 0xCD9E8D57u;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9u, weyl_1 = 0xBB67AE85u;
  auto key_0 = static_cast<std::uint32_t>(key), key_1 = static_cast<std::uint32_t>(key >> 32);
  std::array<std::uint32_t, 4> c = {
      static_cast<std::uint32_t>(counter_low), static_cast<std::uint32_t>(counter_low >> 32),
      static_cast<std::uint32_t>(counter_high), static_cast<std::uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * c[0], product_1 = multiplier_1 * c[2];
    c = {static_cast<std::uint32_t>(product_1 >> 32) ^ c[1] ^ key_0, static_cast<std::uint32_t>(product_1),
         static_cast<std::uint32_t>(product_0 >> 32) ^ c[3] ^ key_1, static_cast<std::uint32_t>(product_0)};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return c;
}

RandomStream::RandomStream(const Key& key) {
  // Fold the five parts one after the other, so that no two different keys share a stream by simple
  // arithmetic.
  std::uint64_t folded = key.seed;
  for (const std::uint64_t part : {key.epoch, key.row, key.layer, static_cast<std::uint64_t>(key.use)}) {
    const auto words = philox(folded, part, 0x6c6f72696b656574u);
    folded = (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
  }
  key_ = folded;
}

std::uint32_t RandomStream::bits_at(std::uint64_t counter) const {
  return philox(key_, counter)[0];
}

std::uint64_t RandomStream::key_at(std::uint64_t counter) const {
  const auto words = philox(key_, counter);
  return (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
}

double RandomStream::uniform_at(std::uint64_t counter) const {
  const auto words = philox(key_, counter);
  const std::uint64_t bits = (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

double RandomStream::normal_at(std::uint64_t counter) const {
  const auto words = philox(key_, counter);
  const std::uint64_t first = (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
  const std::uint64_t second = (static_cast<std::uint64_t>(words[2]) << 32) | words[3];
  const double u = (static_cast<double>(first >> 11) + 1.0) * 0x1p-53;  // (0, 1]: its logarithm is finite
  const double v = static_cast<double>(second >> 11) * 0x1p-53;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint64_t RandomStream::next_below(std::uint64_t bound) {
  const std::uint64_t limit = bound * (UINT64_MAX / bound);
  for (;;) {
    const auto words = philox(key_, position_++);
    const std::uint64_t bits = (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
    if (bits < limit) return bits % bound;
  }
}

}  // namespace lorikeet

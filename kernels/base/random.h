// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lorikeet {

/// Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): four 32-bit words for
/// a (key, counter) pair. Stateless, so the same place in a run draws the same number whatever was drawn
/// before.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low,
                                    std::uint64_t counter_high = 0);

/// What a random stream is for; part of its key.
enum class RandomUse : std::uint32_t {
  shuffle = 1,
  split,
  lora_init,
  dropout,
  neftune,
  sampling,
  test,
  token
};

/// One of the numbers drawn on a device for a token: a word for each (use, place, column), the same on every
/// back end, whoever else shares the token's batch. `key` is the token's (RandomStream::key_at); `place`
/// tells apart what draws for the same use, such as the modules of an adapter.
inline std::uint32_t drawn_word(std::uint64_t key, RandomUse use, std::uint32_t place, std::uint64_t column) {
  return philox(key, column / 4, static_cast<std::uint64_t>(use) << 32 | place)[column % 4];
}

/// Dropout with probability p in [0,1) drops an element whose word is below this.
inline std::uint32_t dropout_threshold(float p) {
  return static_cast<std::uint32_t>(static_cast<double>(p) * 0x1p32);
}
/// What the elements that stay are multiplied with.
inline float dropout_scale(float p) {
  return static_cast<float>(1.0 / (1.0 - static_cast<double>(p)));
}
/// A word as a number in [-1,1), in steps of 2^-23.
inline float centred_uniform(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;
}

/// A stream of numbers for one place of a run: a pure function of its key (seed, epoch, row, layer, use) and
/// position.
class RandomStream {
 public:
  struct Key {
    std::uint64_t seed = 0;
    std::uint64_t epoch = 0;
    std::uint64_t row = 0;
    std::uint64_t layer = 0;
    RandomUse use = RandomUse::test;
  };
  explicit RandomStream(const Key& key);

  std::uint32_t bits_at(std::uint64_t counter) const;  ///< 32 random bits
  double uniform_at(std::uint64_t counter) const;      ///< in [0, 1), 53 bits
  std::uint64_t key_at(std::uint64_t counter) const;   ///< 64 random bits, a key of further numbers
  double normal_at(std::uint64_t counter) const;       ///< mean 0, standard deviation 1 (Box-Muller)

  std::uint32_t next_bits() { return bits_at(position_++); }
  double next_uniform() { return uniform_at(position_++); }
  double next_normal() { return normal_at(position_++); }
  /// Uniform in [0, bound), unbiased; bound > 0.
  std::uint64_t next_below(std::uint64_t bound);

 private:
  std::uint64_t key_;
  std::uint64_t position_ = 0;
};

}  // namespace lorikeet

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
enum class RandomUse : std::uint32_t { shuffle = 1, split, lora_init, dropout, neftune, sampling, test };

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

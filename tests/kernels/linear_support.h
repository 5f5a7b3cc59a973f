// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernels/backend.h"
#include "kernels/base/random.h"
#include "tests/kernels/op_support.h"

// What the tests of linear layers and of the head share.
namespace lorikeet::testing {

/// A weight of random values on `backend`.
Weight random_weight(Backend& backend, WeightFormat format, std::int64_t out, std::int64_t in,
                     std::uint64_t seed, bool with_bias = false);
/// What products with the weight see: its stored values, rounded to the compute type. Straight from the
/// format's definition, not through the back end.
Values values_of(Backend& backend, const Weight& weight, DType compute);

/// Keys of `rows` tokens, i32 (rows,2).
Indices random_keys(std::int64_t rows, std::uint64_t seed);
/// The same with two columns on the device.
Tensor make_keys(Backend& backend, const Indices& keys);
/// The word drawn for an element, straight from the generator's definition.
std::uint32_t word_of(const Indices& keys, std::int64_t row, RandomUse use, std::uint32_t place,
                      std::int64_t column);
/// What dropout multiplies each element of (M,columns) with: 0 or 1 / (1 - p); empty for p = 0.
Values dropout_mask(const Indices& keys, std::int64_t columns, float probability, std::uint32_t place);

/// Whether LORIKEET_ISA names code that this processor cannot run; `why` says so.
bool isa_is_missing(std::string& why);

}  // namespace lorikeet::testing

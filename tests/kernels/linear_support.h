// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kernels/backend.h"
#include "tests/kernels/op_support.h"

// What the tests of linear layers and of the head share.
namespace lorikeet::testing {

/// A weight of random values on `backend`.
Weight random_weight(Backend& backend, WeightFormat format, std::int64_t out, std::int64_t in,
                     std::uint64_t seed, bool with_bias = false);
/// What products with the weight see: its stored values, rounded to the compute type. Straight from the
/// format's definition, not through the back end.
Values values_of(Backend& backend, const Weight& weight, DType compute);

/// Whether LORIKEET_ISA names code that this processor cannot run; `why` says so.
bool isa_is_missing(std::string& why);

}  // namespace lorikeet::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/infer/session.h"

namespace lorikeet {

/// The part of a sampling that Backend::sample knows.
SamplingRule rule_of(const Sampling& sampling);
/// The random number of one draw: a function of (seed, index of the draw).
double uniform_of(const Sampling& sampling, std::uint64_t draw);
/// How many of `count` tokens before it the repeat penalty looks at.
std::int64_t penalised_tokens(const Sampling& sampling, std::size_t count);
/// Throws Error(numeric) for what a back end gives when logits are not finite.
TokenId checked_token(std::int32_t id);

}  // namespace lorikeet

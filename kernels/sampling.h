// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace lorikeet {

struct SamplingRule;

/// Draws a token from logits [V], which are changed by the penalty: each id of `recent` is made less likely once,
/// however often it stands there. `uniform` in [0,1) decides. -1 when the largest logit is not finite. Backend::sample on
/// the host; the reference for every other device.
std::int32_t draw_token(std::span<float> logits, std::span<const std::int32_t> recent, const SamplingRule& rule,
                        double uniform);

}  // namespace lorikeet

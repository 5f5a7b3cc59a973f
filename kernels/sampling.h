// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace lorikeet {

struct SamplingRule;

/// Numbers of sampling_weight: e^x = 2^n e^r with x = n ln 2 + r, |r| <= ln(2)/2, ln 2 in two parts of which
/// the first times n is exact; e^r by its Taylor series to r^13 / 13!.
struct WeightNumbers {
  double lowest = -745;  ///< below it the weight is 0
  double log2_e = 1.4426950408889634;
  double ln2_high = 6.93147180369123816490e-01;
  double ln2_low = 1.90821492927058770002e-10;
  double factors[14] = {1,
                        1,
                        1.0 / 2,
                        1.0 / 6,
                        1.0 / 24,
                        1.0 / 120,
                        1.0 / 720,
                        1.0 / 5040,
                        1.0 / 40320,
                        1.0 / 362880,
                        1.0 / 3628800,
                        1.0 / 39916800,
                        1.0 / 479001600,
                        1.0 / 6227020800.0};
};

/// e^x for x <= 0 within 2 ulp, 0 for NaN: from operations that every device rounds alike and never fuses, so
/// that all devices draw the same token.
double sampling_weight(double x);

/// Sums of weights have one order on every device, which many threads can share: this many neighbours are
/// added one after the other, from 0, and so are the sums of these groups. The sum up to a candidate is that
/// of the groups before its own plus that of its own up to it; such sums never fall from one candidate to the
/// next.
inline constexpr std::int64_t sampling_group = 256;

/// Draws a token from logits [V], which are changed by the penalty: each id of `recent` is made less likely
/// once, however often it stands there. `uniform` in [0,1) decides. -1 when the largest logit is not finite:
/// logits that are no numbers are passed over, unless the first is one. Backend::sample on the host; the
/// reference for every other device, bit for bit.
std::int32_t draw_token(std::span<float> logits, std::span<const std::int32_t> recent,
                        const SamplingRule& rule, double uniform);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace lorikeet::bench {

/// GFLOP/s of one core that does nothing but multiply bf16 pairs (0 where the processor cannot), or f32.
double peak_bf16(double seconds);
double peak_f32(double seconds);
/// GB/s of `threads` cores that read memory no cache holds.
double read_bandwidth(int threads);

}  // namespace lorikeet::bench

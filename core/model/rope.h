// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace lorikeet {

/// Inverse frequencies of each rotated pair, f32 as Hugging Face has them (formats.md §1.5). `positions` is
/// how many the tables will reach: dynamic scaling stretches by it, and longrope takes its long factors where
/// it is beyond the original context. `linear_factor` divides them all (design.md §10, "RoPE beyond the
/// context").
std::vector<float> rope_inverse_frequencies(const RopeSpec& rope, std::int64_t positions,
                                            double linear_factor = 1);

/// The RoPE of a config.json, in the form of transformers 4 or 5. `rotary_share` is the family's
/// partial_rotary_factor. Throws Error(bad_format | unsupported) with `name` and the field.
RopeSpec rope_from_config(const Json& config, const std::string& family, std::int64_t head_dim,
                          std::int64_t context, double rotary_share, const std::string& name);

/// cos and sin are multiplied by this under yarn scaling with nothing else said.
double yarn_attention_factor(double factor);
/// The same under longrope: `stretch` is the context over the original one.
double longrope_attention_factor(double stretch, std::int64_t original_context);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/model/base_model.h"

namespace lorikeet {

class LoraAdapter;
struct AdapterNotes;
struct Settings;

/// Start values of a fresh adapter that come of the base: with init loftq A and B (Li et al. 2023, one
/// iteration as PEFT's default: B A is the best approximation of what the quantisation lost, not divided by
/// the scale), with dora the magnitudes. `source` is what the base was loaded from. `between` is called
/// between products, `progress` gets modules done and in all; both may throw Error(cancelled). Throws
/// Error(unsupported) where the base was quantised already.
void start_adapter(BaseModel& model, LoraAdapter& adapter, const WeightSource& source,
                   const Settings& settings, const std::function<void()>& between = {},
                   const std::function<void(std::int64_t done, std::int64_t total)>& progress = {});

/// Throws Error(unsupported) naming the reason when init loftq cannot be used: nothing is quantised here, or
/// the files hold a quantised base already.
void require_loftq(const WeightSource& source, const ModelSpec& spec, const Settings& settings);

/// An adapter that LoftQ started fits the quantised base only. Throws Error(invalid_argument) when the base
/// is kept in another way than the adapter's notes say.
void require_fitting_base(const AdapterNotes& notes, const std::string& quantization,
                          const std::string& folder);

}  // namespace lorikeet

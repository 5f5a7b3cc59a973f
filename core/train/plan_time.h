// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/train/plan.h"

namespace lorikeet {

/// Seconds of the steps of a run on a device of known ceilings: products at the share of them that trained
/// engines reach, the weights' expansion and the optimiser at the memory's speed, transfers of offloaded
/// inputs where they take longer than what hides them. An estimate, good for comparing settings; 0 where the
/// ceilings are not known. Source: performance of published engines (about half of the ceiling).
double estimated_seconds(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                         const PlanDevice& device, const Plan& plan);

}  // namespace lorikeet

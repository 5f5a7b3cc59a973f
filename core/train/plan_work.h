// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/activation_plan.h"
#include "core/train/plan.h"

namespace lorikeet {

/// What a run holds beside weights, adapter, optimiser and activations: the working memory of the back end's
/// operations, the session of the sample prompts and what lies beside the back end. `shape` is that of the
/// largest micro-batch. The sums follow kernels/cpu and kernels/cuda operation by operation; a test compares
/// them with what the back end takes.
void add_work(MemoryPlan& memory, const ModelSpec& spec, const DataShape& data, const Settings& settings,
              const PlanDevice& device, const ActivationShape& shape);

/// Working memory of the CPU's linear layers (kernels/cpu/linear_forward.cpp, linear_backward.cpp) for
/// `tokens` rows: the largest of all layers, forward and backward.
std::uint64_t cpu_linear_work(const ModelSpec& spec, const Settings& settings, const PlanDevice& device,
                              std::int64_t tokens);
/// Of the head with its loss (kernels/cpu/head.cpp) for `rows` label rows.
std::uint64_t cpu_head_work(const ModelSpec& spec, const PlanDevice& device, std::int64_t rows);
/// Of attention's backward (kernels/cpu/attention.cpp) over `tokens` rows.
std::uint64_t cpu_attention_work(const ModelSpec& spec, const PlanDevice& device, std::int64_t tokens);

}  // namespace lorikeet

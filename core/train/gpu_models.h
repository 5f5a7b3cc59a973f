// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/train/plan.h"

namespace lorikeet {

/// A GPU as its data sheet has it: what a plan needs to know of one that is not there.
struct GpuModel {
  std::string name;                  ///< as its maker writes it
  std::int64_t memory_mib = 0;       ///< as its driver reports it
  int compute_capability = 0;        ///< 89 for 8.9
  double operations_per_second = 0;  ///< dense 16-bit products with f32 sums
  double bytes_per_second = 0;       ///< of its memory
};

const std::vector<GpuModel>& gpu_models();

/// By name ("RTX 3060 12GB", "4090", "T4") or by memory ("8GB", "24GB": a usual card of that size). Throws
/// Error(not_found) naming the ones that are known.
const GpuModel& find_gpu(const std::string& text);
/// The model whose name a driver's device name contains; nullptr when none is known.
const GpuModel* known_gpu(const std::string& device_name);

/// Device memory that a process takes before the first tensor: the context, the code of all kernels,
/// cuBLASLt.
inline constexpr std::uint64_t gpu_context_bytes = 512u << 20;

/// The device to plan with; memory-limit, or what the card has less the context and a tenth (prepare.h,
/// resolved_memory_limit).
PlanDevice plan_device(const GpuModel& gpu, const Settings& settings);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// The forward pass for few rows, as in chat; the same formula and roundings as linear_forward.cpp. What is
// read decides its time, so matrices that one core reads faster than others wake up are left to one thread.
#include <algorithm>

#include "kernels/cpu/linear_engine.h"
#include "kernels/cpu/small_product.h"

namespace lorikeet {

namespace {

constexpr std::int64_t bytes_worth_a_team = 512 << 10;
constexpr std::int64_t tasks_a_thread = 8;

}  // namespace

/// x A^T of one branch, in groups of rows of A.
class LinearEngine::SmallBranch {
 public:
  SmallBranch(const LinearKernels& kernels, const LoraTerm& term, const float* x, float* xa)
      : kernels_(kernels), term_(term), x_(x), xa_(xa) {}

  std::int64_t groups() const { return (term_.a.rows() + group - 1) / group; }
  SmallProduct::Term term() const { return {xa_, term_.b.as<float>(), term_.a.rows(), term_.scale}; }

  void make_group(std::int64_t i, void* buffer) const {
    const std::int64_t first = i * group;
    const std::int64_t rank = term_.a.rows(), width = term_.a.columns();
    const std::int64_t count = std::min(group, rank - first);
    const bool rounded = term_.xa.dtype == DType::bf16;
    float* lane_sums = static_cast<float*>(buffer);
    float* sums = lane_sums + group * SmallProduct::rows_at_once * group;
    for (std::int64_t row = 0; row < term_.xa.rows(); row += SmallProduct::rows_at_once) {
      const std::int64_t rows = std::min(SmallProduct::rows_at_once, term_.xa.rows() - row);
      kernels_.f32_dot_f32({term_.a.as<float>() + first * width, count, width, x_ + row * width, width, rows},
                           1, rounded, false, lane_sums);
      kernels_.add_lanes(lane_sums, count, rows, sums);
      for (std::int64_t j = 0; j < rows; ++j) store_row(sums + j * group, (row + j) * rank + first, count);
    }
  }

 private:
  /// Into xa in the compute type, and into the next product's operand.
  void store_row(const float* from, std::int64_t at, std::int64_t count) const {
    if (term_.xa.dtype == DType::bf16) {
      std::uint16_t* stored = term_.xa.as<std::uint16_t>() + at;
      kernels_.f32_to_bf16(from, stored, count);
      kernels_.bf16_to_f32(stored, xa_ + at, count);
    } else {
      kernels_.scale_f32(from, 1, xa_ + at, count);
      kernels_.scale_f32(from, 1, term_.xa.as<float>() + at, count);
    }
  }

  static constexpr std::int64_t group = SmallProduct::group;
  const LinearKernels& kernels_;
  const LoraTerm& term_;
  const float* x_;
  float* xa_;
};

void LinearEngine::small_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora,
                                 TensorView y, Write write) {
  const std::int64_t rows = x.rows();
  SmallProduct product(kernels_, weight, x.dtype, product_type(x.dtype), rows);
  Layout layout;
  const std::int64_t x_at = layout.take(product.x_bytes());
  const std::int64_t x_f32_at = layout.take(lora.empty() || x.dtype == DType::f32 ? 0 : x.elements() * 4);
  std::int64_t bytes = static_cast<std::int64_t>(weight.bytes());
  std::vector<std::int64_t> xa_at;
  for (const LoraTerm& term : lora) {
    xa_at.push_back(layout.take(rows * term.a.rows() * 4));
    bytes += static_cast<std::int64_t>(term.a.bytes() + term.b.bytes());
  }
  const std::int64_t buffer_bytes = (product.buffer_bytes() + 63) / 64 * 64;
  const std::int64_t buffers_at = layout.take(buffer_bytes * team_.threads());
  char* memory = static_cast<char*>(scratch_.get(layout.bytes()));

  product.place_x(x, memory + x_at);
  const float* x_f32 = x.as<float>();
  if (!lora.empty() && x.dtype == DType::bf16) {
    float* converted = reinterpret_cast<float*>(memory + x_f32_at);
    kernels_.bf16_to_f32(x.as<std::uint16_t>(), converted, x.elements());
    x_f32 = converted;
  }
  std::vector<SmallBranch> branches;
  std::vector<SmallProduct::Term> terms;
  std::int64_t branch_groups = 0;
  for (std::size_t i = 0; i < lora.size(); ++i) {
    branches.emplace_back(kernels_, lora[i], x_f32, reinterpret_cast<float*>(memory + xa_at[i]));
    terms.push_back(branches.back().term());
    branch_groups += branches.back().groups();
  }

  const std::int64_t groups = product.groups();
  const std::int64_t step = std::max<std::int64_t>(1, groups / (team_.threads() * tasks_a_thread));
  team_.run(bytes >= bytes_worth_a_team, [&](int thread) {
    void* buffer = memory + buffers_at + thread * buffer_bytes;
    if (!branches.empty()) {
      team_.share(0, branch_groups, [&](std::int64_t g) {
        std::size_t branch = 0;
        while (g >= branches[branch].groups()) g -= branches[branch++].groups();
        branches[branch].make_group(g, buffer);
      });
      team_.barrier();
    }
    team_.share(1, (groups + step - 1) / step, [&](std::int64_t task) {
      const std::int64_t last = std::min(groups, (task + 1) * step);
      for (std::int64_t g = task * step; g < last; ++g) {
        product.make_group(g, terms, write == Write::accumulate, y, buffer);
      }
    });
  });
}

}  // namespace lorikeet

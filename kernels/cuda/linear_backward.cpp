// SPDX-License-Identifier: Apache-2.0
// With u (M,r) = dY (scale B) of each part: dx (M,K) [+]= sum over parts of dY W + u A, dA += u^T x,
// dB += scale dY^T (x A^T), for all parts with this x:
//   1. W of all parts below each other in one scratch matrix (N+tail,K), the A of their branches below that;
//      (scale B)^T of all branches;
//   2. u of all branches into the columns behind the last dY;
//   3. [dY, u] times that matrix: one f32 sum over all parts, rounded once;
//   4. both gradients of all branches.
// W, A, scale B and u are rounded to the compute type (design.md §10). Four launches where the parts' dY lie
// side by side with room behind them (Backend::tail_columns); otherwise they are copied together first.
// With dropout u is divided by 1 - p before it is rounded, dA takes copies mask * x (made before step 2 in
// one launch), and the branches' part of dx, mask * (u A), is summed and rounded by a launch of its own, to
// which step 3 adds dY W. Without dx (first layer) steps 3 and the weights are left out. Bytes for NF4 in
// bf16, P weights: 0.516 P + 2 P + 2 MN + 2P + 2 MN + 2 MK + 2 M (K+N).
#include <algorithm>
#include <vector>

#include "kernels/base/random.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/dequantize.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/linear_group.h"
#include "kernels/cuda/low_rank.h"

namespace lorikeet::cuda {
namespace {

class Backward {
 public:
  Backward(CudaBackend& backend, std::span<const LinearBackwardPart> parts, TensorView x, TensorView dx,
           Write write)
      : backend_(backend),
        parts_(parts),
        x_(x),
        dx_(dx),
        before_(write == Write::accumulate ? dx : TensorView{}),
        compute_(parts.front().dy.dtype),
        rows_(parts.front().dy.rows()),
        depth_(parts.front().weight->in) {
    for (const LinearBackwardPart& part : parts) {
      if (&part != &parts.front()) adjacent_ = adjacent_ && follows(part.dy, (&part - 1)->dy);
      width_ += part.weight->out;
      if (part.lora) ranks_ += part.lora->a.rows();
      drops_ = drops_ || (part.lora && has_dropout(*part.lora));
    }
    if (ranks_ > 0) tail_ = round_up(width_ + ranks_, 8) - width_;
  }

  void run() {
    if (ranks_ == 0 && multiply_stored()) return;
    ScratchViews layout;
    if (dx_) weights_ = layout.add(width_ + tail_, depth_, compute_);
    for (const LinearBackwardPart& part : parts_) {
      if (part.lora) factors_.push_back(layout.add(part.lora->a.rows(), part.weight->out, compute_));
    }
    void* memory = backend_.weight_scratch().get(layout.bytes());
    if (dx_) weights_ = ScratchViews::placed(weights_, memory);
    for (TensorView& factor : factors_) factor = ScratchViews::placed(factor, memory);
    fill_weights();
    if (ranks_ > 0) {
      make_room();
      drop(backend_, x_, dropped_);
      shrink_all();
    }
    if (dx_) multiply_all();
    add_gradients();
  }

 private:
  /// Without dequantisation; false unless all weights are stored in the compute type.
  bool multiply_stored() {
    for (const LinearBackwardPart& part : parts_) {
      if (!is_stored_in(*part.weight, compute_)) return false;
    }
    TensorView before = before_;
    for (const LinearBackwardPart& part : parts_) {
      multiply(backend_, {part.dy, part.weight->values, true, before, dx_});
      before = dx_;
    }
    return true;
  }

  void fill_weights() {
    std::vector<DequantizeTask> tasks;
    std::vector<FactorTask> factors;
    std::int64_t row = 0, rank = 0;
    std::size_t branch = 0;
    for (const LinearBackwardPart& part : parts_) {
      const std::int64_t out = part.weight->out;
      if (dx_) tasks.push_back({part.weight, 0, weights_.row_range(row, out)});
      row += out;
      if (!part.lora) continue;
      const LoraTerm& term = *part.lora;
      const std::int64_t ranks = term.a.rows();
      const float scale = term.scale * factor_scale(compute_);
      factors.push_back({factors_[branch++], term.b.as<float>(), 1, ranks, scale, 0, out});
      if (dx_) {
        factors.push_back(
            {weights_.row_range(width_ + rank, ranks), term.a.as<float>(), depth_, 1, 1, 0, depth_});
      }
      rank += ranks;
    }
    if (dx_ && tail_ > ranks_) factors.push_back({.to = weights_.row_range(width_ + ranks_, tail_ - ranks_)});
    dequantize(backend_, tasks, factors);
  }

  /// All dY side by side with tail_ columns behind them; without dx just a place for u. And room for what
  /// branches with dropout read instead of x.
  void make_room() {
    ScratchViews layout;
    const TensorView& first = parts_.front().dy;
    const bool in_place = dx_ && adjacent_ && first.stride() - width_ >= tail_;
    if (!dx_) u_ = layout.add(rows_, ranks_, compute_);
    if (dx_ && !in_place) wide_ = layout.add(rows_, width_ + tail_, compute_);
    for (const LinearBackwardPart& part : parts_) {
      if (part.lora && has_dropout(*part.lora))
        dropped_.push_back({layout.add(rows_, depth_, compute_), part.lora->dropout});
    }
    void* memory = layout.bytes() > 0 ? backend_.scratch().get(layout.bytes()) : nullptr;
    for (DroppedCopy& copy : dropped_) copy.to = ScratchViews::placed(copy.to, memory);
    if (!dx_) {
      u_ = ScratchViews::placed(u_, memory);
      return;
    }
    if (in_place) {
      wide_ = {first.data, compute_, {rows_, width_ + tail_}, first.stride()};
    } else {
      wide_ = ScratchViews::placed(wide_, memory);
      std::int64_t column = 0;
      for (const LinearBackwardPart& part : parts_) {
        backend_.copy(wide_.column_range(column, part.weight->out), part.dy);
        column += part.weight->out;
      }
    }
    u_ = wide_.column_range(width_, tail_);
  }

  void shrink_all() {
    std::vector<ShrinkGroup> groups;
    Shrink work;
    work.out = u_;
    const auto make = [&] {
      work.groups = groups;
      shrink(backend_, work);
      groups.clear();
    };
    std::int64_t rank = 0;
    std::size_t branch = 0;
    for (const LinearBackwardPart& part : parts_) {
      if (!part.lora) continue;
      const float scale = dropout_scale(part.lora->dropout.probability) / factor_scale(compute_);
      if (groups.size() == most_shrink_groups || (!groups.empty() && scale != work.scale)) make();
      work.scale = scale;
      groups.push_back({part.dy, factors_[branch++], rank});
      rank += part.lora->a.rows();
    }
    make();
  }

  void multiply_all() {
    if (drops_) return multiply_around_masks();
    if (tail_ > 0) return multiply(backend_, {wide_, weights_, true, before_, dx_});
    const TensorView& first = parts_.front().dy;
    if (adjacent_) {
      const TensorView dy{first.data, compute_, {rows_, width_}, std::max(first.stride(), width_)};
      return multiply(backend_, {dy, weights_, true, before_, dx_});
    }
    TensorView before = before_;
    std::int64_t row = 0;
    for (const LinearBackwardPart& part : parts_) {
      multiply(backend_, {part.dy, weights_.row_range(row, part.weight->out), true, before, dx_});
      row += part.weight->out;
      before = dx_;
    }
  }

  /// dx from dY W and the masked parts of the branches.
  void multiply_around_masks() {
    std::vector<ExpandTerm> terms;
    std::int64_t rank = 0;
    for (const LinearBackwardPart& part : parts_) {
      if (!part.lora) continue;
      const std::int64_t ranks = part.lora->a.rows();
      terms.push_back(
          {u_.column_range(rank, ranks), weights_.row_range(width_ + rank, ranks), part.lora->dropout});
      rank += ranks;
    }
    expand(backend_, terms, before_, dx_);
    multiply(backend_, {wide_.column_range(0, width_), weights_.row_range(0, width_), true, dx_, dx_});
  }

  void add_gradients() {
    std::vector<FactorGradientTask> tasks;
    std::int64_t rank = 0;
    std::size_t next_dropped = 0;
    for (const LinearBackwardPart& part : parts_) {
      if (!part.lora) continue;
      const std::int64_t ranks = part.lora->a.rows();
      const TensorView read = has_dropout(*part.lora) ? dropped_[next_dropped++].to : x_;
      // Parts of one fused layer share A, and tasks of one launch may not share what they add to.
      const auto is_shared = [&](const FactorGradientTask& task) {
        return task.gradient.data == part.gradient->a.data;
      };
      if (std::any_of(tasks.begin(), tasks.end(), is_shared)) {
        add_factor_gradients(backend_, tasks);
        tasks.clear();
      }
      tasks.push_back({u_.column_range(rank, ranks), read, 1, part.gradient->a, false});
      rank += ranks;
    }
    for (const LinearBackwardPart& part : parts_) {
      if (part.lora) tasks.push_back({part.lora->xa, part.dy, part.lora->scale, part.gradient->b, true});
    }
    add_factor_gradients(backend_, tasks);
  }

  CudaBackend& backend_;
  const std::span<const LinearBackwardPart> parts_;
  const TensorView x_, dx_, before_;
  const DType compute_;
  const std::int64_t rows_, depth_;                // M, K
  std::int64_t width_ = 0, ranks_ = 0, tail_ = 0;  // N and the branches' ranks of all parts; columns behind N
  bool adjacent_ = true, drops_ = false;
  TensorView weights_, wide_, u_;
  std::vector<DroppedCopy> dropped_;  // of x, one for each branch with dropout
  std::vector<TensorView> factors_;   // (scale B)^T of each branch
};

}  // namespace

void group_backward(CudaBackend& backend, std::span<const LinearBackwardPart> parts, TensorView x,
                    TensorView dx, Write write) {
  Backward(backend, parts, x, dx, write).run();
}

}  // namespace lorikeet::cuda

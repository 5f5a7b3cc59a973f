// SPDX-License-Identifier: Apache-2.0
// y (M,N) = x (M,K) W^T [+ bias] + sum over branches of (x A^T) (scale B)^T [+ residual], for all parts with
// this x:
//   1. W of every part into one scratch matrix (N,K+tail), scale B of its branches in its tail columns, bias
//   too;
//      A of all branches below each other;
//   2. x A^T into xa of the branches and into the columns behind x;
//   3. [x, x A^T, 1] times that matrix: base, branches and bias in one f32 sum, rounded once.
// A branch with dropout reads a copy mask * x, made before step 2 in one launch for all, and its x A^T is
// divided by 1 - p before it is rounded. W, A, scale B and x A^T are rounded to the compute type (design.md
// §10); a bias enters as its rounded value and what that leaves, so nothing of it is lost. Three launches
// where the parts' y lie side by side and x has room behind its rows (Backend::tail_columns); without room x
// is copied first, and separate y are a product each. Bytes for NF4 in bf16, P weights: 0.516 P + 2 P + 2 MK
// + 2P + 2 MK + 2 MN.
#include <vector>

#include "kernels/base/random.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/dequantize.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/linear_group.h"
#include "kernels/cuda/low_rank.h"

namespace lorikeet::cuda {
namespace {

class Forward {
 public:
  Forward(CudaBackend& backend, TensorView x, std::span<const LinearPart> parts, TensorView residual)
      : backend_(backend), x_(x), parts_(parts), residual_(residual), depth_(x.columns()) {
    for (const LinearPart& part : parts) {
      width_ += part.weight->out;
      for (const LoraTerm& term : part.lora) ranks_ += term.a.rows();
      if (part.weight->bias) ones_ = x.dtype == DType::f32 ? 1 : 2;
    }
    if (ranks_ + ones_ > 0) tail_ = round_up(depth_ + ranks_ + ones_, 8) - depth_;
  }

  void run() {
    if (tail_ == 0 && multiply_stored()) return;
    ScratchViews layout;
    weights_ = layout.add(width_, depth_ + tail_, x_.dtype);
    factors_ = layout.add(ranks_, depth_, x_.dtype);
    void* memory = backend_.weight_scratch().get(layout.bytes());
    weights_ = ScratchViews::placed(weights_, memory);
    factors_ = ScratchViews::placed(factors_, memory);
    fill_weights();
    if (tail_ > 0) {
      make_room();
      drop(backend_, x_, dropped_);
      shrink_all();
    }
    multiply_all();
  }

 private:
  /// Without dequantisation; false unless all weights are stored in the compute type.
  bool multiply_stored() {
    for (const LinearPart& part : parts_) {
      if (!is_stored_in(*part.weight, x_.dtype)) return false;
    }
    for (const LinearPart& part : parts_) {
      multiply(backend_, {x_, part.weight->values, false, residual_, part.y});
    }
    return true;
  }

  void fill_weights() {
    std::vector<DequantizeTask> tasks;
    std::vector<FactorTask> factors;
    std::int64_t row = 0, rank = 0;
    for (const LinearPart& part : parts_) {
      const TensorView rows = weights_.row_range(row, part.weight->out);
      tasks.push_back({part.weight, 0, rows.column_range(0, depth_)});
      if (tail_ > 0) add_tail(part, rows, rank, factors);
      for (const LoraTerm& term : part.lora) {
        factors.push_back(
            {factors_.row_range(rank, term.a.rows()), term.a.as<float>(), depth_, 1, 1, 0, depth_});
        rank += term.a.rows();
      }
      row += part.weight->out;
    }
    dequantize(backend_, tasks, factors);
  }

  /// The tail columns of one part's rows: its own branches, whose first column is `rank`, its bias, else
  /// zeros.
  void add_tail(const LinearPart& part, const TensorView& rows, std::int64_t rank,
                std::vector<FactorTask>& factors) {
    std::int64_t done = 0;
    FactorTask piece;
    const auto add = [&](std::int64_t first, std::int64_t count, std::int64_t end) {
      piece.to = rows.column_range(depth_ + done, end - done);
      piece.first = first - done;
      piece.count = count;
      factors.push_back(piece);
      done = end;
    };
    const bool has_bias = static_cast<bool>(part.weight->bias);
    for (std::size_t i = 0; i < part.lora.size(); ++i) {
      const LoraTerm& term = part.lora[i];
      piece.from = term.b.as<float>();
      piece.row_step = term.a.rows();
      piece.column_step = 1;
      piece.scale = term.scale * factor_scale(x_.dtype);
      const std::int64_t end = rank + term.a.rows();
      add(rank, term.a.rows(), i + 1 == part.lora.size() && !has_bias ? tail_ : end);
      rank = end;
    }
    piece.from = part.weight->bias.view().as<float>();
    piece.row_step = 1;
    piece.column_step = 0;
    piece.scale = 1;
    for (std::int64_t i = 0; has_bias && i < ones_; ++i) {
      piece.remainder = i == 1;
      add(ranks_ + i, 1, i + 1 == ones_ ? tail_ : ranks_ + i + 1);
    }
    if (done < tail_) add(done, 0, tail_);  // neither branch nor bias
  }

  /// x with tail_ columns behind its rows, and room for what branches with dropout read instead.
  void make_room() {
    const bool copied = x_.stride() - depth_ < tail_;
    ScratchViews layout;
    wide_ = copied ? layout.add(x_.rows(), depth_ + tail_, x_.dtype) : x_;
    for (const LinearPart& part : parts_) {
      for (const LoraTerm& term : part.lora) {
        if (has_dropout(term)) dropped_.push_back({layout.add(x_.rows(), depth_, x_.dtype), term.dropout});
      }
    }
    if (layout.bytes() > 0) {
      void* memory = backend_.scratch().get(layout.bytes());
      if (copied) wide_ = ScratchViews::placed(wide_, memory);
      for (DroppedCopy& copy : dropped_) copy.to = ScratchViews::placed(copy.to, memory);
    }
    if (copied) backend_.copy(wide_.column_range(0, depth_), x_);
    wide_ = wide_.column_range(0, depth_ + tail_);
  }

  void shrink_all() {
    std::vector<ShrinkGroup> groups;
    std::vector<ShrinkCopy> copies;
    Shrink work;
    work.out = wide_.column_range(depth_, tail_);
    work.ones = ones_;
    work.out_scale = 1 / factor_scale(x_.dtype);
    const auto make = [&] {
      work.groups = groups;
      work.copies = copies;
      shrink(backend_, work);
      groups.clear();
      copies.clear();
    };
    std::int64_t rank = 0;
    std::size_t next_dropped = 0;
    for (const LinearPart& part : parts_) {
      for (const LoraTerm& term : part.lora) {
        const std::int64_t ranks = term.a.rows();
        const TensorView read =
            has_dropout(term) ? dropped_[next_dropped++].to : wide_.column_range(0, depth_);
        const float scale = dropout_scale(term.dropout.probability);
        // Branches that read the same are one group.
        bool joins = !groups.empty() && groups.back().left.data == read.data;
        const bool full =
            copies.size() == most_shrink_copies || (!joins && groups.size() == most_shrink_groups);
        if (full || (!copies.empty() && scale != work.scale)) {
          make();
          joins = false;
        }
        work.scale = scale;
        if (!joins) groups.push_back({read, {}, rank});
        const std::int64_t first = groups.back().column;
        groups.back().right = factors_.row_range(first, rank + ranks - first);
        copies.push_back({term.xa, rank});
        rank += ranks;
      }
    }
    make();
  }

  void multiply_all() {
    const TensorView x = tail_ > 0 ? wide_ : x_;
    bool adjacent = true;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      adjacent = adjacent && follows(parts_[i].y, parts_[i - 1].y);
    }
    const TensorView& y = parts_.front().y;
    if (adjacent && parts_.size() > 1) {
      const std::int64_t stride = std::max(y.stride(), width_);
      multiply(backend_, {x, weights_, false, {}, {y.data, y.dtype, {y.rows(), width_}, stride}});
      return;
    }
    std::int64_t row = 0;
    for (const LinearPart& part : parts_) {
      const std::int64_t out = part.weight->out;
      multiply(backend_, {x, weights_.row_range(row, out), false, residual_, part.y});
      row += out;
    }
  }

  CudaBackend& backend_;
  const TensorView x_;
  const std::span<const LinearPart> parts_;
  const TensorView residual_;
  const std::int64_t depth_;                      // K
  std::int64_t width_ = 0;                        // N of all parts
  std::int64_t ranks_ = 0, ones_ = 0, tail_ = 0;  // columns behind K
  TensorView weights_, factors_, wide_;
  std::vector<DroppedCopy> dropped_;  // of x, one for each branch with dropout
};

}  // namespace

void group_forward(CudaBackend& backend, TensorView x, std::span<const LinearPart> parts,
                   TensorView residual) {
  Forward(backend, x, parts, residual).run();
}

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
// y (M,N) = x (M,K) W^T [+ bias] + sum over branches of (x A^T) (scale B)^T [+ y].
// With dropout a branch reads mask * x, and x A^T is divided by 1 - p before it is rounded. x A^T and scale B
// are rounded to the compute type; the rest is one f32 sum, rounded once (design.md §10).
#include <algorithm>

#include "kernels/base/random.h"
#include "kernels/cpu/linear_engine.h"
#include "kernels/cpu/rank_product.h"
#include "kernels/cpu/small_product.h"

namespace lorikeet {

namespace {

struct BranchPlan {
  int x = 0, a = 0, b = 0, xa = 0;  ///< operands
};

}  // namespace

void LinearEngine::forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y,
                           Write write) {
  const std::int64_t rows = x.rows();
  const bool drops = std::any_of(lora.begin(), lora.end(), has_dropout);
  if (!drops && SmallProduct::serves(weight, product_type(x.dtype), rows))
    return small_forward(x, weight, lora, y, write);
  Layout layout;
  OperandPlan operands(kernels_, x.dtype, product_type(x.dtype), layout);
  const int x_operand = operands.add(x);
  std::vector<BranchPlan> plans;
  for (const LoraTerm& term : lora) {
    const int x_of_branch = has_dropout(term) ? operands.add_dropped(x, term.dropout) : x_operand;
    const int a = operands.add(term.a);
    const int b = operands.add(term.b, term.scale);
    plans.push_back({x_of_branch, a, b, operands.add_room(rows, term.a.rows(), term.xa)});
  }
  TiledProduct::Spec spec = big_product(rows, weight, TiledProduct::Side::rows, x.dtype);
  const WorkerMemory workers(layout, team_.threads(), TiledProduct::panel_bytes(kernels_, spec));
  void* memory = scratch_.get(layout.bytes());
  operands.place(memory);

  spec.x = operands.operand(x_operand);
  TiledProduct tiles(gemm_, kernels_, spec);
  std::vector<RankProduct> branches;
  for (std::size_t i = 0; i < lora.size(); ++i) {
    const BranchPlan& plan = plans[i];
    RankProduct::Spec branch;
    branch.rows = rows;
    branch.rank = lora[i].a.rows();
    branch.depth = weight.in;
    branch.left = operands.operand(plan.x);
    branch.right = operands.operand(plan.a);
    branch.right_transposed = true;
    branch.out = operands.operand(plan.xa);
    branch.stored = lora[i].xa;
    branch.compute = spec.compute;
    branch.product = spec.product;
    branch.scale = dropout_scale(lora[i].dropout.probability);
    branches.emplace_back(gemm_, kernels_, branch);
    tiles.add_term(gemm_, branch.out, operands.operand(plan.b), branch.rank, true);
  }

  const float* bias = weight.bias.view().as<float>();
  team_.run(Team::worth(rows * weight.out * weight.in), [&](int thread) {
    TiledProduct::Worker worker = workers.worker(memory, thread);
    if (!operands.empty()) {
      team_.share(0, operands.pieces(), [&](std::int64_t i) { operands.convert(i); });
      team_.barrier();
    }
    if (!branches.empty()) {
      const std::int64_t each = branches.front().count();
      team_.share(1, each * static_cast<std::int64_t>(branches.size()), [&](std::int64_t i) {
        branches[static_cast<std::size_t>(i / each)].make_tile(gemm_, i % each, thread, worker.tile);
      });
      team_.barrier();
    }
    team_.share(2, tiles.count(), [&](std::int64_t i) {
      tiles.make_tile(gemm_, i, worker, bias, write == Write::accumulate, y);
    });
  });
  gemm_.check();
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// With u (M,r) = dy (scale B): dx (M,K) = dy W + u A [+ dx], dA += u^T x, dB += scale dy^T (x A^T).
// With dropout u is divided by 1 - p before it is rounded, dA takes mask * x, and dx gets mask * (u A).
// scale B and u are rounded to the compute type; sums are f32, over all M rows of a gradient in one order.
#include <optional>
#include <vector>

#include "kernels/base/random.h"
#include "kernels/cpu/linear_engine.h"
#include "kernels/cpu/rank_product.h"

namespace lorikeet {

namespace {

/// Operands of the branch, and the products it adds to a backward pass.
struct BranchPlan {
  int x = 0, a = 0, b = 0, xa = 0, u = 0;
};

}  // namespace

void LinearEngine::backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                            const LoraGradient* gradient, TensorView dx, Write write) {
  const std::int64_t rows = dy.rows();
  const DType product = product_type(dy.dtype);
  Layout layout;
  OperandPlan operands(kernels_, dy.dtype, product, layout);
  const int dy_operand = operands.add(dy);
  const bool drops = lora != nullptr && has_dropout(*lora);
  BranchPlan plan;
  if (lora != nullptr) {
    plan = {drops ? operands.add_dropped(x, lora->dropout) : operands.add(x), operands.add(lora->a),
            operands.add(lora->b, lora->scale), operands.add(lora->xa),
            operands.add_room(rows, lora->a.rows())};
  }
  TiledProduct::Spec spec = big_product(rows, weight, TiledProduct::Side::columns, dy.dtype);
  const std::int64_t panel_bytes = dx ? TiledProduct::panel_bytes(kernels_, spec) : 0;
  const WorkerMemory workers(layout, team_.threads(), panel_bytes, drops && dx);
  void* memory = scratch_.get(layout.bytes());
  operands.place(memory);

  spec.x = operands.operand(dy_operand);
  std::optional<TiledProduct> tiles;
  if (dx) tiles.emplace(gemm_, kernels_, spec);
  std::optional<RankProduct> shrink;
  std::vector<FactorGradient> factors;
  if (lora != nullptr) {
    const std::int64_t rank = lora->a.rows();
    const Operand u = operands.operand(plan.u);
    if (dx) tiles->add_term(gemm_, u, operands.operand(plan.a), rank, false, lora->dropout);
    shrink.emplace(gemm_, kernels_,
                   RankProduct::Spec{rows,
                                     rank,
                                     weight.out,
                                     spec.x,
                                     operands.operand(plan.b),
                                     u,
                                     false,
                                     {},
                                     dy.dtype,
                                     product,
                                     dropout_scale(lora->dropout.probability)});
    factors.emplace_back(gemm_, kernels_,
                         FactorGradient::Spec{rows, rank, weight.in, u, operands.operand(plan.x), 1, product,
                                              gradient->a.as<float>()});
    factors.emplace_back(gemm_, kernels_,
                         FactorGradient::Spec{rows, weight.out, rank, spec.x, operands.operand(plan.xa),
                                              lora->scale, product, gradient->b.as<float>()});
  }

  team_.run(Team::worth(rows * weight.out * weight.in), [&](int thread) {
    TiledProduct::Worker worker = workers.worker(memory, thread);
    if (!operands.empty()) {
      team_.share(0, operands.pieces(), [&](std::int64_t i) { operands.convert(i); });
      team_.barrier();
    }
    if (shrink) {
      team_.share(1, shrink->count(),
                  [&](std::int64_t i) { shrink->make_tile(gemm_, i, thread, worker.tile); });
      team_.barrier();
      const std::int64_t of_a = factors[0].count();
      team_.share(2, of_a + factors[1].count(), [&](std::int64_t i) {
        const FactorGradient& factor = factors[i < of_a ? 0 : 1];
        factor.add_tile(gemm_, i < of_a ? i : i - of_a, thread, worker.tile);
      });
    }
    if (tiles) {
      team_.share(3, tiles->count(), [&](std::int64_t i) {
        tiles->make_tile(gemm_, i, worker, nullptr, write == Write::accumulate, dx);
      });
    }
  });
  gemm_.check();
}

}  // namespace lorikeet

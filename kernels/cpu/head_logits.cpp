// SPDX-License-Identifier: Apache-2.0
// logits (M,V) = h (M,H) head^T [+ bias] in f32, for chat and tests; with soft_cap z becomes cap tanh(z /
// cap).
#include <algorithm>

#include "kernels/cpu/linear_engine.h"
#include "kernels/cpu/small_product.h"

namespace lorikeet {

void LinearEngine::logits(TensorView h, const Weight& head, TensorView logits, float soft_cap) {
  uncapped_logits(h, head, logits);
  if (soft_cap <= 0) return;
  constexpr std::int64_t piece = 4096;
  const std::int64_t count = logits.elements();
  team_.run(Team::worth(count * 64), [&](int) {
    team_.share(0, (count + piece - 1) / piece, [&](std::int64_t i) {
      elements_.soft_cap(logits.as<float>() + i * piece, soft_cap, std::min(piece, count - i * piece));
    });
  });
}

void LinearEngine::uncapped_logits(TensorView h, const Weight& head, TensorView logits) {
  if (SmallProduct::serves(head, product_type(h.dtype), h.rows())) {
    return small_forward(h, head, {}, logits, Write::overwrite);
  }
  Layout layout;
  OperandPlan operands(kernels_, h.dtype, product_type(h.dtype), layout);
  const int h_operand = operands.add(h);
  TiledProduct::Spec product = big_product(h.rows(), head, TiledProduct::Side::rows, h.dtype);
  const WorkerMemory workers(layout, team_.threads(), TiledProduct::panel_bytes(kernels_, product));
  void* memory = scratch_.get(layout.bytes());
  operands.place(memory);
  product.x = operands.operand(h_operand);
  const TiledProduct tiles(gemm_, kernels_, product);
  const float* bias = head.bias.view().as<float>();
  team_.run(Team::worth(h.rows() * head.out * head.in), [&](int thread) {
    TiledProduct::Worker worker = workers.worker(memory, thread);
    if (!operands.empty()) {
      team_.share(0, operands.pieces(), [&](std::int64_t i) { operands.convert(i); });
      team_.barrier();
    }
    team_.share(1, tiles.count(),
                [&](std::int64_t i) { tiles.make_tile(gemm_, i, worker, bias, false, logits); });
  });
  gemm_.check();
}

}  // namespace lorikeet

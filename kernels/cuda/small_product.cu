// SPDX-License-Identifier: Apache-2.0
// Which linear layers of few rows are made from the stored weights, and by which kernels: a group is one
// launch, and one more when it has low-rank branches.
#include "kernels/cuda/small_product.h"

#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/small_operands.cuh"
#include "kernels/cuda/small_steps.h"

namespace lorikeet::cuda {
namespace {

/// Largest M for which the fused product is faster than dequantising and a library's product, by how often
/// the device is filled by blocks of 64 columns. Figures: bitsandbytes' calibrated table (performance of its
/// fused 4-bit product, backends/cuda of version 0.50), rounded to these classes.
struct Crossover {
  int from_capability;
  std::int64_t rows_by_waves[4];  ///< less than one, one, two, three and more
  std::int64_t tall_rows;         ///< K >= 3 N; 0 = no such rule
};
constexpr Crossover crossovers[] = {
    {75, {64, 64, 128, 128}, 0},   // fp16 only: the host never asks for bf16
    {80, {64, 128, 128, 128}, 3},  // A100: the library is far ahead for tall K
    {86, {32, 128, 128, 256}, 0},  // cards with GDDR: RTX 30 and 40
    {90, {16, 32, 48, 64}, 0},     // the library's products are warp-group wide there
    {100, {32, 32, 32, 32}, 0},   {120, {64, 64, 128, 256}, 0},
};

std::int64_t largest_fused_rows(const CudaBackend& backend, std::int64_t columns, std::int64_t width) {
  const Crossover* found = &crossovers[0];
  for (const Crossover& entry : crossovers) {
    if (backend.compute_capability() >= entry.from_capability) found = &entry;
  }
  if (found->tall_rows != 0 && width >= 3 * columns) return found->tall_rows;
  const std::int64_t wave = std::int64_t{64} * std::max(1, backend.multiprocessors());
  return found->rows_by_waves[std::min<std::int64_t>(3, columns / wave)];
}

/// Formats whose weights one kernel reads alike.
int kind_of(WeightFormat format) {
  return is_four_bit(format) ? -1 : static_cast<int>(format);
}

bool is_aligned(const TensorView& x) {
  const bool rows = x.rows() <= 1 || static_cast<std::size_t>(x.stride()) * size_of(x.dtype) % 16 == 0;
  return rows && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

/// Whether rows of the weights begin where gemv's 16-byte steps do.
bool has_whole_steps(const TensorView& x, const Weight& weight) {
  const std::int64_t step = is_four_bit(weight.format)            ? 64
                            : weight.format == WeightFormat::int8 ? gemv_int8_step
                                                                  : gemv_dense_step;
  return is_aligned(x) && weight.in % step == 0;
}

/// Whether x and every branch's A may be read 16 bytes at a time. A lies where the arena of the adapter puts
/// it, which need not be a multiple of 16 bytes.
bool shrinks_in_vectors(const TensorView& x, std::span<const LinearPart> parts) {
  return is_aligned(x) && x.columns() % 4 == 0 &&
         std::all_of(parts.begin(), parts.end(), [](const auto& part) {
           return std::all_of(part.lora.begin(), part.lora.end(),
                              [](const LoraTerm& term) { return is_aligned(term.a); });
         });
}

SmallOperands operands_of(const TensorView& x, std::span<const LinearPart> parts,
                          const TensorView& residual) {
  SmallOperands operands;
  operands.x = x.data;
  operands.x_stride = x.stride();
  operands.width = x.columns();
  operands.rows = static_cast<int>(x.rows());
  operands.residual = residual.data;
  operands.residual_stride = residual ? residual.stride() : 0;
  for (const LinearPart& from : parts) {
    SmallPart& part = operands.parts[operands.part_count++];
    part.weight = stored(*from.weight);
    part.bias = from.weight->bias.view().as<float>();
    part.y = from.y.data;
    part.y_stride = from.y.stride();
    part.out = from.weight->out;
    part.first_branch = operands.branch_count;
    for (const LoraTerm& term : from.lora) {
      SmallBranch& branch = operands.branches[operands.branch_count++];
      branch.a = term.a.as<float>();
      branch.b = term.b.as<float>();
      branch.xa = term.xa.data;
      branch.xa_stride = term.xa.stride();
      branch.rank = static_cast<int>(term.a.rows());
      branch.scale = term.scale;
    }
    part.last_branch = operands.branch_count;
  }
  return operands;
}

/// Parts whose weights are of one kind.
void run(CudaBackend& backend, const TensorView& x, std::span<const LinearPart> parts,
         const TensorView& residual) {
  SmallOperands operands = operands_of(x, parts, residual);
  if (operands.branch_count > 0) small_shrink(backend, x.dtype, operands, shrinks_in_vectors(x, parts));
  if (x.rows() > SmallProduct::most_gemv_rows) return small_gemm(backend, x.dtype, operands);
  const bool vectors = std::all_of(parts.begin(), parts.end(),
                                   [&](const LinearPart& part) { return has_whole_steps(x, *part.weight); });
  gemv(backend, x.dtype, operands, vectors);
}

}  // namespace

bool SmallProduct::serves(const CudaBackend& backend, const TensorView& x,
                          std::span<const LinearPart> parts) {
  std::size_t branches = 0;
  std::int64_t columns = 0;
  for (const LinearPart& part : parts) {
    branches += part.lora.size();
    if (std::any_of(part.lora.begin(), part.lora.end(), has_dropout))
      return false;  // training is of many rows
    columns += part.weight->out;
  }
  if (parts.size() > small_max_parts || branches > small_max_branches || x.rows() == 0) return false;
  if (x.rows() <= most_gemv_rows) return true;
  const bool fits = std::all_of(parts.begin(), parts.end(), [](const LinearPart& part) {
    return is_four_bit(part.weight->format) || part.weight->format == WeightFormat::int8;
  });
  return fits && x.dtype != DType::f32 && x.columns() % 64 == 0 && is_aligned(x) &&
         x.rows() <= largest_fused_rows(backend, columns, x.columns());
}

void SmallProduct::forward(CudaBackend& backend, TensorView x, std::span<const LinearPart> parts,
                           TensorView residual) {
  while (!parts.empty()) {
    std::size_t count = 1;
    while (count < parts.size() && kind_of(parts[count].weight->format) == kind_of(parts[0].weight->format)) {
      ++count;
    }
    run(backend, x, parts.first(count), residual);
    parts = parts.subspan(count);
  }
}

void SmallProduct::logits(CudaBackend& backend, TensorView h, const Weight& head, TensorView logits,
                          float soft_cap) {
  const LinearPart part{&head, {}, logits};
  SmallOperands operands = operands_of(h, {&part, 1}, {});
  operands.y_is_f32 = true;
  operands.soft_cap = soft_cap;
  gemv(backend, h.dtype, operands, has_whole_steps(h, head));
}

}  // namespace lorikeet::cuda

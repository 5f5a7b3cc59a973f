// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/rank_product.h"

namespace lorikeet {

namespace {

GemmShape shape_of(const RankProduct::Spec& spec, const TileGrid& grid) {
  GemmShape shape;
  shape.k = spec.depth;
  shape.lda = spec.left.leading;
  shape.ldb = spec.right.leading;
  shape.ldc = grid.column_step();
  shape.b_transposed = spec.right_transposed;
  shape.input = spec.product;
  return shape;
}

GemmShape shape_of(const FactorGradient::Spec& spec, const TileGrid& grid) {
  GemmShape shape;
  shape.k = spec.rows;
  shape.lda = spec.left.leading;
  shape.ldb = spec.right.leading;
  shape.ldc = grid.column_step();
  shape.a_transposed = true;
  shape.input = spec.product;
  return shape;
}

}  // namespace

RankProduct::RankProduct(Gemm& gemm, const LinearKernels& kernels, const Spec& spec)
    : kernels_(kernels),
      spec_(spec),
      grid_(spec.rows, spec.rank, 128, 128),
      products_(gemm, grid_, shape_of(spec, grid_)) {}

void RankProduct::make_tile(Gemm& gemm, std::int64_t i, int thread, float* sum) const {
  const TileGrid::Tile tile = grid_.tile(i);
  const DType product = spec_.product;
  const void* right = spec_.right_transposed ? spec_.right.at(tile.column, 0, product)
                                             : spec_.right.at(0, tile.column, product);
  gemm.run(products_.of(tile), thread, spec_.left.at(tile.row, 0, product), right, sum);
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    float* from = sum + row * grid_.column_step();
    if (spec_.scale != 1) kernels_.scale_f32(from, spec_.scale, from, tile.columns);
    void* out = const_cast<void*>(spec_.out.at(tile.row + row, tile.column, product));
    if (product == DType::bf16) {
      kernels_.f32_to_bf16(from, static_cast<std::uint16_t*>(out), tile.columns);
    } else if (spec_.compute == DType::bf16) {
      kernels_.round_f32(from, static_cast<float*>(out), tile.columns);
    } else {
      kernels_.scale_f32(from, 1, static_cast<float*>(out), tile.columns);
    }
    if (spec_.stored && spec_.stored.dtype != product) {
      std::uint16_t* stored = spec_.stored.as<std::uint16_t>() + (tile.row + row) * spec_.rank + tile.column;
      kernels_.f32_to_bf16(from, stored, tile.columns);
    }
  }
}

FactorGradient::FactorGradient(Gemm& gemm, const LinearKernels& kernels, const Spec& spec)
    : kernels_(kernels),
      spec_(spec),
      grid_(spec.out, spec.in, 192, 192),
      products_(gemm, grid_, shape_of(spec, grid_)) {}

void FactorGradient::add_tile(Gemm& gemm, std::int64_t i, int thread, float* sum) const {
  const TileGrid::Tile tile = grid_.tile(i);
  gemm.run(products_.of(tile), thread, spec_.left.at(0, tile.row, spec_.product),
           spec_.right.at(0, tile.column, spec_.product), sum);
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    float* to = spec_.gradient + (tile.row + row) * spec_.in + tile.column;
    kernels_.add_scaled(sum + row * grid_.column_step(), spec_.scale, to, tile.columns);
  }
}

}  // namespace lorikeet

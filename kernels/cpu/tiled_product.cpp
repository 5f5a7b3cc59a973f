// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/tiled_product.h"

#include <algorithm>

#include "kernels/cpu/dropout.h"

namespace lorikeet {

namespace {

constexpr std::int64_t weight_rows_step = 256;
constexpr std::int64_t enough_tiles = 32;

std::int64_t tiles_of(std::int64_t extent, std::int64_t step) {
  return (extent + step - 1) / step;
}

}  // namespace

TileGrid::TileGrid(std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step)
    : rows_(rows),
      columns_(columns),
      row_step_(std::min(rows, row_step)),
      column_step_(std::min(columns, column_step)),
      row_tiles_(tiles_of(rows, row_step_)),
      column_tiles_(tiles_of(columns, column_step_)) {}

TileGrid TileGrid::for_weights(std::int64_t rows, std::int64_t columns) {
  const bool wide = tiles_of(rows, weight_rows_step) * tiles_of(columns, 128) >= enough_tiles;
  return {rows, columns, weight_rows_step, wide ? 128 : 64};
}

TileGrid::Tile TileGrid::tile(std::int64_t i) const {
  Tile tile;
  tile.column = i / row_tiles_ * column_step_;
  tile.row = i % row_tiles_ * row_step_;
  tile.columns = std::min(column_step_, columns_ - tile.column);
  tile.rows = std::min(row_step_, rows_ - tile.row);
  return tile;
}

GridProducts::GridProducts(Gemm& gemm, const TileGrid& grid, GemmShape shape)
    : row_step_(grid.row_step()), column_step_(grid.column_step()) {
  for (std::int64_t i = 0; i < grid.count(); ++i) {
    const TileGrid::Tile tile = grid.tile(i);
    Gemm::Handle& handle = products_[index(tile)];
    if (handle) continue;
    shape.m = tile.rows;
    shape.n = tile.columns;
    handle = gemm.prepare(shape);
  }
}

Gemm::Product& GridProducts::of(const TileGrid::Tile& tile) const {
  return *products_[index(tile)];
}

std::size_t GridProducts::index(const TileGrid::Tile& tile) const {
  return (tile.rows == row_step_ ? 0U : 2U) + (tile.columns == column_step_ ? 0U : 1U);
}

TiledProduct::TiledProduct(Gemm& gemm, const LinearKernels& kernels, const Spec& spec)
    : kernels_(kernels), spec_(spec), panels_(kernels, *spec.weight, spec.compute, spec.product) {
  const bool rows = spec.side == Side::rows;
  GemmShape shape;
  shape.k = rows ? spec.weight->in : spec.weight->out;
  shape.lda = spec.x.leading;
  shape.ldb = rows || panels_.direct() ? spec.weight->in : spec.grid.column_step();
  shape.ldc = spec.sum_leading;
  shape.b_transposed = rows;
  shape.input = spec.product;
  products_ = GridProducts(gemm, spec.grid, shape);
}

void TiledProduct::add_term(Gemm& gemm, Operand left, Operand right, std::int64_t depth,
                            bool right_transposed, const LoraDropout& dropout) {
  GemmShape shape;
  shape.k = depth;
  shape.lda = left.leading;
  shape.ldb = right.leading;
  shape.ldc = spec_.sum_leading;
  shape.b_transposed = right_transposed;
  shape.accumulate = dropout.probability == 0;
  shape.input = spec_.product;
  terms_.push_back({left, right, right_transposed, GridProducts(gemm, spec_.grid, shape), dropout});
}

std::int64_t TiledProduct::panel_bytes(const LinearKernels& kernels, const Spec& spec) {
  if (WeightPanels(kernels, *spec.weight, spec.compute, spec.product).direct()) return 0;
  const std::int64_t depth = spec.side == Side::rows ? spec.weight->in : spec.weight->out;
  return depth * spec.grid.column_step() * static_cast<std::int64_t>(size_of(spec.product));
}

Panel TiledProduct::panel(const TileGrid::Tile& tile, Worker& worker) const {
  const bool held = worker.held == tile.column && !panels_.direct();
  worker.held = tile.column;
  if (spec_.side == Side::rows) {
    if (held) return {worker.panel, spec_.weight->in};
    return panels_.rows(tile.column, tile.columns, worker.panel);
  }
  if (held) return {worker.panel, spec_.grid.column_step()};
  return panels_.columns(tile.column, tile.columns, spec_.grid.column_step(), worker.panel);
}

TileGrid::Tile TiledProduct::sum_tile(Gemm& gemm, std::int64_t i, Worker& worker, float* sum) const {
  const TileGrid::Tile tile = spec_.grid.tile(i);
  const Panel weights = panel(tile, worker);
  gemm.run(products_.of(tile), worker.thread, spec_.x.at(tile.row, 0, spec_.product), weights.data, sum);
  for (const Term& term : terms_) {
    if (term.dropout.probability != 0) {
      add_dropped(gemm, term, tile, worker, sum);
      continue;
    }
    const void* right = term.right_transposed ? term.right.at(tile.column, 0, spec_.product)
                                              : term.right.at(0, tile.column, spec_.product);
    gemm.run(term.products.of(tile), worker.thread, term.left.at(tile.row, 0, spec_.product), right, sum);
  }
  return tile;
}

void TiledProduct::add_dropped(Gemm& gemm, const Term& term, const TileGrid::Tile& tile, Worker& worker,
                               float* sum) const {
  const void* right = term.right_transposed ? term.right.at(tile.column, 0, spec_.product)
                                            : term.right.at(0, tile.column, spec_.product);
  gemm.run(term.products.of(tile), worker.thread, term.left.at(tile.row, 0, spec_.product), right,
           worker.term);
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    float* product = worker.term + row * spec_.sum_leading;
    kernels_.drop_f32(dropped_row(term.dropout, tile.row + row), tile.column, product, tile.columns);
    kernels_.add_scaled(product, 1, sum + row * spec_.sum_leading, tile.columns);
  }
}

void TiledProduct::make_tile(Gemm& gemm, std::int64_t i, Worker& worker, const float* bias, bool accumulate,
                             TensorView y) const {
  const TileGrid::Tile tile = sum_tile(gemm, i, worker, worker.tile);
  const std::int64_t width = y.columns();
  const float* tile_bias = bias == nullptr ? nullptr : bias + tile.column;
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    const float* sum = worker.tile + row * spec_.sum_leading;
    const std::int64_t at = (tile.row + row) * width + tile.column;
    if (y.dtype == DType::bf16) {
      kernels_.finish_bf16(sum, tile_bias, accumulate, y.as<std::uint16_t>() + at, tile.columns);
    } else {
      kernels_.finish_f32(sum, tile_bias, accumulate, y.as<float>() + at, tile.columns);
    }
  }
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear_kernels.h"
#include "kernels/cpu/weight_panel.h"
#include "kernels/operands.h"

namespace lorikeet {

/// Floats that hold the sums of any tile: 256 x 128 of the big products, 192 x 192 of gradients.
constexpr std::int64_t tile_floats = 192 * 192;

/// A grid of tiles over an output (rows, columns). Tile sizes follow from the shape alone, so results do not
/// depend on the team.
class TileGrid {
 public:
  struct Tile {
    std::int64_t row = 0, rows = 0, column = 0, columns = 0;
  };
  TileGrid() = default;
  TileGrid(std::int64_t rows, std::int64_t columns, std::int64_t row_step, std::int64_t column_step);
  /// Steps for products with weights: tiles stay in the second-level cache, and there are enough of them for
  /// a team.
  static TileGrid for_weights(std::int64_t rows, std::int64_t columns);

  std::int64_t count() const { return row_tiles_ * column_tiles_; }
  std::int64_t column_tiles() const { return column_tiles_; }
  std::int64_t row_step() const { return row_step_; }
  std::int64_t column_step() const { return column_step_; }
  /// Tile i; neighbours share their columns, so that a thread can use a panel of weights again.
  Tile tile(std::int64_t i) const;

 private:
  std::int64_t rows_ = 0, columns_ = 0, row_step_ = 1, column_step_ = 1, row_tiles_ = 0, column_tiles_ = 0;
};

/// The products of one depth for every tile size of a grid (at most four).
class GridProducts {
 public:
  GridProducts() = default;
  /// `shape` says everything but m and n.
  GridProducts(Gemm& gemm, const TileGrid& grid, GemmShape shape);
  Gemm::Product& of(const TileGrid::Tile& tile) const;

 private:
  std::size_t index(const TileGrid::Tile& tile) const;

  std::array<Gemm::Handle, 4> products_;
  std::int64_t row_step_ = 0, column_step_ = 0;
};

/// A matrix in the product type.
struct Operand {
  const void* data = nullptr;
  std::int64_t leading = 0;

  /// Where element (row, column) of the stored matrix lies.
  const void* at(std::int64_t row, std::int64_t column, DType product) const {
    return static_cast<const char*>(data) +
           (row * leading + column) * static_cast<std::int64_t>(size_of(product));
  }
};

/// Sums of products over the tiles of one output: y (M,N) = x W^T or x W, plus products through a rank, [+
/// bias] [+ y]. A tile's sum is made in f32 and rounded once.
class TiledProduct {
 public:
  enum class Side { rows, columns };  ///< x W^T reads rows of W, x W reads columns

  struct Spec {
    TileGrid grid;  ///< over y
    const Weight* weight = nullptr;
    Side side = Side::rows;
    DType compute = DType::f32;
    DType product = DType::f32;
    Operand x;                     ///< (M,K) for rows, (M,N of W) for columns
    std::int64_t sum_leading = 0;  ///< floats between the rows of a tile's sum
  };
  /// Buffer that each thread needs for weights; 0 when they are read in place. x need not be placed yet.
  static std::int64_t panel_bytes(const LinearKernels& kernels, const Spec& spec);

  TiledProduct(Gemm& gemm, const LinearKernels& kernels, const Spec& spec);
  /// Adds left (M,depth) right (depth,N) to the sum; with `right_transposed`, right is stored (N,depth). With
  /// `dropout` only those elements of the product that it does not leave out.
  void add_term(Gemm& gemm, Operand left, Operand right, std::int64_t depth, bool right_transposed,
                const LoraDropout& dropout = {});

  std::int64_t count() const { return spec_.grid.count(); }

  /// Memory of one thread, and which panel of weights it holds.
  struct Worker {
    int thread = 0;
    float* tile = nullptr;
    float* term = nullptr;  ///< a tile more, where there are terms with dropout
    void* panel = nullptr;
    std::int64_t held = -1;
  };
  /// Adds up tile i in `sum`.
  TileGrid::Tile sum_tile(Gemm& gemm, std::int64_t i, Worker& worker, float* sum) const;
  /// Makes tile i of y (M,N), in the compute type.
  void make_tile(Gemm& gemm, std::int64_t i, Worker& worker, const float* bias, bool accumulate,
                 TensorView y) const;

 private:
  struct Term {
    Operand left, right;
    bool right_transposed = false;
    GridProducts products;
    LoraDropout dropout;
  };
  void add_dropped(Gemm& gemm, const Term& term, const TileGrid::Tile& tile, Worker& worker,
                   float* sum) const;
  Panel panel(const TileGrid::Tile& tile, Worker& worker) const;

  const LinearKernels& kernels_;
  const Spec spec_;
  const WeightPanels panels_;
  GridProducts products_;
  std::vector<Term> terms_;
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// Head and loss in one pass over the vocabulary, as flash attention does it (Dao et al. 2022): with S = h
// head^T (f32), loss = lse - S[target], lse = log sum exp S, and dh = grad_scale * (sum over v != target of
// p_v head_v
// - (1 - p_target) head_target), p = exp(S - lse).
// A unit is some rows and a segment of the vocabulary. It goes through the segment in tiles that stay in the
// cache and keeps for each row the largest logit m so far, the sum of exp(S - m), and sum of exp(S - m)
// head_v without the target, rescaled when m grows. exp(S - m) is rounded to the compute type for the second
// product; the target's share, in which p would cancel, is added in f32. Units are put together in order,
// sums of exponentials in double.
// With a soft cap S is cap tanh(s / cap) of the product s, and every share gets the factor 1 - (S / cap)^2.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/cpu/linear_engine.h"

namespace lorikeet {

namespace {

constexpr std::int64_t chunk_rows = 1024;  // bounds the units' memory
constexpr std::int64_t block_rows = 256;   // of a unit
constexpr std::int64_t tile_columns = 128;
constexpr std::int64_t units_of_chunk = 16;
constexpr std::int64_t rows_per_task = 8;

/// What a unit knows of a row.
struct RowState {
  double sum = 0;  ///< of exp(logit - largest)
  float largest = 0;
  float target_logit = 0;  ///< set by the unit that has the target
  std::int64_t place = 0;  ///< the first column of the largest
};

struct RowLoss {
  double loss = 0;
  double correct = 0;
};

std::int64_t parts_of(std::int64_t extent, std::int64_t step) {
  return (extent + step - 1) / step;
}

}  // namespace

/// Up to chunk_rows rows of a call.
class LinearEngine::LossChunk {
 public:
  LossChunk(LinearEngine& engine, TensorView h, const Weight& head, TensorView targets, float grad_scale,
            TensorView dh, float soft_cap);
  /// Adds loss and hits to total[0] and total[1].
  void run(double* total);

 private:
  struct Unit {
    std::int64_t index = 0;
    std::int64_t row = 0, rows = 0;
    std::int64_t first = 0, last = 0;  ///< columns
  };
  struct Buffers {
    float* logits = nullptr;  ///< (block_rows, tile_columns)
    void* shares = nullptr;   ///< the same of the product type
    void* panel = nullptr;    ///< (tile_columns, H) of the product type
  };

  void prepare();
  void prepare_products();
  Unit unit(std::int64_t index) const;
  Buffers buffers(int thread) const;
  void run_unit(const Unit& unit, int thread);
  void add_row(const Unit& unit, std::int64_t row, std::int64_t column, std::int64_t columns,
               const Buffers& buffers);
  void raise_largest(const Unit& unit, std::int64_t row, float top, std::int64_t place);
  void finish_row(std::int64_t row, int thread);
  void row_gradient(std::int64_t row, double lse, float target_logit, int thread);
  void add_target(std::int64_t row, float factor, float* gradient, const Buffers& buffer);
  float* row_sum(const Unit& unit, std::int64_t row) const {
    return sums_ + (unit.index * block_rows + row) * width_;
  }

  LinearEngine& engine_;
  const LinearKernels& kernels_;
  const TensorView h_, targets_, dh_;
  const Weight& head_;
  const float grad_scale_, soft_cap_;  ///< cap 0 = none
  const std::int64_t rows_, vocabulary_, width_;
  const DType product_;
  const WeightPanels panels_;
  std::int64_t blocks_ = 0, segments_ = 0, segment_columns_ = 0;
  Layout layout_;
  OperandPlan operands_;
  Operand h_operand_;
  std::int64_t buffers_at_ = 0, buffer_bytes_ = 0, shares_at_ = 0, panel_at_ = 0;
  char* memory_ = nullptr;
  float* sums_ = nullptr;       ///< (units, block_rows, H)
  RowState* states_ = nullptr;  ///< (units, block_rows)
  RowLoss* losses_ = nullptr;   ///< (rows)
  /// By [short block of rows][short tile]: logits, and sums that start or go on.
  Gemm::Handle logits_products_[2][2], first_products_[2][2], more_products_[2][2];
};

LinearEngine::LossChunk::LossChunk(LinearEngine& engine, TensorView h, const Weight& head, TensorView targets,
                                   float grad_scale, TensorView dh, float soft_cap)
    : engine_(engine),
      kernels_(engine.kernels_),
      h_(h),
      targets_(targets),
      dh_(dh),
      head_(head),
      grad_scale_(grad_scale),
      soft_cap_(soft_cap),
      rows_(h.rows()),
      vocabulary_(head.out),
      width_(head.in),
      product_(engine.product_type(h.dtype)),
      panels_(kernels_, head, h.dtype, product_),
      operands_(kernels_, h.dtype, product_, layout_) {
  blocks_ = parts_of(rows_, block_rows);
  const std::int64_t tiles = parts_of(vocabulary_, tile_columns);
  segment_columns_ = parts_of(tiles, std::max<std::int64_t>(1, units_of_chunk / blocks_)) * tile_columns;
  segments_ = parts_of(vocabulary_, segment_columns_);
  prepare();
  prepare_products();
}

void LinearEngine::LossChunk::prepare() {
  const int h = operands_.add(h_);
  const auto size = static_cast<std::int64_t>(size_of(product_));
  const std::int64_t units = blocks_ * segments_;
  const std::int64_t sums = layout_.take(dh_ ? units * block_rows * width_ * 4 : 0);
  const std::int64_t states = layout_.take(units * block_rows * std::int64_t{sizeof(RowState)});
  const std::int64_t losses = layout_.take(rows_ * std::int64_t{sizeof(RowLoss)});
  Layout of_thread;
  of_thread.take(block_rows * tile_columns * 4);
  shares_at_ = of_thread.take(block_rows * tile_columns * size);
  panel_at_ =
      of_thread.take(tile_columns * width_ * size);  // the target's row at the end, when all is read in place
  buffer_bytes_ = of_thread.bytes();
  buffers_at_ = layout_.take(buffer_bytes_ * engine_.team_.threads());
  memory_ = static_cast<char*>(engine_.scratch_.get(layout_.bytes()));
  operands_.place(memory_);
  h_operand_ = operands_.operand(h);
  sums_ = reinterpret_cast<float*>(memory_ + sums);
  states_ = reinterpret_cast<RowState*>(memory_ + states);
  losses_ = reinterpret_cast<RowLoss*>(memory_ + losses);
}

void LinearEngine::LossChunk::prepare_products() {
  const std::int64_t row_sizes[2] = {std::min(rows_, block_rows), rows_ % block_rows};
  const std::int64_t column_sizes[2] = {std::min(vocabulary_, tile_columns), vocabulary_ % tile_columns};
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 2; ++c) {
      if (row_sizes[r] == 0 || column_sizes[c] == 0) continue;
      GemmShape shape;
      shape.m = row_sizes[r];
      shape.n = column_sizes[c];
      shape.k = shape.lda = shape.ldb = width_;
      shape.ldc = tile_columns;
      shape.b_transposed = true;
      shape.input = product_;
      logits_products_[r][c] = engine_.gemm_.prepare(shape);
      if (!dh_) continue;
      shape.n = shape.ldb = shape.ldc = width_;
      shape.k = column_sizes[c];
      shape.lda = tile_columns;
      shape.b_transposed = false;
      first_products_[r][c] = engine_.gemm_.prepare(shape);
      shape.accumulate = true;
      more_products_[r][c] = engine_.gemm_.prepare(shape);
    }
  }
}

LinearEngine::LossChunk::Unit LinearEngine::LossChunk::unit(std::int64_t index) const {
  Unit unit;
  unit.index = index;
  unit.row = index / segments_ * block_rows;
  unit.rows = std::min(block_rows, rows_ - unit.row);
  unit.first = index % segments_ * segment_columns_;
  unit.last = std::min(vocabulary_, unit.first + segment_columns_);
  return unit;
}

LinearEngine::LossChunk::Buffers LinearEngine::LossChunk::buffers(int thread) const {
  char* base = memory_ + buffers_at_ + thread * buffer_bytes_;
  return {reinterpret_cast<float*>(base), base + shares_at_, base + panel_at_};
}

void LinearEngine::LossChunk::run_unit(const Unit& unit, int thread) {
  const Buffers buffer = buffers(thread);
  const int r = unit.rows < std::min(rows_, block_rows) ? 1 : 0;
  for (std::int64_t row = 0; row < unit.rows; ++row) {
    states_[unit.index * block_rows + row] = {0, -std::numeric_limits<float>::infinity(), 0, 0};
  }
  for (std::int64_t column = unit.first; column < unit.last; column += tile_columns) {
    const std::int64_t columns = std::min(tile_columns, unit.last - column);
    const int c = columns < std::min(vocabulary_, tile_columns) ? 1 : 0;
    const Panel panel = panels_.rows(column, columns, buffer.panel);
    engine_.gemm_.run(*logits_products_[r][c], thread, h_operand_.at(unit.row, 0, product_), panel.data,
                      buffer.logits);
    for (std::int64_t row = 0; row < unit.rows; ++row) add_row(unit, row, column, columns, buffer);
    if (!dh_) continue;
    Gemm::Product& product = column == unit.first ? *first_products_[r][c] : *more_products_[r][c];
    engine_.gemm_.run(product, thread, buffer.shares, panel.data, row_sum(unit, 0));
  }
}

/// Takes a row of a tile of logits into the row's state and leaves its shares for the second product.
void LinearEngine::LossChunk::add_row(const Unit& unit, std::int64_t row, std::int64_t column,
                                      std::int64_t columns, const Buffers& buffer) {
  float* logits = buffer.logits + row * tile_columns;
  if (head_.bias) kernels_.add_scaled(head_.bias.view().as<float>() + column, 1, logits, columns);
  if (soft_cap_ > 0) engine_.elements_.soft_cap(logits, soft_cap_, columns);
  RowState& state = states_[unit.index * block_rows + row];
  const float top = kernels_.largest(logits, columns);
  if (!(top <= state.largest)) {  // NaN too
    std::int64_t place = 0;
    while (place + 1 < columns && logits[place] != top) ++place;
    raise_largest(unit, row, top, column + place);
  }
  const std::int64_t target = targets_.as<std::int32_t>()[unit.row + row] - column;
  const bool has_target = target >= 0 && target < columns;
  if (has_target) state.target_logit = logits[target];
  if (!dh_) {
    state.sum += static_cast<double>(kernels_.sum_of_exponentials(logits, state.largest, columns));
    return;
  }
  if (product_ == DType::bf16) {
    std::uint16_t* shares = static_cast<std::uint16_t*>(buffer.shares) + row * tile_columns;
    state.sum += static_cast<double>(kernels_.exponentials_bf16(logits, state.largest, shares, columns));
    if (soft_cap_ > 0) engine_.elements_.soft_cap_backward[1](shares, logits, soft_cap_, columns);
    if (has_target) shares[target] = 0;
  } else {
    float* shares = static_cast<float*>(buffer.shares) + row * tile_columns;
    const bool rounded = h_.dtype == DType::bf16;
    state.sum +=
        static_cast<double>(kernels_.exponentials_f32(logits, state.largest, rounded, shares, columns));
    if (soft_cap_ > 0) engine_.elements_.soft_cap_backward[0](shares, logits, soft_cap_, columns);
    if (has_target) shares[target] = 0;
  }
}

void LinearEngine::LossChunk::raise_largest(const Unit& unit, std::int64_t row, float top,
                                            std::int64_t place) {
  RowState& state = states_[unit.index * block_rows + row];
  const float factor = std::exp(state.largest - top);
  const bool first = std::isinf(state.largest) && state.largest < 0;
  state.largest = top;
  state.place = place;
  if (first) return;
  state.sum *= static_cast<double>(factor);
  if (dh_) kernels_.scale_f32(row_sum(unit, row), factor, row_sum(unit, row), width_);
}

void LinearEngine::LossChunk::finish_row(std::int64_t row, int thread) {
  const std::int64_t first_unit = row / block_rows * segments_;
  const auto state_of = [&](std::int64_t segment) -> const RowState& {
    return states_[(first_unit + segment) * block_rows + row % block_rows];
  };
  std::int64_t best = 0;
  for (std::int64_t s = 1; s < segments_; ++s) {
    if (state_of(s).largest > state_of(best).largest) best = s;
  }
  const auto largest = static_cast<double>(state_of(best).largest);
  double sum = 0;
  for (std::int64_t s = 0; s < segments_; ++s) {
    sum += state_of(s).sum * std::exp(static_cast<double>(state_of(s).largest) - largest);
  }
  const double lse = largest + std::log(sum);
  const std::int64_t target = targets_.as<std::int32_t>()[row];
  const float target_logit = state_of(target / segment_columns_).target_logit;
  losses_[row] = {lse - static_cast<double>(target_logit), state_of(best).place == target ? 1.0 : 0.0};
  if (dh_) row_gradient(row, lse, target_logit, thread);
}

void LinearEngine::LossChunk::row_gradient(std::int64_t row, double lse, float target_logit, int thread) {
  const Buffers buffer = buffers(thread);
  float* gradient = row_sum(unit(row / block_rows * segments_), row % block_rows);
  for (std::int64_t s = 0; s < segments_; ++s) {
    const Unit of = unit(row / block_rows * segments_ + s);
    const RowState& state = states_[of.index * block_rows + row % block_rows];
    const auto factor = static_cast<float>(static_cast<double>(grad_scale_) *
                                           std::exp(static_cast<double>(state.largest) - lse));
    const float* part = row_sum(of, row % block_rows);
    if (s == 0) {
      kernels_.scale_f32(part, factor, gradient, width_);
    } else {
      kernels_.add_scaled(part, factor, gradient, width_);
    }
  }
  double below = std::expm1(static_cast<double>(target_logit) - lse);  // p - 1
  if (soft_cap_ > 0) {
    const double ratio = static_cast<double>(target_logit / soft_cap_);
    below *= 1 - ratio * ratio;
  }
  add_target(row, static_cast<float>(static_cast<double>(grad_scale_) * below), gradient, buffer);
  if (dh_.dtype == DType::bf16) {
    kernels_.f32_to_bf16(gradient, dh_.as<std::uint16_t>() + row * width_, width_);
  } else {
    kernels_.scale_f32(gradient, 1, dh_.as<float>() + row * width_, width_);
  }
}

/// gradient += factor * head_target.
void LinearEngine::LossChunk::add_target(std::int64_t row, float factor, float* gradient,
                                         const Buffers& buffer) {
  const Panel target = panels_.rows(targets_.as<std::int32_t>()[row], 1, buffer.panel);
  if (product_ == DType::f32) {
    kernels_.add_scaled(static_cast<const float*>(target.data), factor, gradient, width_);
    return;
  }
  const auto* values = static_cast<const std::uint16_t*>(target.data);
  constexpr std::int64_t step = block_rows * tile_columns;  // what the buffer of logits holds
  for (std::int64_t i = 0; i < width_; i += step) {
    const std::int64_t n = std::min(step, width_ - i);
    kernels_.bf16_to_f32(values + i, buffer.logits, n);
    kernels_.add_scaled(buffer.logits, factor, gradient + i, n);
  }
}

void LinearEngine::LossChunk::run(double* total) {
  Team& team = engine_.team_;
  team.run(Team::worth(rows_ * vocabulary_ * width_), [&](int thread) {
    if (!operands_.empty()) {
      team.share(0, operands_.pieces(), [&](std::int64_t i) { operands_.convert(i); });
      team.barrier();
    }
    team.share(1, blocks_ * segments_, [&](std::int64_t i) { run_unit(unit(i), thread); });
    team.barrier();
    team.share(2, parts_of(rows_, rows_per_task), [&](std::int64_t i) {
      const std::int64_t last = std::min(rows_, (i + 1) * rows_per_task);
      for (std::int64_t row = i * rows_per_task; row < last; ++row) finish_row(row, thread);
    });
  });
  engine_.gemm_.check();
  for (std::int64_t row = 0; row < rows_; ++row) {
    total[0] += losses_[row].loss;
    total[1] += losses_[row].correct;
  }
}

void LinearEngine::cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                                 TensorView sums, TensorView dh, float soft_cap) {
  const std::int64_t rows = h.rows();
  for (std::int64_t first = 0; first < rows; first += chunk_rows) {
    const std::int64_t count = std::min(chunk_rows, rows - first);
    LossChunk chunk(*this, h.row_range(first, count), head, targets.row_range(first, count), grad_scale,
                    dh ? dh.row_range(first, count) : TensorView{}, soft_cap);
    chunk.run(sums.as<double>());
  }
}

}  // namespace lorikeet

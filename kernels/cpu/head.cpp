// SPDX-License-Identifier: Apache-2.0
// Head and loss: logits (R,V) = h head^T in f32, loss = sum of log(sum exp logits) - logits[target], gradient of the
// logits g = grad_scale * (softmax - onehot), rounded to the compute type, dh = g head. Rows go in chunks, so that the
// logits of all rows never exist; a chunk's logits become their gradient in place. Every tile of logits leaves its
// largest value and its sum of exponentials behind, and each row adds those up in double and in the tiles' order.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/cpu/linear_engine.h"

namespace lorikeet {

namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{48} << 20;  // of logits
constexpr std::int64_t rows_per_task = 4;

struct Statistic {
  float largest = 0;
  float sum = 0;          ///< of exp(logit - largest)
  std::int64_t place = 0; ///< column of the largest
};

struct RowLoss {
  double loss = 0;
  double correct = 0;
};

std::int64_t chunk_rows(std::int64_t rows, std::int64_t vocabulary) {
  const std::int64_t fitting = chunk_bytes / (vocabulary * 4) / 64 * 64;
  return std::min(rows, std::max<std::int64_t>(64, fitting));
}

/// What the tiles of a row know together: log of the sum of exponentials, and where the largest logit stands.
struct Softmax {
  double lse = 0;
  std::int64_t place = 0;
};

Softmax combine(const Statistic* parts, std::int64_t count) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    if (parts[i].largest > parts[best].largest) best = i;
  }
  const auto largest = static_cast<double>(parts[best].largest);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(parts[i].sum) * std::exp(static_cast<double>(parts[i].largest) - largest);
  }
  return {largest + std::log(sum), parts[best].place};
}

}  // namespace

/// Some rows of a call, and the working memory they use.
class LinearEngine::LossChunk {
 public:
  LossChunk(LinearEngine& engine, TensorView h, const Weight& head, TensorView targets, float grad_scale,
            TensorView dh);
  /// Adds loss and hits to total[0] and total[1].
  void run(double* total);

 private:
  void prepare();
  void logits_tile(std::int64_t i, TiledProduct::Worker& worker);
  void finish_row(std::int64_t row);
  void row_gradient(float* values, std::int32_t target, double lse) const;

  LinearEngine& engine_;
  const LinearKernels& kernels_;
  const TensorView h_, targets_, dh_;
  const Weight& head_;
  const float grad_scale_;
  const std::int64_t rows_, vocabulary_;
  Layout layout_;
  OperandPlan operands_;
  TiledProduct::Spec forward_spec_, backward_spec_;
  std::int64_t column_tiles_ = 0;
  std::optional<WorkerMemory> workers_;
  char* memory_ = nullptr;
  float* logits_ = nullptr;
  Statistic* statistics_ = nullptr;
  RowLoss* losses_ = nullptr;
  std::optional<TiledProduct> forward_, backward_;
};

LinearEngine::LossChunk::LossChunk(LinearEngine& engine, TensorView h, const Weight& head, TensorView targets,
                                   float grad_scale, TensorView dh)
    : engine_(engine),
      kernels_(engine.kernels_),
      h_(h),
      targets_(targets),
      dh_(dh),
      head_(head),
      grad_scale_(grad_scale),
      rows_(h.rows()),
      vocabulary_(head.out),
      operands_(kernels_, h.dtype, engine.product_type(h.dtype), layout_) {
  prepare();
}

void LinearEngine::LossChunk::prepare() {
  const int h = operands_.add(h_);
  forward_spec_ = engine_.big_product(rows_, head_, TiledProduct::Side::rows, h_.dtype);
  forward_spec_.sum_leading = vocabulary_;
  backward_spec_ = engine_.big_product(rows_, head_, TiledProduct::Side::columns, h_.dtype);
  column_tiles_ = forward_spec_.grid.column_tiles();
  const std::int64_t logits = layout_.take(rows_ * vocabulary_ * 4);
  const std::int64_t statistics = layout_.take(rows_ * column_tiles_ * std::int64_t{sizeof(Statistic)});
  const std::int64_t losses = layout_.take(rows_ * std::int64_t{sizeof(RowLoss)});
  std::int64_t panel = TiledProduct::panel_bytes(kernels_, forward_spec_);
  if (dh_) panel = std::max(panel, TiledProduct::panel_bytes(kernels_, backward_spec_));
  workers_.emplace(layout_, engine_.team_.threads(), panel);
  memory_ = static_cast<char*>(engine_.scratch_.get(layout_.bytes()));
  operands_.place(memory_);
  logits_ = reinterpret_cast<float*>(memory_ + logits);
  statistics_ = reinterpret_cast<Statistic*>(memory_ + statistics);
  losses_ = reinterpret_cast<RowLoss*>(memory_ + losses);
  forward_spec_.x = operands_.operand(h);
  forward_.emplace(engine_.gemm_, kernels_, forward_spec_);
  if (!dh_) return;
  // the gradient of a row lies where its logits lay; in bf16 it fills half of that room
  backward_spec_.x = {logits_, backward_spec_.product == DType::bf16 ? 2 * vocabulary_ : vocabulary_};
  backward_.emplace(engine_.gemm_, kernels_, backward_spec_);
}

void LinearEngine::LossChunk::logits_tile(std::int64_t i, TiledProduct::Worker& worker) {
  const TileGrid::Tile tile = forward_spec_.grid.tile(i);
  float* sum = logits_ + tile.row * vocabulary_ + tile.column;
  forward_->sum_tile(engine_.gemm_, i, worker, sum);
  const float* bias = head_.bias.view().as<float>();
  for (std::int64_t row = 0; row < tile.rows; ++row) {
    float* values = sum + row * vocabulary_;
    if (bias != nullptr) kernels_.add_scaled(bias + tile.column, 1, values, tile.columns);
    Statistic& of = statistics_[(tile.row + row) * column_tiles_ + tile.column / forward_spec_.grid.column_step()];
    kernels_.softmax_statistics(values, tile.columns, &of.largest, &of.place, &of.sum);
    of.place += tile.column;
  }
}

void LinearEngine::LossChunk::finish_row(std::int64_t row) {
  const std::int32_t target = targets_.as<std::int32_t>()[row];
  float* values = logits_ + row * vocabulary_;
  const Softmax softmax = combine(statistics_ + row * column_tiles_, column_tiles_);
  losses_[row] = {softmax.lse - static_cast<double>(values[target]), softmax.place == target ? 1.0 : 0.0};
  if (dh_) row_gradient(values, target, softmax.lse);
}

void LinearEngine::LossChunk::row_gradient(float* values, std::int32_t target, double lse) const {
  const double below = static_cast<double>(values[target]) - lse;
  const auto at_target = static_cast<float>(static_cast<double>(grad_scale_) * std::expm1(below));  // p - 1, exactly
  const auto lse_rounded = static_cast<float>(lse);
  if (backward_spec_.product == DType::bf16) {
    auto* gradient = reinterpret_cast<std::uint16_t*>(values);
    kernels_.softmax_gradient_bf16(values, lse_rounded, grad_scale_, gradient, vocabulary_);
    kernels_.f32_to_bf16(&at_target, gradient + target, 1);
    return;
  }
  const bool rounded = h_.dtype == DType::bf16;
  kernels_.softmax_gradient_f32(values, lse_rounded, grad_scale_, rounded, values, vocabulary_);
  values[target] = at_target;
  if (rounded) kernels_.round_f32(values + target, values + target, 1);
}

void LinearEngine::LossChunk::run(double* total) {
  Team& team = engine_.team_;
  team.run(true, [&](int thread) {
    TiledProduct::Worker worker = workers_->worker(memory_, thread);
    if (!operands_.empty()) {
      team.share(0, operands_.pieces(), [&](std::int64_t i) { operands_.convert(i); });
      team.barrier();
    }
    team.share(1, forward_->count(), [&](std::int64_t i) { logits_tile(i, worker); });
    team.barrier();
    team.share(2, (rows_ + rows_per_task - 1) / rows_per_task, [&](std::int64_t i) {
      const std::int64_t last = std::min(rows_, (i + 1) * rows_per_task);
      for (std::int64_t row = i * rows_per_task; row < last; ++row) finish_row(row);
    });
    if (!backward_) return;
    team.barrier();
    worker.held = -1;
    team.share(3, backward_->count(), [&](std::int64_t i) {
      backward_->make_tile(engine_.gemm_, i, worker, nullptr, false, dh_);
    });
  });
  engine_.gemm_.check();
  for (std::int64_t row = 0; row < rows_; ++row) {
    total[0] += losses_[row].loss;
    total[1] += losses_[row].correct;
  }
}

void LinearEngine::cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                                 TensorView sums, TensorView dh) {
  const std::int64_t rows = h.rows();
  const std::int64_t step = chunk_rows(rows, head.out);
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    LossChunk chunk(*this, h.row_range(first, count), head, targets.row_range(first, count), grad_scale,
                    dh ? dh.row_range(first, count) : TensorView{});
    chunk.run(sums.as<double>());
  }
}

void LinearEngine::logits(TensorView h, const Weight& head, TensorView logits) {
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
  team_.run(true, [&](int thread) {
    TiledProduct::Worker worker = workers.worker(memory, thread);
    if (!operands.empty()) {
      team_.share(0, operands.pieces(), [&](std::int64_t i) { operands.convert(i); });
      team_.barrier();
    }
    team_.share(1, tiles.count(), [&](std::int64_t i) { tiles.make_tile(gemm_, i, worker, bias, false, logits); });
  });
  gemm_.check();
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/linear_engine.h"

#include <algorithm>

#include "kernels/cpu/dropout.h"
#include "kernels/cpu/simd/select.h"

namespace lorikeet {

namespace {

constexpr std::int64_t usual_piece = 1 << 14;
constexpr std::int64_t conversion_step = 1024;

}  // namespace

LinearEngine::LinearEngine(Backend& backend, Isa isa, int threads)
    : isa_(isa),
      kernels_(linear_kernels(isa)),
      elements_(*simd::kernels_for(isa).elements),
      team_(threads),
      gemm_(backend, isa, threads),
      scratch_(backend) {}

DType LinearEngine::product_type(DType compute) const {
  return compute == DType::bf16 && isa_ == Isa::avx512_bf16 ? DType::bf16 : DType::f32;
}

TiledProduct::Spec LinearEngine::big_product(std::int64_t rows, const Weight& weight, TiledProduct::Side side,
                                             DType compute) const {
  TiledProduct::Spec spec;
  spec.grid = TileGrid::for_weights(rows, side == TiledProduct::Side::rows ? weight.out : weight.in);
  spec.weight = &weight;
  spec.side = side;
  spec.compute = compute;
  spec.product = product_type(compute);
  spec.sum_leading = spec.grid.column_step();
  return spec;
}

WorkerMemory::WorkerMemory(Layout& layout, int threads, std::int64_t panel_bytes, bool with_term)
    : panel_bytes_((panel_bytes + 63) / 64 * 64),
      tile_offset_(layout.take(threads * tile_floats * 4)),
      panel_offset_(layout.take(threads * panel_bytes_)),
      term_offset_(with_term ? layout.take(threads * tile_floats * 4) : -1) {}

TiledProduct::Worker WorkerMemory::worker(void* memory, int thread) const {
  char* base = static_cast<char*>(memory);
  TiledProduct::Worker worker;
  worker.thread = thread;
  worker.tile = reinterpret_cast<float*>(base + tile_offset_) + thread * tile_floats;
  worker.panel = base + panel_offset_ + thread * panel_bytes_;
  if (term_offset_ >= 0) worker.term = reinterpret_cast<float*>(base + term_offset_) + thread * tile_floats;
  return worker;
}

int OperandPlan::add(TensorView from, float factor) {
  Entry entry;
  entry.from = from;
  entry.factor = factor;
  entry.columns = from.columns();
  const bool exact =
      product_ == DType::bf16 || compute_ == DType::f32;  // nothing to round in the stored type
  if (from.dtype != product_ || factor != 1 || !exact) return add_copy(entry, usual_piece);
  entries_.push_back(entry);
  return static_cast<int>(entries_.size()) - 1;
}

int OperandPlan::add_dropped(TensorView from, const LoraDropout& dropout) {
  Entry entry;
  entry.from = from;
  entry.columns = from.columns();
  entry.dropout = dropout;
  return add_copy(entry, std::max<std::int64_t>(1, usual_piece / entry.columns) * entry.columns);
}

int OperandPlan::add_copy(Entry entry, std::int64_t piece_elements) {
  const std::int64_t elements = entry.from.elements();
  entry.offset = layout_.take(elements * static_cast<std::int64_t>(size_of(product_)));
  entry.first_piece = pieces_;
  entry.piece_elements = piece_elements;
  entry.pieces = (elements + piece_elements - 1) / piece_elements;
  pieces_ += entry.pieces;
  entries_.push_back(entry);
  return static_cast<int>(entries_.size()) - 1;
}

int OperandPlan::add_room(std::int64_t rows, std::int64_t columns, TensorView stored) {
  Entry entry;
  entry.columns = columns;
  if (stored && stored.dtype == product_) {
    entry.from = stored;
  } else {
    entry.offset = layout_.take(rows * columns * static_cast<std::int64_t>(size_of(product_)));
  }
  entries_.push_back(entry);
  return static_cast<int>(entries_.size()) - 1;
}

Operand OperandPlan::operand(int index) const {
  const Entry& entry = entries_[static_cast<std::size_t>(index)];
  return {entry.offset < 0 ? entry.from.data : memory_ + entry.offset, entry.columns};
}

void OperandPlan::convert(std::int64_t piece) const {
  for (const Entry& entry : entries_) {
    if (piece < entry.first_piece || piece >= entry.first_piece + entry.pieces) continue;
    const std::int64_t first = (piece - entry.first_piece) * entry.piece_elements;
    const std::int64_t count = std::min(entry.piece_elements, entry.from.elements() - first);
    if (entry.dropout.probability != 0) return convert_rows(entry, first, count);
    return convert_range(entry, first, count);
  }
}

void OperandPlan::convert_range(const Entry& entry, std::int64_t first, std::int64_t count) const {
  for (std::int64_t i = 0; i < count; i += conversion_step) {
    convert_some(entry, first + i, std::min(conversion_step, count - i), nullptr);
  }
}

void OperandPlan::convert_rows(const Entry& entry, std::int64_t first, std::int64_t count) const {
  for (std::int64_t row = first / entry.columns; row * entry.columns < first + count; ++row) {
    const DroppedRow dropped = dropped_row(entry.dropout, row);
    for (std::int64_t i = 0; i < entry.columns; i += conversion_step) {
      convert_some(entry, row * entry.columns + i, std::min(conversion_step, entry.columns - i), &dropped);
    }
  }
}

/// At most conversion_step elements; with `dropped` all of one row, from a multiple of that on.
void OperandPlan::convert_some(const Entry& entry, std::int64_t first, std::int64_t count,
                               const DroppedRow* dropped) const {
  float values[conversion_step];
  char* to = memory_ + entry.offset + first * static_cast<std::int64_t>(size_of(product_));
  if (entry.from.dtype == DType::bf16) {
    kernels_.bf16_to_f32(entry.from.as<std::uint16_t>() + first, values, count);
    kernels_.scale_f32(values, entry.factor, values, count);
  } else {
    kernels_.scale_f32(entry.from.as<float>() + first, entry.factor, values, count);
  }
  if (dropped) kernels_.drop_f32(*dropped, first % entry.columns, values, count);
  if (product_ == DType::bf16) {
    kernels_.f32_to_bf16(values, reinterpret_cast<std::uint16_t*>(to), count);
  } else if (compute_ == DType::bf16) {
    kernels_.round_f32(values, reinterpret_cast<float*>(to), count);
  } else {
    kernels_.scale_f32(values, 1, reinterpret_cast<float*>(to), count);
  }
}

}  // namespace lorikeet

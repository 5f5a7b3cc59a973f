// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear_kernels.h"
#include "kernels/cpu/team.h"
#include "kernels/cpu/tiled_product.h"

namespace lorikeet {

/// Linear layers and the head on the processor. Operands are checked by CpuBackend before.
///
/// Every operation is a few phases of one team: operands are brought into the product type, products through
/// the rank are made, then the tiles of the big product. The product type is bf16 where the compute type is
/// bf16 and the processor multiplies bf16, else f32 (of values rounded to the compute type).
class LinearEngine {
 public:
  LinearEngine(Backend& backend, Isa isa, int threads);

  void forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y, Write write);
  void backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                const LoraGradient* gradient, TensorView dx, Write write);
  void cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale, TensorView sums,
                     TensorView dh, float soft_cap);
  void logits(TensorView h, const Weight& head, TensorView logits, float soft_cap);
  void row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms);
  void expand_rows(const Weight& weight, std::int64_t first, TensorView rows);

 private:
  class LossChunk;
  class SmallBranch;

  void uncapped_logits(TensorView h, const Weight& head, TensorView logits);
  void small_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y,
                     Write write);

  DType product_type(DType compute) const;
  /// A big product of `rows` rows with a weight, whose x has still to be placed.
  TiledProduct::Spec big_product(std::int64_t rows, const Weight& weight, TiledProduct::Side side,
                                 DType compute) const;

  const Isa isa_;
  const LinearKernels& kernels_;
  const simd::ElementKernels& elements_;
  Team team_;
  Gemm gemm_;
  Scratch scratch_;
};

struct CpuBackend::LinearState {
  LinearState(Backend& backend, Isa isa, int threads) : engine(backend, isa, threads) {}
  LinearEngine engine;
};

/// Working memory of one call, counted first and placed then.
class Layout {
 public:
  std::int64_t take(std::int64_t bytes) {
    const std::int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
};

/// Each thread's buffers in the working memory of a call.
class WorkerMemory {
 public:
  /// `with_term`: for products with terms that have dropout.
  WorkerMemory(Layout& layout, int threads, std::int64_t panel_bytes, bool with_term = false);
  TiledProduct::Worker worker(void* memory, int thread) const;

 private:
  std::int64_t panel_bytes_, tile_offset_, panel_offset_, term_offset_;  ///< no terms: -1
};

/// Brings operands of one call into the product type: in place when they already have it, else as copies in
/// the call's working memory that the first phase fills.
class OperandPlan {
 public:
  OperandPlan(const LinearKernels& kernels, DType compute, DType product, Layout& layout)
      : kernels_(kernels), layout_(layout), compute_(compute), product_(product) {}

  /// A tensor of the compute type or f32, rounded to the compute type after multiplication with `factor`.
  int add(TensorView from, float factor = 1);
  /// Activations of the compute type as a copy, 0 where dropout leaves them out.
  int add_dropped(TensorView from, const LoraDropout& dropout);
  /// Room for an operand that a later phase computes: (rows, columns) of the product type. With `stored` of
  /// the product type already, that is the room.
  int add_room(std::int64_t rows, std::int64_t columns, TensorView stored = {});
  /// Once the working memory is there.
  void place(void* memory) { memory_ = static_cast<char*>(memory); }

  Operand operand(int index) const;
  bool empty() const { return pieces_ == 0; }  ///< nothing to convert
  std::int64_t pieces() const { return pieces_; }
  void convert(std::int64_t piece) const;  ///< one task of the first phase

 private:
  struct Entry {
    TensorView from;
    float factor = 1;
    std::int64_t columns = 0;
    std::int64_t offset = -1;  ///< in the working memory; -1 = in place
    std::int64_t first_piece = 0, pieces = 0;
    std::int64_t piece_elements = 0;
    LoraDropout dropout;
  };
  int add_copy(Entry entry, std::int64_t piece_elements);
  void convert_range(const Entry& entry, std::int64_t first, std::int64_t count) const;
  void convert_rows(const Entry& entry, std::int64_t first, std::int64_t count) const;
  void convert_some(const Entry& entry, std::int64_t first, std::int64_t count,
                    const DroppedRow* dropped) const;

  const LinearKernels& kernels_;
  Layout& layout_;
  const DType compute_, product_;
  char* memory_ = nullptr;
  std::int64_t pieces_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernels/backend.h"
#include "kernels/cpu/cpu_info.h"
#include "kernels/cpu/simd/table.h"

namespace lorikeet {

/// Working memory of one operation: grows when a bigger shape comes, is kept and counted, never shrinks.
class Scratch {
 public:
  explicit Scratch(Backend& backend) : backend_(backend) {}
  /// At least `bytes` bytes, 64-byte aligned, uninitialised; what an earlier call returned is invalid after
  /// it.
  void* get(std::int64_t bytes);
  float* floats(std::int64_t count) { return static_cast<float*>(get(count * 4)); }

 private:
  Backend& backend_;
  Tensor storage_;
};

/// The processor as a Backend. Every operation is in a file of its own beside this one; the inner loops are
/// compiled once per instruction set and chosen here at construction. All operations run in one OpenMP team
/// of `threads`.
class CpuBackend : public Backend {
 public:
  /// `threads` >= 1; `memory_limit_bytes` 0 means none. Sets the OpenMP team size of the calling thread.
  CpuBackend(int threads, std::uint64_t memory_limit_bytes);
  ~CpuBackend() override;
  CpuBackend(const CpuBackend&) = delete;
  CpuBackend& operator=(const CpuBackend&) = delete;

  // memory.cpp
  const DeviceInfo& device() const override { return device_; }
  MemoryBudget& budget() override { return budget_; }
  bool supports(DType compute) const override;
  Tensor allocate(Shape shape, DType dtype) override;
  void deallocate(void* data, std::size_t bytes) noexcept override;
  void upload(TensorView to, const void* from) override;
  void download(void* to, TensorView from) override;
  void copy(TensorView to, TensorView from) override;
  void fill_zero(TensorView to) override;
  void synchronize() override {}

  // embedding.cpp, noise.cpp, rows.cpp
  void embedding_forward(TensorView table, TensorView ids, TensorView out) override;
  void embedding_backward(TensorView dy, TensorView ids, TensorView table_grad) override;
  void add_noise(TensorView x, TensorView keys, TensorView magnitude) override;
  void gather_rows(TensorView from, TensorView rows, TensorView to) override;
  void scatter_rows(TensorView from, TensorView rows, TensorView to) override;
  void add(TensorView to, TensorView from) override;

  // rms_norm.cpp, layer_norm.cpp, rope.cpp, glu.cpp, gelu.cpp
  void rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y, TensorView rstd,
                        NormScale scale) override;
  void rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd, TensorView dx,
                         Write write, NormScale scale) override;
  void layer_norm_forward(TensorView x, TensorView weight, TensorView bias, float epsilon, TensorView y,
                          TensorView mean, TensorView rstd) override;
  void layer_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView mean, TensorView rstd,
                           TensorView dx, Write write) override;
  void rope(TensorView x, TensorView positions, TensorView cosine, TensorView sine, bool inverse) override;
  void glu_forward(TensorView gate, TensorView up, TensorView h, Activation f) override;
  void glu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate, TensorView dup,
                    TensorView h, Activation f) override;
  void gelu_forward(TensorView x, TensorView y) override;
  void gelu_backward(TensorView dy, TensorView x, TensorView dx) override;

  // attention.cpp, attention_cached.cpp
  void attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                         const AttentionShape& shape, TensorView out, TensorView lse) override;
  void attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v, TensorView out,
                          TensorView lse, const PackedRows& rows, const AttentionShape& shape, TensorView dq,
                          TensorView dk, TensorView dv) override;
  void rope_append(TensorView q, TensorView k, TensorView v, TensorView positions, TensorView cosine,
                   TensorView sine, TensorView k_cache, TensorView v_cache) override;
  void attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, TensorView positions,
                        std::int64_t limit, const AttentionShape& shape, TensorView out) override;

  // linear.cpp, head.cpp, sample.cpp
  void linear_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y,
                      Write write) override;
  void linear_backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                       const LoraGradient* gradient, TensorView dx, Write write) override;
  void head_cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                          TensorView sums, TensorView dh, float soft_cap) override;
  void head_logits(TensorView h, const Weight& head, TensorView logits, float soft_cap) override;
  void sample(TensorView logits, TensorView recent, const SamplingRule& rule, double uniform,
              TensorView id) override;

  // dora.cpp
  void row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms, TensorView magnitude,
                 TensorView gain) override;
  void scale_columns(TensorView z, TensorView gain, TensorView bias, TensorView residual,
                     TensorView y) override;
  void scale_columns_backward(TensorView dy, TensorView z, TensorView gain, TensorView norms,
                              TensorView gradient, TensorView dz) override;
  void split_dropout(TensorView x, const LoraDropout& dropout, TensorView dropped, TensorView rest) override;
  void split_dropout_backward(TensorView ddropped, TensorView drest, const LoraDropout& dropout, TensorView dx,
                              Write write) override;
  void dequantize_rows(const Weight& weight, std::int64_t first, TensorView rows) override;

  // optimizer.cpp
  void sum_of_squares(TensorView x, TensorView sum) override;
  void adamw(TensorView parameter, TensorView gradient, TensorView m, TensorView v,
             const AdamStep& step) override;
  void adamw_8bit(TensorView parameter, TensorView gradient, const Adam8bitState& state,
                  const AdamStep& step) override;

 private:
  /// Products and caches of linear.cpp and head.cpp (primitives of oneDNN, panels); made on first use.
  struct LinearState;
  LinearState& linear();

  /// attention_cached for many queries.
  void attention_prompt(TensorView q, TensorView k_cache, TensorView v_cache, std::int64_t position,
                        const AttentionShape& shape, TensorView out);

  const Isa isa_;
  const int threads_;
  const simd::Kernels simd_;
  DeviceInfo device_;
  MemoryBudget budget_;
  Scratch scratch_;  ///< of one operation; operations do not call each other while they hold it
  std::shared_ptr<LinearState> linear_;
};

}  // namespace lorikeet

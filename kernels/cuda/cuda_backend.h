// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/backend.h"

namespace lorikeet::cuda {

/// Working memory of one operation on the device: grows when a bigger shape comes, is kept and counted. All
/// operations run on one stream, so the same memory serves one after the other.
class Scratch {
 public:
  explicit Scratch(Backend& backend) : backend_(backend) {}
  /// At least `bytes` bytes, 256-byte aligned, uninitialised; what an earlier call returned is invalid after
  /// it.
  /// Growing forgets all recordings, which name the old memory.
  void* get(std::int64_t bytes);
  void release();  ///< gives the memory back

 private:
  Backend& backend_;
  Tensor storage_;
};

/// One NVIDIA GPU as a Backend. Every operation is in a .cu file of its own, named as its twin in
/// kernels/cpu: the kernels, then the member that checks shapes and launches them. Operations return before
/// they are done; all run on one stream, transfers of the "later" kind on a second one. Results are the same
/// at every run: reductions have a fixed order and no sum is made with atomics. Indices in device memory
/// (ids, rows, targets, positions) are not read by the host; one outside its range gives NaN rows, never an
/// access outside the table.
class CudaBackend final : public Backend {
 public:
  /// `ordinal` of the device; `memory_limit_bytes` 0 = none. Throws Error(unsupported) below compute
  /// capability 7.5.
  CudaBackend(int ordinal, std::uint64_t memory_limit_bytes);
  ~CudaBackend() override;
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  // memory.cpp
  const DeviceInfo& device() const override { return device_; }
  MemoryBudget& budget() override { return budget_; }
  bool supports(DType compute) const override;
  std::string products() override;  // gemm.cpp
  Tensor allocate(Shape shape, DType dtype) override;
  void deallocate(void* data, std::size_t bytes) noexcept override;
  void upload(TensorView to, const void* from) override;
  void download(void* to, TensorView from) override;
  void synchronize() override;
  bool asynchronous() const override { return true; }
  // transfers.cpp
  std::unique_ptr<HostBuffer> allocate_host(std::size_t bytes) override;
  void download_later(HostBuffer& to, TensorView from) override;
  void upload_later(TensorView to, HostBuffer& from) override;
  void order_after(HostBuffer& buffer) override;
  bool arrived(HostBuffer& buffer) override;
  void wait(HostBuffer& buffer) override;
  // repeat.cpp
  bool fuses_parts() const override { return true; }
  std::int64_t tail_columns(std::int64_t width, std::int64_t ranks) const override;
  std::int64_t token_multiple() const override { return 64; }
  void repeat(std::uint64_t key, const std::function<void()>& work) override;
  void forget_repeats() override;

  // copy.cu, embedding.cu, noise.cu, rows.cu
  void copy(TensorView to, TensorView from) override;
  void fill_zero(TensorView to) override;
  void embedding_forward(TensorView table, TensorView ids, TensorView out) override;
  void embedding_backward(TensorView dy, TensorView ids, TensorView table_grad) override;
  void add_noise(TensorView x, TensorView keys, TensorView magnitude) override;
  void gather_rows(TensorView from, TensorView rows, TensorView to) override;
  void scatter_rows(TensorView from, TensorView rows, TensorView to) override;
  void add(TensorView to, TensorView from) override;

  // rms_norm.cu, layer_norm.cu, rope.cu, glu.cu, gelu.cu
  void rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y, TensorView rstd,
                        NormScale scale) override;
  void rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd, TensorView dx,
                         Write write, NormScale scale) override;
  void layer_norm_forward(TensorView x, TensorView weight, TensorView bias, float epsilon, TensorView y,
                          TensorView mean, TensorView rstd) override;
  void layer_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView mean, TensorView rstd,
                           TensorView dx, Write write) override;
  void rope(TensorView x, TensorView positions, TensorView cosine, TensorView sine, bool inverse) override;
  void rope_pair(TensorView q, TensorView k, TensorView positions, TensorView cosine, TensorView sine,
                 bool inverse) override;
  void rope_append(TensorView q, TensorView k, TensorView v, TensorView positions, TensorView cosine,
                   TensorView sine, TensorView k_cache, TensorView v_cache) override;
  void glu_forward(TensorView gate, TensorView up, TensorView h, Activation f) override;
  void glu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate, TensorView dup,
                    TensorView h, Activation f) override;
  void gelu_forward(TensorView x, TensorView y) override;
  void gelu_backward(TensorView dy, TensorView x, TensorView dx) override;

  // attention_forward.cu, attention_backward.cu, attention_cached.cu
  void attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                         const AttentionShape& shape, TensorView out, TensorView lse) override;
  void attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v, TensorView out,
                          TensorView lse, const PackedRows& rows, const AttentionShape& shape, TensorView dq,
                          TensorView dk, TensorView dv) override;
  void attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, TensorView positions,
                        std::int64_t limit, const AttentionShape& shape, TensorView out) override;

  // linear.cpp
  void linear_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y,
                      Write write) override;
  void linear_backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                       const LoraGradient* gradient, TensorView dx, Write write) override;
  void linear_group_forward(TensorView x, std::span<const LinearPart> parts, TensorView residual) override;
  void linear_group_backward(std::span<const LinearBackwardPart> parts, TensorView x, TensorView dx,
                             Write write) override;

  // head.cu, sample.cu
  void head_cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                          TensorView sums, TensorView dh, float soft_cap) override;
  void head_logits(TensorView h, const Weight& head, TensorView logits, float soft_cap) override;
  void sample(TensorView logits, TensorView recent, const SamplingRule& rule, double uniform,
              TensorView id) override;

  // dora.cu
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

  // optimizer.cu
  void sum_of_squares(TensorView x, TensorView sum) override;
  void adamw(TensorView parameter, TensorView gradient, TensorView m, TensorView v,
             const AdamStep& step) override;
  void adamw_8bit(TensorView parameter, TensorView gradient, const Adam8bitState& state,
                  const AdamStep& step) override;
  void guarded_adamw(TensorView parameters, TensorView gradients, std::span<const AdamPart> parts,
                     const AdamStep& step, float max_norm, TensorView loss_sum, TensorView outcome,
                     TensorView norms = {}) override;

  // For the files of this folder.
  cudaStream_t stream() const;
  int compute_capability() const { return compute_capability_; }  ///< 75, 80, 90, ...
  int multiprocessors() const { return multiprocessors_; }
  Scratch& scratch() { return scratch_; }                ///< of the operation that runs
  Scratch& weight_scratch() { return weight_scratch_; }  ///< dequantised weights of a linear group
  struct LinearState;                                    ///< cuBLASLt, chosen algorithms (linear_state.h)
  LinearState& linear();

 private:
  struct Streams;         ///< streams, events, page-locked staging (streams.h)
  struct Recordings;      ///< repeat()'s graphs (recordings.h)
  struct OptimizerState;  ///< the device table of guarded_adamw's parts
  OptimizerState& optimizer();

  DeviceInfo device_;
  int compute_capability_ = 0;
  int multiprocessors_ = 0;
  MemoryBudget budget_;
  std::unique_ptr<Streams> streams_;
  Scratch scratch_, weight_scratch_;
  // shared_ptr: each is complete only in the file that makes it.
  std::shared_ptr<Recordings> recordings_;
  std::shared_ptr<LinearState> linear_;
  std::shared_ptr<OptimizerState> optimizer_;
};

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "kernels/base/memory_budget.h"
#include "kernels/devices.h"
#include "kernels/operands.h"
#include "kernels/tensor.h"
#include "kernels/weight.h"

namespace lorikeet {

/// Memory of the host that a device reads and writes while the program goes on.
class HostBuffer {
 public:
  virtual ~HostBuffer() = default;
  virtual void* data() = 0;
  virtual std::size_t bytes() const = 0;
};

/// Arithmetic on tensors of one device. One instance is used by one thread at a time.
///
/// Conventions. T tokens, M rows, H hidden size, I intermediate size, V vocabulary, q = heads*head_dim,
/// kv = kv_heads*head_dim. "Compute type" is f32, or bf16 and f16 where supports() says so; all activations of one call
/// share it. Products accumulate in f32; norm statistics, softmax and loss are f32. Views are contiguous and row-major;
/// where fuses_parts() is true, activations (T,...) may be columns of wider buffers (TensorView::row_stride).
/// Outputs may not overlap inputs unless said. Wrong shapes or types throw Error(invalid_argument). Results depend
/// neither on the thread count nor on what was in the outputs before (unless Write::accumulate).
/// Nothing is allocated once every shape has been seen (scratch grows and is kept). On a device that works on its own
/// (asynchronous()), operations return before they are done; download, wait and synchronize wait.
class Backend : public DeviceMemory {
 public:
  /// --- Device and memory ---
  virtual const DeviceInfo& device() const = 0;
  virtual MemoryBudget& budget() = 0;
  virtual bool supports(DType compute) const = 0;
  /// What large products run on where that may differ on one device: "cuBLASLt 13.0.2", "own products"; else empty.
  virtual std::string products() { return {}; }
  /// Uninitialised memory, 64-byte aligned, counted against the budget.
  virtual Tensor allocate(Shape shape, DType dtype) = 0;
  virtual void upload(TensorView to, const void* from) = 0;        ///< host to device, to.bytes() bytes
  virtual void download(void* to, TensorView from) = 0;            ///< device to host, waits
  virtual void copy(TensorView to, TensorView from) = 0;           ///< same elements; converts between float types
  virtual void fill_zero(TensorView to) = 0;
  virtual void synchronize() = 0;
  /// True when operations return before they are done.
  virtual bool asynchronous() const { return false; }

  /// --- Transfers beside the computing (offloaded activations, results read one step late) ---
  /// Page-locked memory where that matters; not counted against the device's budget.
  virtual std::unique_ptr<HostBuffer> allocate_host(std::size_t bytes);
  /// Starts a copy of from.bytes() bytes after the work given so far; `from` must not change before order_after(to).
  virtual void download_later(HostBuffer& to, TensorView from);
  /// Starts a copy into `to` after the work given so far; `to` may be read after order_after(from).
  virtual void upload_later(TensorView to, HostBuffer& from);
  /// Work given from here on waits for the buffer's last transfer; the host does not.
  virtual void order_after(HostBuffer& buffer);
  /// Whether the buffer's last transfer is done; wait() returns when it is.
  virtual bool arrived(HostBuffer& buffer);
  virtual void wait(HostBuffer& buffer);

  /// --- Preferred layouts and repeated work ---
  /// True when outputs (and their gradients) of linear layers with the same input should be columns of one buffer.
  virtual bool fuses_parts() const { return false; }
  /// Spare columns wanted behind each row of a linear layer's input and output gradient, `width` wide in all, for
  /// branches of `ranks` in all: working room whose content does not matter. Rows may have more or none: an x or dy
  /// whose row_stride leaves columns behind it (behind the last one of parts that lie side by side) promises that those
  /// may be written. Without room the operation works on a copy.
  virtual std::int64_t tail_columns(std::int64_t width, std::int64_t ranks) const;
  /// Micro-batches are best padded to a multiple of this many tokens.
  virtual std::int64_t token_multiple() const { return 1; }
  /// Does `work`, which only gives operations to this back end. Where the device can, the operations of the first call
  /// with a key are recorded and given again at once for later calls: the same key promises the same operations with
  /// the same operands at the same places; the contents of tensors may differ.
  virtual void repeat(std::uint64_t key, const std::function<void()>& work);
  /// Forgets all recordings, before memory they name is given back.
  virtual void forget_repeats() {}

  /// --- Rows and elements ---
  /// out (T,H) = table[ids]; ids i32 [T], all in [0,V). table (V,H) is f32, bf16 or f16.
  virtual void embedding_forward(TensorView table, TensorView ids, TensorView out) = 0;
  /// table_grad f32 (V,H) += rows of dy (T,H) at ids.
  virtual void embedding_backward(TensorView dy, TensorView ids, TensorView table_grad) = 0;
  /// x (T,H) += noise: row t gets magnitude[t] * centred_uniform(drawn_word(key of the row, RandomUse::neftune, 0,
  /// column)); keys i32 (T,2) as in LoraDropout, magnitude f32 [T]. Product and sum are rounded apart in f32, then
  /// the sum to x's type. NEFTune (Jain et al. 2023).
  virtual void add_noise(TensorView x, TensorView keys, TensorView magnitude) = 0;
  /// to (R,H) = from[rows]; rows i32 [R].
  virtual void gather_rows(TensorView from, TensorView rows, TensorView to) = 0;
  /// to (T,H) = 0 except to[rows[i]] = from[i]; rows are distinct.
  virtual void scatter_rows(TensorView from, TensorView rows, TensorView to) = 0;
  /// to += from, same shape and type.
  virtual void add(TensorView to, TensorView from) = 0;

  /// --- RMSNorm: y = x / sqrt(mean(x^2) + epsilon) * weight. The normalised value is rounded to the compute type
  /// before the product with weight, as Llama does (formats.md §1.3). weight f32 [n], n = H, or n divides H: then every
  /// n columns are a row of their own (the heads of q and k in Qwen3). rstd f32 [T * H / n]. y may be x.
  virtual void rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y, TensorView rstd,
                                NormScale scale = NormScale::weight) = 0;
  /// dx (T,H): gradient of x from dy; rstd from the forward. dx may be dy.
  virtual void rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd, TensorView dx,
                                 Write write, NormScale scale = NormScale::weight) = 0;
  /// --- LayerNorm: y = (x - mean) / sqrt(variance + epsilon) * weight + bias, in f32; weight, bias f32 [H];
  /// mean, rstd f32 [T].
  virtual void layer_norm_forward(TensorView x, TensorView weight, TensorView bias, float epsilon, TensorView y,
                                  TensorView mean, TensorView rstd) = 0;
  virtual void layer_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView mean, TensorView rstd,
                                   TensorView dx, Write write) = 0;

  /// --- RoPE in place on x (T, heads, head_dim), half-split form; cos and sin f32 (P, d/2), d <= head_dim rotary
  /// dimensions, the rest passes; positions i32 [T] < P. `inverse` applies the transposed rotation (the backward).
  virtual void rope(TensorView x, TensorView positions, TensorView cosine, TensorView sine, bool inverse) = 0;
  /// rope on q (T, heads, head_dim) and on k (T, kv_heads, head_dim).
  virtual void rope_pair(TensorView q, TensorView k, TensorView positions, TensorView cosine, TensorView sine,
                         bool inverse);

  /// --- Attention over packed rows, causal within each sequence. q, out (T,q); k, v (T,kv); lse f32 (T,heads) = log
  /// of the softmax denominator of each row (scaled logits), for the backward.
  virtual void attention_forward(TensorView q, TensorView k, TensorView v, const PackedRows& rows,
                                 const AttentionShape& shape, TensorView out, TensorView lse) = 0;
  virtual void attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v, TensorView out,
                                  TensorView lse, const PackedRows& rows, const AttentionShape& shape, TensorView dq,
                                  TensorView dk, TensorView dv) = 0;
  /// Chat: rope on q (M, heads, head_dim) and k (M, kv_heads, head_dim) in place, then rows of k and v (M,kv) are
  /// stored in the caches (C,kv) at `positions` i32 [M] < C, which are consecutive.
  virtual void rope_append(TensorView q, TensorView k, TensorView v, TensorView positions, TensorView cosine,
                           TensorView sine, TensorView k_cache, TensorView v_cache) = 0;
  /// Chat: M new queries (M,q) at consecutive `positions` i32 [M] over a cache (C,kv) that already holds their own
  /// keys and values; the query at position p sees cache rows [0, p] (of them the window's). All positions < limit <= C:
  /// what the host knows about them.
  virtual void attention_cached(TensorView q, TensorView k_cache, TensorView v_cache, TensorView positions,
                                std::int64_t limit, const AttentionShape& shape, TensorView out) = 0;

  /// --- Gated linear unit: h = f(gate) * up, all (T,I). The backward may write dgate and dup over gate and up, and
  /// writes h again when `h` is given (it was not kept).
  virtual void glu_forward(TensorView gate, TensorView up, TensorView h, Activation f = Activation::silu) = 0;
  virtual void glu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate, TensorView dup,
                            TensorView h, Activation f = Activation::silu) = 0;
  /// --- GELU, tanh form ("gelu_new"): y = 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). dx may be dy or x.
  virtual void gelu_forward(TensorView x, TensorView y) = 0;
  virtual void gelu_backward(TensorView dy, TensorView x, TensorView dx) = 0;

  /// --- Linear: y (M,N) = x (M,K) W^T [+ bias] + the LoRA branches, summed in f32 before rounding.
  /// Any number of branches (chat mixes adapters), each with its own dropout; each xa is written.
  virtual void linear_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora, TensorView y,
                              Write write) = 0;
  /// dx (M,K) = dy W + the branch's part; gradients of the branch are added to `gradient`. `lora` may be null, then
  /// x is not read. dx may be empty (first layer): then only the branch's gradients are made.
  virtual void linear_backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                               const LoraGradient* gradient, TensorView dx, Write write) = 0;
  /// linear_forward of every part with the same x. `residual` (M,N), which may be y itself, is added to the only part's
  /// product; empty = nothing is added.
  virtual void linear_group_forward(TensorView x, std::span<const LinearPart> parts, TensorView residual);
  /// linear_backward of every part with the same x; dx is the sum over the parts.
  virtual void linear_group_backward(std::span<const LinearBackwardPart> parts, TensorView x, TensorView dx,
                                     Write write);

  /// --- Magnitude and direction (DoRA): y = g o (W x + scale B A x) + bias, g = m / n, n the norms of the rows of
  /// W + scale B A. norms f32 [N], of the weight as stored; `lora` may be null, its xa is not looked at. With magnitude
  /// f32 [N] also gain f32 [N] = magnitude / norms, 0 where the norm is 0.
  virtual void row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms, TensorView magnitude = {},
                         TensorView gain = {}) = 0;
  /// y (M,N) = z o gain [+ bias f32 [N]] [+ residual (M,N)]; y may be z or residual.
  virtual void scale_columns(TensorView z, TensorView gain, TensorView bias, TensorView residual, TensorView y) = 0;
  /// gradient f32 [N] += sums over rows of dy o z / norms (0 where that is 0); dz (M,N) = dy o gain may be dy or z.
  virtual void scale_columns_backward(TensorView dy, TensorView z, TensorView gain, TensorView norms,
                                      TensorView gradient, TensorView dz) = 0;
  /// What a DoRA branch with dropout and its layer read apart: dropped = mask o x / (1 - p), rest = x - dropped (f32,
  /// each rounded once; `rest` may be empty), all (M,K). Dropout as in LoraDropout, p > 0.
  virtual void split_dropout(TensorView x, const LoraDropout& dropout, TensorView dropped, TensorView rest) = 0;
  /// Its backward: dx (M,K) [+]= mask o (ddropped - drest) / (1 - p) + drest.
  virtual void split_dropout_backward(TensorView ddropped, TensorView drest, const LoraDropout& dropout, TensorView dx,
                                      Write write) = 0;
  /// rows f32 (n,K) = the weight's rows [first, first + n) as stored.
  virtual void dequantize_rows(const Weight& weight, std::int64_t first, TensorView rows) = 0;

  /// --- Head and loss in row chunks; full logits never exist.
  /// h (R,H) compute type; targets i32 [R] in [0,V); sums f64 [2] += {sum of -log p(target), number of rows whose
  /// largest logit is the target}. With dh (R,H) given: dh = gradient of grad_scale * sum.
  /// soft_cap > 0: logits z become cap * tanh(z / cap) first (Gemma 2).
  virtual void head_cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                                  TensorView sums, TensorView dh, float soft_cap = 0) = 0;
  /// logits f32 (M,V) = h (M,H) head^T, for chat and tests.
  virtual void head_logits(TensorView h, const Weight& head, TensorView logits, float soft_cap = 0) = 0;
  /// Draws a token from logits f32 [V], which it may change: penalty on the ids `recent` i32 [n] (each once), then the
  /// rule; `uniform` in [0,1) decides. id i32 [1] = the token, or -1 when the largest logit is not finite. Ties go to
  /// the lowest id; probabilities are f64, so every device draws the same.
  virtual void sample(TensorView logits, TensorView recent, const SamplingRule& rule, double uniform,
                      TensorView id) = 0;

  /// --- Optimiser, in place on f32 parameters.
  /// sum f64 [1] += sum of squares of x (f32), over fixed chunks in fixed order.
  virtual void sum_of_squares(TensorView x, TensorView sum) = 0;
  /// PyTorch's AdamW: decay before the update (after it with decay_last). m, v f32 [n].
  virtual void adamw(TensorView parameter, TensorView gradient, TensorView m, TensorView v, const AdamStep& step) = 0;
  /// bitsandbytes' blockwise 8-bit AdamW: decay after the update; a non-finite gradient leaves its element untouched
  /// with m = v = 0 (formats.md §2.7).
  virtual void adamw_8bit(TensorView parameter, TensorView gradient, const Adam8bitState& state,
                          const AdamStep& step) = 0;
  /// One update of a whole adapter, decided on the device. parameters, gradients f32 [n]. The gradient norm is
  /// sqrt(sum of squares) * step.gradient_scale; it and loss_sum f64 [1] must be finite, else nothing but `outcome`
  /// changes. Gradients are scaled by step.gradient_scale and clipped to max_norm (0 = not). step.step counts all steps
  /// from 1, skipped ones too. `parts` must be the same at every call and outlive them.
  /// `norms` f64 (parts, norms_count), or empty when nobody wants to know.
  virtual void guarded_adamw(TensorView parameters, TensorView gradients, std::span<const AdamPart> parts,
                             const AdamStep& step, float max_norm, TensorView loss_sum, TensorView outcome,
                             TensorView norms = {});
};

}  // namespace lorikeet

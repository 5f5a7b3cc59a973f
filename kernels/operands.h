// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/tensor.h"
#include "kernels/weight.h"

/// What operations of a Backend are given beside tensors.
namespace lorikeet {

/// Rows of one packed batch of T tokens: sequence i is tokens [cu_seqlens[i], cu_seqlens[i+1]). The last ones may be empty.
struct PackedRows {
  TensorView cu_seqlens;         ///< i32 [sequences + 1], on the device; first 0, last T
  TensorView positions;          ///< i32 [T]: position of each token in its own sequence
  std::int64_t sequences = 0;
  std::int64_t longest = 0;      ///< tokens: no sequence is longer
};

/// Shape of multi-head attention with grouped keys: kv head j serves query heads j*g ... j*g+g-1, g = heads/kv_heads.
struct AttentionShape {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  float scale = 0;               ///< usually 1/sqrt(head_dim)
  std::int64_t window = 0;       ///< sliding window in tokens (a token sees itself and window-1 before it), 0 = none
  float soft_cap = 0;            ///< scores s become cap * tanh(s / cap) before the mask (Gemma 2), 0 = none
};

/// Dropout of a branch's input (PEFT's lora_dropout): the branch reads mask * x / (1 - p) where its layer reads x.
/// Element (row, column) is left out when drawn_word(key of the row, RandomUse::dropout, place, column) is below
/// dropout_threshold(p) (kernels/base/random.h), so forward, recomputation and backward draw the same mask, on every
/// device and in every batch.
struct LoraDropout {
  float probability = 0;         ///< p in [0,1); 0 = no dropout, and the rest is not looked at
  TensorView keys;               ///< i32 (M,2): lower and upper half of each row's 64-bit key
  std::uint32_t place = 0;       ///< of the module: each has a mask of its own
};

/// One low-rank branch of a linear layer: y += scale * (drop(x) A^T) B^T.
struct LoraTerm {
  TensorView a;                  ///< f32 (r,K)
  TensorView b;                  ///< f32 (N,r)
  float scale = 1;
  TensorView xa;                 ///< compute type (M,r): drop(x) A^T; written by the forward, read by the backward
  LoraDropout dropout{};
};

/// Whether the branch reads something else than its layer.
inline bool has_dropout(const LoraTerm& term) { return term.dropout.probability != 0; }

/// Gradients of one low-rank branch; both are added to. Branches of one group may share A, and then its gradient.
struct LoraGradient {
  TensorView a;                  ///< f32 (r,K)
  TensorView b;                  ///< f32 (N,r)
};

/// One of the linear layers that read the same input (q, k and v; gate and up).
struct LinearPart {
  const Weight* weight = nullptr;
  std::span<const LoraTerm> lora;
  TensorView y;                  ///< (M,N)
};

/// The same in the backward.
struct LinearBackwardPart {
  TensorView dy;                 ///< (M,N)
  const Weight* weight = nullptr;
  const LoraTerm* lora = nullptr;          ///< null: no branch
  const LoraGradient* gradient = nullptr;  ///< given when lora is
};

/// Whether a norm multiplies by w, rounding the normalised value first (Llama), or by 1 + w in f32 (Gemma).
enum class NormScale : std::uint8_t { weight, one_plus_weight };

/// Function of the gate in a gated linear unit. gelu is the tanh form.
enum class Activation : std::uint8_t { silu, gelu };

/// Whether an operation replaces its output or adds to it.
enum class Write : std::uint8_t { overwrite, accumulate };

/// One optimiser step's numbers. Defaults are PyTorch's.
struct AdamStep {
  float learning_rate = 0;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  float weight_decay = 0;
  std::int64_t step = 1;         ///< 1 for the first update
  float gradient_scale = 1;      ///< multiplies every gradient first (clipping)
  bool decay_last = false;       ///< adamw only: decay after the update, as bitsandbytes does for small tensors
};

/// State of 8-bit AdamW for one tensor of n values: codes of the dynamic maps (formats.md §2.3), blocks of 256.
struct Adam8bitState {
  TensorView m_codes, v_codes;   ///< u8 [n]: signed and unsigned map
  TensorView m_absmax, v_absmax; ///< f32 [ceil(n/256)]
};

/// One tensor of an adapter in guarded_adamw.
struct AdamPart {
  std::int64_t offset = 0;       ///< of its first number in the parameter and gradient blocks
  std::int64_t count = 0;
  bool is_8bit = false;
  bool decay_last = false;       ///< 32-bit state only, see AdamStep
  TensorView m, v;               ///< f32 [count], 32-bit state
  Adam8bitState eight;           ///< 8-bit state
};

/// Where guarded_adamw leaves what happened: f64 [4] on the device, zeroed once before the first step.
enum AdamOutcome : int {
  outcome_gradient_norm,         ///< before clipping, of the true gradient
  outcome_skipped,               ///< 1 when this step changed nothing, because loss or gradient was not finite
  outcome_skipped_steps,         ///< number of skipped steps so far; the device keeps count
  outcome_clip_factor,           ///< what gradients were multiplied with, 1 = not clipped
  outcome_count
};

/// Columns of the norms that guarded_adamw leaves when asked: sums of squares over one part.
enum AdamNorms : int {
  norms_gradient,                ///< of the true gradient before clipping
  norms_update,                  ///< of what the step changed, 0 when it was skipped
  norms_parameter,               ///< of the parameters after the step
  norms_count
};

/// How the next token is drawn, in the order of Hugging Face: penalty, temperature, top-k, top-p, min-p.
struct SamplingRule {
  bool greedy = false;           ///< the largest logit, the lowest id on ties
  double temperature = 1;
  std::int64_t top_k = 0;        ///< 0 = off
  double top_p = 1;              ///< 1 = off
  double min_p = 0;              ///< 0 = off
  double repeat_penalty = 1;     ///< 1 = off
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "core/model/lora_adapter.h"
#include "core/model/transformer.h"

namespace lorikeet {

/// The linear layers of one decoder layer, in the order of the forward pass.
enum Linear : std::size_t { q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, linear_count };
inline constexpr std::array<const char*, linear_count> linear_names = {
    "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
    "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
const Weight& linear_weight(const LayerWeights& layer, std::size_t which);

/// What the forward of one layer leaves for its backward. Names as in the equations:
/// middle = x + o(attention(q,k,v)); output = middle + down(silu(gate) * up).
struct Activations {
  TensorView q, k, v, attention, middle, gate, up;   ///< compute type; q and k after RoPE
  TensorView lse;                                    ///< f32 (T,heads)
  TensorView rstd_1, rstd_2;                         ///< f32 [T]: of the norms before attention and before the MLP
  std::array<TensorView, linear_count> xa;           ///< (T,r): input times A^T of each adapted linear
};

/// One micro-batch on the device.
struct DeviceBatch {
  PackedRows rows;
  TensorView ids, labels, targets;   ///< i32 [T]; label rows i32 [R]; their targets i32 [R]
  std::int64_t tokens = 0, label_count = 0;
};

/// Everything a step works on; all views lie in one arena and are laid out anew for each batch.
struct Transformer::Impl {
  Impl(BaseModel& base, const LoraAdapter* lora, Options given);

  BatchLoss run(const TokenBatch& host, float grad_scale, TensorView gradients, const std::function<void()>& between);
  void lay_out(const TokenBatch& host, bool with_gradient);
  void forward(bool with_gradient, const std::function<void()>& between);

  TensorView take(std::int64_t width);
  Activations take_activations(std::int64_t layer);
  Activations& activations_for(std::int64_t layer, bool with_gradient);
  /// `next` empty: the layer is recomputed for its backward, its output is not needed.
  void forward_layer(std::int64_t layer, TensorView x, const Activations& act, TensorView next);
  void backward_mlp(std::int64_t layer, const Activations& act, TensorView gradients);
  void backward_attention(std::int64_t layer, TensorView x, const Activations& act, TensorView gradients);
  void backward(TensorView gradients, const std::function<void()>& between);
  BatchLoss head(float grad_scale, bool with_gradient);

  void rotate(TensorView heads, std::int64_t count, bool inverse);
  void linear(std::int64_t layer, std::size_t which, TensorView x, const Activations& act, TensorView y, Write write);
  void linear_back(std::int64_t layer, std::size_t which, TensorView dy, TensorView x, const Activations& act,
                   TensorView gradients, TensorView dx_out, Write write);

  BaseModel& model;
  Backend& backend;
  const ModelSpec& spec;
  const LoraAdapter* adapter;
  Options options;
  AttentionShape attention_shape;
  std::vector<std::array<const LoraModule*, linear_count>> lora;   ///< by layer; nullptr where there is none
  Arena arena;
  Tensor sums;                                 ///< f64 [2]: loss and correct answers

  DeviceBatch batch;
  std::vector<TensorView> inputs;              ///< residual stream before each layer and after the last
  std::vector<Activations> kept;               ///< of kept layers
  std::vector<TensorView> down_xa;             ///< of recomputed layers
  Activations scratch;                         ///< of the layer at hand when it is not kept
  std::size_t scratch_mark = 0;
  TensorView norm, inner;                      ///< norm output (T,H) and SwiGLU output (T,I)
  TensorView dx, dnorm, dinner, dattention, dq, dk, dv;
  TensorView head_rows, head_norm, head_gradient, head_rstd;
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/model/activation_plan.h"
#include "core/model/block.h"
#include "core/model/dora.h"
#include "core/model/lora_adapter.h"
#include "core/model/offloaded_inputs.h"
#include "core/model/transformer.h"

namespace lorikeet {

/// How this back end wants activations to lie.
DeviceLayout layout_of(const Backend& backend);

/// What the forward of one layer leaves for its backward. Names as in the equations:
/// middle = x + o(attention(q,k,v)); output = middle + down(silu(gate) * up).
struct Activations {
  TensorView q, k, v, attention, middle, gate, up;  ///< compute type; q and k after RoPE, or before their norms
  TensorView attention_output, mlp_output;          ///< before their norms, where they have any
  TensorView lse;                                   ///< f32 (T,heads)
  std::array<TensorView, norm_count> mean, rstd;    ///< f32 [T] of each norm, of q and k for each head
  std::array<TensorView, linear_count> xa;  ///< (T,r): input times A^T of each adapted linear
};

/// One micro-batch on the device.
struct DeviceBatch {
  PackedRows rows;
  TensorView ids, labels, targets;  ///< i32 [T]; label rows i32 [R]; their targets i32 [R]
  TensorView keys, noise;           ///< i32 (T,2); magnitude of the embeddings' noise f32 [T]; empty outside training
  std::int64_t tokens = 0;          ///< with padding
  std::int64_t real_tokens = 0, label_count = 0;
};

/// Everything a step works on; all views lie in one arena and are laid out anew for each batch.
struct Transformer::Impl {
  Impl(BaseModel& base, const LoraAdapter* lora, Options given);
  ~Impl();

  void run(const TokenBatch& host, float grad_scale, TensorView gradients, TensorView sums,
           const std::function<void()>& between);
  void lay_out(const TokenBatch& host, bool with_gradient);
  void place_views(const ActivationPlaces& places);
  void upload_batch(const TokenBatch& host, const ActivationPlaces& places);
  void upload_draws(const TokenBatch& host, const ActivationPlaces& places);
  void embed();
  void head(float grad_scale, bool with_gradient, TensorView sums);

  /// A pass of all layers, first to last or last to first, through Backend::repeat: at once, or where inputs
  /// are offloaded layer by layer, with the transfers between the recordings.
  enum class Pass : std::uint8_t { evaluation, forward, backward };
  void forward(bool with_gradient, const std::function<void()>& between);
  void backward(TensorView gradients, const std::function<void()>& between);
  std::uint64_t key(Pass pass, std::int64_t layer, TensorView gradients) const;

  Activations& activations_for(std::int64_t layer, bool with_gradient);
  /// `next` empty: the layer is recomputed for its backward, its output is not needed.
  void forward_layer(std::int64_t layer, TensorView x, const Activations& act, TensorView next);
  void backward_layer(std::int64_t layer, TensorView gradients);
  void backward_mlp(std::int64_t layer, TensorView x, const Activations& act, TensorView gradients);
  void backward_attention(std::int64_t layer, TensorView x, const Activations& act, TensorView gradients);

  /// The family's norm of one layer.
  void normalise(std::int64_t layer, NormRole role, TensorView x, TensorView y, const Activations& act);
  void normalise_back(std::int64_t layer, NormRole role, TensorView dy, TensorView x, const Activations& act,
                      TensorView dx, Write write);
  void rotate(TensorView q, TensorView k, bool inverse);
  /// q and k as attention reads them: normed where the family does, and rotated.
  struct QueryKey {
    TensorView q, k;
  };
  QueryKey make_query_key(std::int64_t layer, const Activations& act);
  /// to = residual + (the norm of) the linear layer of x. `to` may be empty: only what the backward needs is made.
  void join(std::int64_t layer, Linear which, TensorView x, TensorView residual, const Activations& act,
            TensorView to);
  /// Gradient of the linear layer's output that `join` added to the stream.
  TensorView join_back(std::int64_t layer, Linear which, const Activations& act);
  /// One linear layer of a group that reads the same input, and its output or the gradient of that.
  struct Part {
    Linear which;
    TensorView y;
  };
  void linear(std::int64_t layer, std::span<const Part> parts, TensorView x, const Activations& act,
              TensorView residual);
  void linear_back(std::int64_t layer, std::span<const Part> parts, TensorView x,
                   const Activations& act, TensorView gradients, TensorView dx_out,
                   Write write = Write::overwrite);
  /// The linear layers that read the MLP's input, with y = gate and up or their gradients.
  std::span<const Part> mlp_parts(const Activations& act, std::array<Part, 2>& room) const;
  TensorView view(const ArenaPlace& place) const;
  LoraTerm term(std::int64_t layer, std::size_t which, const Activations& act) const;
  /// DoRA with dropout, one layer after the other. The branch and its share of the weight read d = drop(x), the rest
  /// of the layer reads x: y = W x + bias + (gain - 1) o W d + gain o scale B A d (PEFT), computed as
  /// W (x - d) + bias + gain o (W d + scale B A d).
  bool drops_with_magnitude() const { return dora && !dora->empty() && batch.keys && options.dropout != 0; }
  void linear_dropped(std::int64_t layer, const Part& part, TensorView x, const Activations& act,
                      TensorView residual);
  void linear_dropped_back(std::int64_t layer, const Part& part, TensorView x, const Activations& act,
                           TensorView gradients, TensorView dx_out, Write write);
  /// Gradients of the magnitudes of a group's DoRA parts; `group` then has the gradients of what their gains
  /// scale.
  void magnitudes_back(std::int64_t layer, std::span<const Part> parts, TensorView x,
                       const Activations& act, TensorView gradients, std::span<LinearBackwardPart> group);
  TensorView gradient_of(TensorView parameter, TensorView gradients) const;

  BaseModel& model;
  Backend& backend;
  const ModelSpec& spec;
  const LoraAdapter* adapter;
  Options options;
  std::vector<std::array<LoraBranch, linear_count>> lora;         ///< by layer; empty where there is none
  std::optional<DoraState> dora;                                  ///< with an adapter
  ActivationShape shape;                                          ///< of the batch at hand
  Arena arena;
  Tensor embedding_factor;  ///< embedding_scale()
  Tensor own_sums;          ///< f64 [2], for callers without sums of their own
  OffloadedInputs offloaded;
  char* base_address = nullptr;  ///< of the arena

  DeviceBatch batch;
  std::vector<TensorView> inputs;   ///< residual stream before each layer and after the last
  std::vector<Activations> kept;    ///< of kept layers
  std::vector<TensorView> down_xa;  ///< of recomputed layers
  Activations scratch;              ///< of the layer at hand when it is not kept
  TensorView norm, inner;           ///< norm output (T,H) and SwiGLU output (T,I)
  TensorView dx, dnorm, dinner, dattention, dq, dk, dv, rotated_q, rotated_k;
  TensorView dropped, rest, ddropped;             ///< with DoRA and dropout: of the layer at hand
  std::array<TensorView, linear_count> products;  ///< with DoRA: what its gain scales, of the group at hand
  TensorView head_rows, head_norm, head_gradient, head_mean, head_rstd;
};

}  // namespace lorikeet

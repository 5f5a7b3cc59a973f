// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/gpu/speed_model.h"

namespace lorikeet::speed {

enum Linear : std::size_t { q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, linear_count };

/// A matrix with the spare columns that the back end wants behind its rows.
struct Wide {
  Tensor storage;
  TensorView view;
  Wide() = default;
  Wide(Backend& backend, std::int64_t rows, std::int64_t width, std::int64_t ranks, DType dtype)
      : storage(backend.allocate({rows, width + backend.tail_columns(width, ranks)}, dtype)),
        view(storage.view().column_range(0, width)) {
    backend.fill_zero(storage);
  }
};

struct Layer {
  std::array<Weight, linear_count> weights;
  std::array<LoraTerm, linear_count> lora;
  std::array<LoraGradient, linear_count> gradients;
  Tensor norm_1, norm_2;
};

/// What a SpeedModel is made of: weights and adapters, and the tensors of a step and of a chat.
struct SpeedModel::State {
  Backend& backend;
  ModelShape shape;
  std::int64_t rank;
  DType compute;
  std::uint64_t seed = 1;

  Tensor embedding, final_norm, cosine, sine, parameters, gradients, adam_state;
  Weight own_head;
  std::vector<Layer> layers;
  std::vector<AdamPart> parts;
  Tensor sums, outcome;
  std::int64_t steps = 0;

  // Training
  std::int64_t tokens = 0;
  Tensor ids, targets, positions, cu_seqlens, lse, rstd_1, rstd_2, rstd_final;
  std::vector<Tensor> inputs;
  std::array<Tensor, linear_count> xa;
  Wide norm, attention, middle_norm, h, qkv, gate_up, dx, dqkv, dh, dattention;
  Tensor middle, dnorm, head_norm, head_gradient;
  PackedRows rows;

  // Chat
  std::int64_t context = 0;
  std::vector<Tensor> k_cache, v_cache;
  Tensor logits, id;

  State(Backend& b, ModelShape s, std::int64_t r)
      : backend(b),
        shape(std::move(s)),
        rank(r),
        compute(b.supports(DType::bf16) ? DType::bf16 : DType::f16) {}

  Tensor random(Shape extents, DType dtype, double scale, double mean = 0);
  Weight nf4(std::int64_t out, std::int64_t in);
  void make_adapter();
  void make_rows(std::int64_t count);
  TensorView part(const Wide& wide, std::size_t linear) const;
  void layer_forward(std::size_t index, TensorView x, TensorView out);
  void layer_to_gate_up(std::size_t index, TensorView x);
  void layer_backward(std::size_t index, TensorView x);
  void head(TensorView x);
  void chat_layer(std::size_t index, TensorView x, TensorView out, std::int64_t limit);
  TensorView heads_of(TensorView view, std::int64_t count) const {
    return view.reshaped({view.rows(), count, shape.head_dim});
  }
  AttentionShape attention_shape() const {
    return {
        shape.heads, shape.kv_heads, shape.head_dim, 1 / std::sqrt(static_cast<float>(shape.head_dim)), 0, 0};
  }
  const Weight& head_weight() const { return own_head; }
};

}  // namespace lorikeet::speed

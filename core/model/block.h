// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/base_model.h"

/// Operations of a decoder layer that families do differently; training and chat share them.
namespace lorikeet {

/// y = the family's norm of x; mean f32 (LayerNorm only, else empty) and rstd f32 as the back end's norms
/// have them. Pieces of rows are normed by themselves where the weight is narrower than x.
void norm_forward(Backend& backend, const ModelSpec& spec, const NormWeights& norm, TensorView x,
                  TensorView y, TensorView mean, TensorView rstd);
void norm_backward(Backend& backend, const ModelSpec& spec, const NormWeights& norm, TensorView dy,
                   TensorView x, TensorView mean, TensorView rstd, TensorView dx, Write write);

/// inner = what down_proj reads. `gate` is empty where the family has none.
void activate(Backend& backend, const ModelSpec& spec, TensorView gate, TensorView up, TensorView inner);
/// The gradients of gate and up take the place of gate and up.
void activate_backward(Backend& backend, const ModelSpec& spec, TensorView dinner, TensorView gate,
                       TensorView up);

/// f32 [H]: what embeddings are multiplied by, rounded to the compute type first as Hugging Face does; empty
/// where they are not (Backend::scale_columns).
Tensor embedding_scale(Backend& backend, const ModelSpec& spec, DType compute);

/// Attention of one layer: extents, scale, soft cap, window.
AttentionShape attention_shape_of(const ModelSpec& spec, std::int64_t layer);

}  // namespace lorikeet

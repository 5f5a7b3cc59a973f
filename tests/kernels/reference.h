// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

// Every operation of Backend in plain double precision, straight from its formula: no tiles, no tricks, no
// rounding to a compute type. All arrays are row-major; names and shapes as in kernels/backend.h.
namespace lorikeet::reference {

using Values = std::vector<double>;
using Indices = std::vector<std::int32_t>;

/// --- Rows ---
Values embedding_forward(const Values& table, const Indices& ids, std::int64_t width);
/// table_grad plus the rows of dy at ids.
Values embedding_backward(const Values& dy, const Indices& ids, std::int64_t width, Values table_grad);
Values gather_rows(const Values& from, const Indices& rows, std::int64_t width);
Values scatter_rows(const Values& from, const Indices& rows, std::int64_t width, std::int64_t rows_out);

/// --- RMSNorm over rows of weight.size() ---
struct Norm {
  Values y, rstd;
};
Norm rms_norm_forward(const Values& x, const Values& weight, double epsilon);
Values rms_norm_backward(const Values& dy, const Values& x, const Values& weight, double epsilon);

/// --- LayerNorm over rows of weight.size() ---
struct LayerNorm {
  Values y, mean, rstd;
};
LayerNorm layer_norm_forward(const Values& x, const Values& weight, const Values& bias, double epsilon);
Values layer_norm_backward(const Values& dy, const Values& x, const Values& weight, double epsilon);

/// --- GELU, tanh form ---
Values gelu_forward(const Values& x);
Values gelu_backward(const Values& dy, const Values& x);

/// --- RoPE on x (T, heads, head_dim); cosine and sine (P, half) ---
Values rope(Values x, const Indices& positions, const Values& cosine, const Values& sine, std::int64_t heads,
            std::int64_t head_dim, std::int64_t half, bool inverse);

/// --- Attention ---
struct AttentionSizes {
  std::int64_t heads = 1, kv_heads = 1, head_dim = 1, window = 0;
  double scale = 1;
  double soft_cap = 0;
};
struct Attention {
  Values out, lse;
};
struct AttentionGradients {
  Values dq, dk, dv;
};
Attention attention_forward(const Values& q, const Values& k, const Values& v, const Indices& cu_seqlens,
                            const AttentionSizes& sizes);
AttentionGradients attention_backward(const Values& dout, const Values& q, const Values& k, const Values& v,
                                      const Indices& cu_seqlens, const AttentionSizes& sizes);
Values attention_cached(const Values& q, const Values& k_cache, const Values& v_cache, std::int64_t position,
                        const AttentionSizes& sizes);

/// --- Gated units: SwiGLU, or with GELU's tanh form ---
struct GluGradients {
  Values dgate, dup;
};
Values glu_forward(const Values& gate, const Values& up, bool gelu = false);
GluGradients glu_backward(const Values& dh, const Values& gate, const Values& up, bool gelu = false);

/// --- Linear: x (M,K), w (N,K) ---
struct Lora {
  Values a, b;  ///< (r,K), (N,r)
  std::int64_t rank = 0;
  double scale = 1;
  Values mask{};  ///< (M,K), what dropout multiplies x with; empty: nothing
};
struct LinearSizes {
  std::int64_t rows = 0, out = 0, in = 0;  ///< M, N, K
};
struct Linear {
  Values y;
  std::vector<Values> xa;  ///< one (M,r) a branch
};
struct LinearGradients {
  Values dx, da, db;  ///< da and db are empty without a branch
};
/// bias may be empty.
Linear linear_forward(const Values& x, const Values& w, const Values& bias, const std::vector<Lora>& branches,
                      const LinearSizes& sizes);
/// branch may be null.
LinearGradients linear_backward(const Values& dy, const Values& x, const Values& w, const Lora* branch,
                                const LinearSizes& sizes);

/// --- Magnitude and direction: z (M,N), w (N,K); lora may be null ---
Values row_norms(const Values& w, const Lora* lora, std::int64_t out, std::int64_t in);
/// bias and residual may be empty.
Values scale_columns(const Values& z, const Values& gain, const Values& bias, const Values& residual);
struct ColumnGradients {
  Values gradient, dz;
};
ColumnGradients scale_columns_backward(const Values& dy, const Values& z, const Values& gain, const Values& norms);

/// --- Head and loss: h (R,H), head (V,H) ---
struct CrossEntropy {
  double loss = 0;     ///< sum of -log p(target)
  double correct = 0;  ///< rows whose largest logit is the target (the first of equals)
  Values dh;           ///< gradient of grad_scale * loss
};
/// soft_cap > 0: logits z become cap * tanh(z / cap). bias may be empty.
Values head_logits(const Values& h, const Values& head, std::int64_t width, double soft_cap = 0,
                   const Values& bias = {});
CrossEntropy head_cross_entropy(const Values& h, const Values& head, const Indices& targets,
                                double grad_scale, std::int64_t width, double soft_cap = 0,
                                const Values& bias = {});

/// --- Optimiser ---
struct Adam {
  double learning_rate = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0, gradient_scale = 1;
  std::int64_t step = 1;
};
double sum_of_squares(const Values& x);
/// In place on p, m, v; decay before the update.
void adamw(Values& p, const Values& gradient, Values& m, Values& v, const Adam& adam);

/// The state of one tensor as bitsandbytes keeps it.
struct Adam8bit {
  std::vector<std::uint8_t> m_codes, v_codes;
  Values m_absmax, v_absmax;
};
/// In place on p and state; decay after the update. `nearness`, when not null, gets for every element how far
/// m and v are from the edge where another code would be taken, relative to the block's absmax.
void adamw_8bit(Values& p, const Values& gradient, Adam8bit& state, const Adam& adam, Values* nearness);

}  // namespace lorikeet::reference

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

/// Rotary position embedding as data (formats.md §1.5).
struct RopeSpec {
  enum class Kind : std::uint8_t { plain, linear, dynamic, yarn, llama3, longrope };
  Kind kind = Kind::plain;
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;        ///< rotated dimensions of each head, even, at most head_dim
  double factor = 1.0;                ///< all but plain and longrope
  double low_freq_factor = 1.0;       ///< llama3
  double high_freq_factor = 4.0;      ///< llama3
  std::int64_t original_context = 0;  ///< llama3, yarn, longrope, dynamic: positions the model first was trained with
  double beta_fast = 32;              ///< yarn: pairs that turn more often than this within the original context stay
  double beta_slow = 1;               ///< yarn: pairs that turn less often than this are stretched whole
  bool truncate = true;               ///< yarn: the bounds between those are rounded to whole pairs
  double attention_factor = 1;        ///< yarn, longrope: cosine and sine are multiplied by it
  std::vector<float> short_factors = {};  ///< longrope: divisors where all positions lie within the original context,
  std::vector<float> long_factors = {};  ///< and where some lie beyond it
  std::vector<float> divisors = {};   ///< GGUF's rope_freqs: inverse frequencies are divided by these when not empty
};

/// y = n(x) * w (Llama), n(x) * (1 + w) in f32 (Gemma), or LayerNorm with bias (Phi-2).
enum class NormKind : std::uint8_t { rms, rms_one_plus, layer };
/// How attention and MLP are joined to the residual stream x (N: a norm of its own each time):
/// sequential  m = x + attention(N x), y = m + mlp(N m);
/// sandwich    m = x + N attention(N x), y = m + N mlp(N m) (Gemma 2);
/// parallel    n = N x, y = x + attention(n) + mlp(n) (Phi-2).
enum class BlockKind : std::uint8_t { sequential, sandwich, parallel };
/// down(silu(gate) * up), down(gelu(gate) * up), or down(gelu(up)); gelu in its tanh form.
enum class MlpKind : std::uint8_t { silu_gated, gelu_gated, gelu };

/// What a linear layer of a decoder layer does, in the order of the forward pass.
enum Linear : std::size_t { q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, linear_count };

/// The architecture of a decoder as data; one Transformer serves every family. Numbers are checked when read:
/// positive, divisible where they must be, and small enough that no product overflows.
struct ModelSpec {
  std::string family;                 ///< model_type: "llama", "mistral", ...
  std::string name;                   ///< for people: "org/name", or the name of the folder or file
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context = 0;           ///< max_position_embeddings
  NormKind norm = NormKind::rms;
  BlockKind block = BlockKind::sequential;
  MlpKind mlp = MlpKind::silu_gated;
  double norm_epsilon = 1e-6;
  bool qk_norm = false;               ///< each head of q and k is normed before RoPE (Qwen3)
  bool tied_head = false;             ///< lm_head is the embedding table
  bool qkv_bias = false, o_bias = false, mlp_bias = false, head_bias = false;
  bool fused_qkv = false;             ///< q, k and v are rows of one matrix, and one module to an adapter (Phi-3)
  bool fused_gate_up = false;
  double embedding_scale = 1;         ///< embeddings are multiplied by it (Gemma)
  double query_scalar = 0;            ///< scores are divided by its root; 0 = head_dim
  double attention_soft_cap = 0;      ///< scores s become cap * tanh(s / cap); 0 = none (Gemma 2)
  double logit_soft_cap = 0;          ///< the same of the logits
  std::int64_t sliding_window = 0;    ///< tokens, 0 = none
  std::vector<bool> full_layers;      ///< layers without the sliding window; empty = none of them is
  RopeSpec rope;
  std::int32_t bos_id = -1;           ///< -1 = none
  std::vector<std::int32_t> eos_ids;  ///< every id that ends a generation
  std::int32_t pad_id = -1;

  bool has_gate() const { return mlp != MlpKind::gelu; }
  /// What scores are multiplied by.
  float attention_scale() const;
  /// Tokens that a token of this layer sees, 0 = all before it.
  std::int64_t window_of(std::int64_t layer) const;
  /// Number of weights in linear layers (without embedding and head), and in all.
  std::int64_t linear_parameters() const;
  std::int64_t parameters() const;
};

/// Reads config.json (and generation_config.json for end ids) of an HF folder, or the metadata of a GGUF file.
/// Throws Error(bad_format) naming file and field, Error(unsupported) naming the family or the RoPE kind.
ModelSpec read_model_spec(const std::string& path);

/// Rows of a linear layer that serve one purpose: all of them, or in a fused layer some.
struct LinearRows {
  Linear role = q_proj;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A linear layer as files and adapters name it, for example "self_attn.q_proj", with extents.
struct LinearModule {
  std::string name;
  std::int64_t out = 0;
  std::int64_t in = 0;
  bool bias = false;
  std::vector<LinearRows> rows;
};

/// The linear layers that "all-linear" adapts, in the order of the forward pass of one layer.
std::vector<LinearModule> linear_modules(const ModelSpec& spec);

/// Norms of a decoder layer. `output` norms are those of BlockKind::sandwich.
enum NormRole : std::size_t { attention_norm, q_norm, k_norm, attention_output_norm, mlp_norm, mlp_output_norm, norm_count };

struct NormModule {
  NormRole role = attention_norm;
  std::string name;                   ///< for example "input_layernorm"
  std::int64_t width = 0;
};
/// The norms of one layer, in the order of the forward pass.
std::vector<NormModule> norm_modules(const ModelSpec& spec);
/// Name of the norm before the head.
std::string final_norm_name(const ModelSpec& spec);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

/// Rotary position embedding as data (formats.md §1.5).
struct RopeSpec {
  enum class Kind : std::uint8_t { plain, linear, llama3 };
  Kind kind = Kind::plain;
  double theta = 10000.0;
  std::int64_t rotary_dim = 0;        ///< rotated dimensions of each head, even, at most head_dim
  double factor = 1.0;                ///< linear, llama3
  double low_freq_factor = 1.0;       ///< llama3
  double high_freq_factor = 4.0;      ///< llama3
  std::int64_t original_context = 0;  ///< llama3
  std::vector<float> divisors;        ///< GGUF's rope_freqs: inverse frequencies are divided by these when not empty
};

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
  std::int64_t sliding_window = 0;    ///< tokens, 0 = none
  double rms_epsilon = 1e-6;
  bool tied_head = false;             ///< lm_head is the embedding table
  bool attention_bias = false;
  bool mlp_bias = false;
  RopeSpec rope;
  std::int32_t bos_id = -1;           ///< -1 = none
  std::vector<std::int32_t> eos_ids;  ///< every id that ends a generation
  std::int32_t pad_id = -1;

  /// Number of weights in linear layers (without embedding and head), and in all.
  std::int64_t linear_parameters() const;
  std::int64_t parameters() const;
};

/// Reads config.json (and generation_config.json for end ids) of an HF folder, or the metadata of a GGUF file.
/// Throws Error(bad_format) naming file and field, Error(unsupported) naming the family or the RoPE kind.
ModelSpec read_model_spec(const std::string& path);

/// Module path of each linear layer that "all-linear" adapts, in the order of the forward pass of one layer:
/// self_attn.q_proj, k_proj, v_proj, o_proj, mlp.gate_proj, up_proj, down_proj; with extents.
struct LinearModule {
  std::string name;                   ///< for example "self_attn.q_proj"
  std::int64_t out = 0;
  std::int64_t in = 0;
};
std::vector<LinearModule> linear_modules(const ModelSpec& spec);

}  // namespace lorikeet

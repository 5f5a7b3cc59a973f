// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The inner loops of the CPU back end, compiled once per instruction set. Plain structs and pointers only:
// nothing here may leave code behind in a file that is compiled for a newer processor. An array of two
// functions is indexed by the element type: 0 = f32, 1 = bf16; void pointers point at elements of that type.
// No function is given NULL unless its comment says so, none allocates, none uses threads.
namespace lorikeet::simd {

struct ElementKernels {
  /// --- Elements ---
  void (*widen)(const std::uint16_t* bf16, float* to, std::int64_t n);
  void (*narrow)(const float* from, std::uint16_t* bf16, std::int64_t n);
  void (*add[2])(void* to, const void* from, std::int64_t n);
  void (*swiglu[2])(const void* gate, const void* up, void* h, std::int64_t n);
  /// h may be null.
  void (*glu_backward[2])(const void* dh, const void* gate, const void* up, void* dgate, void* dup, void* h,
                          std::int64_t n);
  /// The same with GELU's tanh form, and that function alone.
  void (*geglu[2])(const void* gate, const void* up, void* h, std::int64_t n);
  void (*geglu_backward[2])(const void* dh, const void* gate, const void* up, void* dgate, void* dup,
                               void* h, std::int64_t n);
  void (*gelu[2])(const void* x, void* y, std::int64_t n);
  void (*gelu_backward[2])(const void* dy, const void* x, void* dx, std::int64_t n);
  /// x = cap * tanh(x / cap); and gradient *= 1 - (y / cap)^2 of such a y.
  void (*soft_cap)(float* x, float cap, std::int64_t n);
  void (*soft_cap_backward[2])(void* gradient, const float* y, float cap, std::int64_t n);
  /// y = z * gain + bias + residual; bias and residual may be null.
  void (*scale_columns[2])(const void* z, const float* gain, const float* bias, const void* residual, void* y,
                           std::int64_t n);
  /// sums += dy * z, dz = dy * gain; dz may be dy or z.
  void (*scale_columns_backward[2])(const void* dy, const void* z, const float* gain, float* sums, void* dz,
                                    std::int64_t n);
  /// --- Rows ---
  void (*rms_norm[2])(const void* x, const float* weight, float epsilon, std::int64_t rows,
                      std::int64_t width, void* y, float* rstd);
  void (*rms_norm_backward[2])(const void* dy, const void* x, const float* weight, const float* rstd,
                               std::int64_t rows, std::int64_t width, void* dx, bool accumulate);
  /// The same with 1 + weight, not rounding before the product.
  void (*rms_norm_plus[2])(const void* x, const float* weight, float epsilon, std::int64_t rows,
                           std::int64_t width, void* y, float* rstd);
  void (*rms_norm_plus_backward[2])(const void* dy, const void* x, const float* weight, const float* rstd,
                                    std::int64_t rows, std::int64_t width, void* dx, bool accumulate);
  void (*layer_norm[2])(const void* x, const float* weight, const float* bias, float epsilon,
                        std::int64_t rows, std::int64_t width, void* y, float* mean, float* rstd);
  void (*layer_norm_backward[2])(const void* dy, const void* x, const float* weight, const float* mean,
                                 const float* rstd, std::int64_t rows, std::int64_t width, void* dx,
                                 bool accumulate);
  /// One token: x (heads, head_dim); sign is 1, or -1 for the inverse.
  void (*rope[2])(void* x, const float* cosine, const float* sine, std::int64_t heads, std::int64_t head_dim,
                  std::int64_t half, float sign);
};

/// How a value in [-1, 1] finds its code in a map of 256 ascending entries without a search: the upper 16
/// bits of its magnitude name a bucket with at most one midpoint inside, and the code is below + (value >
/// midpoints[below]).
struct MapIndex {
  static constexpr std::uint32_t first = 0x3380u;  ///< upper bits of 2^-24: below lies only zero
  static constexpr std::uint32_t buckets = 0x3f80u - first + 1u;  ///< the last one holds 1
  float values[256];
  float midpoints[256];            ///< between entries i and i + 1; the last is infinite
  std::uint8_t below[2][buckets];  ///< [negative][bucket], in [0, 254]
};

/// One block of the 8-bit optimiser (formats.md §2.7).
struct AdamBlock {
  float* p;
  const float* g;
  std::uint8_t* m_codes;
  std::uint8_t* v_codes;
  float* m_absmax;
  float* v_absmax;
  std::int64_t n;  ///< 1 ... 256
};

/// What an optimiser step needs, worked out once: beta1, 1 - beta1, and so on in f32.
struct AdamFactors {
  float gradient_scale, beta1, beta1_rest, beta2, beta2_rest;
  float step_size;  ///< 8-bit: lr * sqrt(1 - beta2^t) / (1 - beta1^t); f32: lr / (1 - beta1^t)
  float epsilon;    ///< 8-bit: times sqrt(1 - beta2^t)
  float v_scale;    ///< f32: 1 / sqrt(1 - beta2^t)
  float keep;       ///< 1 - lr * decay
  bool decay_last;  ///< f32: the decay comes after the update, as in the 8-bit one
};

struct OptimizerKernels {
  double (*sum_of_squares)(const float* x, std::int64_t n);
  void (*adamw)(float* p, const float* g, float* m, float* v, std::int64_t n, const AdamFactors& factors);
  void (*adamw_8bit)(const AdamBlock& block, const MapIndex& m_map, const MapIndex& v_map,
                     const AdamFactors& factors);
};

/// --- Attention ---
/// Queries and keys are taken in tiles of 64. Operands are kept in units of 4 bytes: an f32, or (bf16
/// operands where the processor multiplies them) two bf16 that are neighbours along the sum; `per_unit`
/// elements a unit. head_dim is padded with zeros to whole vectors (`padded` elements), the rows of a
/// sequence to a multiple of 16.
constexpr std::int64_t attention_tile = 64;
constexpr std::int64_t attention_row_multiple = 16;

struct AttentionLayout {
  std::int64_t per_unit;
  std::int64_t padded;           ///< head_dim in whole vectors
  std::int64_t workspace_bytes;  ///< of one forward_tile or backward_tile
};

/// Keys and values of one sequence and kv head; rows are `stride` elements apart.
struct AttentionKeys {
  const void* k;
  const void* v;
  std::int64_t stride, length, head_dim;
};

/// What all queries of a tile share.
struct AttentionTile {
  std::int64_t first;   ///< place of the first query in its sequence
  std::int64_t rows;    ///< queries, 1 ... 64
  std::int64_t length;  ///< keys in the sequence
  std::int64_t head_dim;
  std::int64_t window;  ///< 0 = none
  float scale;
  float soft_cap;       ///< 0 = none
  std::int64_t stride;  ///< elements between queries, also of out, dout and dq
  std::int64_t lse_stride;
  void* workspace;  ///< 64-byte aligned
};

struct AttentionKernels {
  AttentionLayout (*layout[2])(std::int64_t head_dim);
  /// Packs a sequence's keys, per tile across (d units, keys), and values in pairs of rows ((keys /
  /// per_unit), padded); `keys` and `values` have rows_padded * padded / per_unit units.
  void (*forward_pack[2])(const AttentionKeys& from, float* keys, float* values, void* workspace);
  /// lse may be null.
  void (*forward_tile[2])(const AttentionTile& tile, const void* q, const float* keys, const float* values,
                          void* out, float* lse);
  /// Packs keys and values as rows (rows_padded, padded / per_unit units), and keys in pairs of rows.
  void (*backward_pack[2])(const AttentionKeys& from, float* key_rows, float* value_rows, float* key_pairs);
  /// dq of the tile; dk and dv (rows_padded, padded) are added to, dk still without the scale.
  void (*backward_tile[2])(const AttentionTile& tile, const void* dout, const void* q, const void* out,
                           const float* lse, const float* key_rows, const float* value_rows,
                           const float* key_pairs, void* dq, float* dk, float* dv);
  /// Stores scale * from (rows, padded; summed over `parts` pieces part_stride apart) as rows `stride`
  /// elements apart.
  void (*store_rows[2])(const float* from, std::int64_t parts, std::int64_t part_stride, std::int64_t rows,
                        std::int64_t head_dim, float scale, void* to, std::int64_t stride);
  /// Chat: `heads` queries (head_dim apart) over keys [0, from.length), at most attention_cached_keys of
  /// them: statistics (largest, sum of exp) a head, and unscaled sums (heads, head_dim).
  void (*cached_part[2])(const void* q, std::int64_t heads, const AttentionKeys& from, float scale,
                         float soft_cap, float* statistics, float* sums);
};
constexpr std::int64_t attention_cached_keys = 256;

/// The tables of one instruction set.
struct Kernels {
  const ElementKernels* elements;
  const OptimizerKernels* optimizer;
  const AttentionKernels* attention;
};

}  // namespace lorikeet::simd

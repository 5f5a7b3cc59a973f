// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/backend.h"

namespace lorikeet::cuda {

class CudaBackend;

/// One forward over packed sequences (`cu` given) or over a cache (`positions` given).
struct AttentionRows {
  TensorView q, k, v, out;
  float* lse = nullptr;              ///< (T, heads), may be null
  const std::int32_t* cu = nullptr;  ///< [sequences + 1]
  std::int64_t sequences = 0;
  const std::int32_t* positions = nullptr;  ///< [T], consecutive
  std::int64_t limit = 0;                   ///< of the positions
  /// Over a cache: the keys are shared out in so many parts, and each part's statistics (exponent of its
  /// largest score, sum of powers) and unscaled sums are left in f32 (splits, T, heads, 2) and (splits, T,
  /// heads, head_dim) instead of `out`. 1: `out` is written.
  int splits = 1;
  float* statistics = nullptr;
  float* sums = nullptr;
};

/// Keys that a block takes at a time.
std::int64_t attention_keys_at_once(DType dtype, std::int64_t head_dim);
/// Packed rows of queries (T * heads / kv_heads for each kv head) that a block takes.
std::int64_t attention_rows_at_once(DType dtype);
/// attention_forward.cu: one launch, operands already checked.
void attention_rows(CudaBackend& backend, const AttentionRows& rows, const AttentionShape& shape,
                    const char* name);

/// Checks q (T,q), k and v (S,kv), whose rows may have gaps, against the shape; throws
/// Error(invalid_argument), or Error(unsupported) for head_dim above 256.
void check_attention_rows(const CudaBackend& backend, const TensorView& q, const TensorView& k,
                          const TensorView& v, const AttentionShape& shape, const char* operation);
/// Checks cu_seqlens' type and size, not its contents.
void check_packed_rows(const PackedRows& rows, std::int64_t tokens, const AttentionShape& shape,
                       const char* operation);
/// Whether all rows start at multiples of 16 bytes and head_dim is a whole multiple of them.
bool rows_in_vectors(std::initializer_list<TensorView> views, std::int64_t head_dim);

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/backend.h"
#include "kernels/cpu/simd/table.h"

namespace lorikeet {

/// Checks q (T,q), k and v (S,kv) of one call against the shape; throws Error(invalid_argument).
void check_attention(const TensorView& q, const TensorView& k, const TensorView& v,
                     const AttentionShape& shape, const char* operation);

/// One tile of queries, or (pack) one sequence, among the tasks of a call.
struct AttentionPlace {
  std::int64_t begin;         ///< first row of the sequence in the batch
  std::int64_t length;        ///< rows of the sequence
  std::int64_t padded_begin;  ///< its first row where sequences are padded to a multiple of 16 rows
  std::int64_t first;         ///< first query of the tile in the sequence
  std::int64_t rows;          ///< queries of the tile
};

/// Takes a scratch buffer apart into 64-byte aligned pieces: run once to count the bytes, once to hand them
/// out.
class ScratchPieces {
 public:
  explicit ScratchPieces(void* start = nullptr) : start_(static_cast<char*>(start)) {}
  template <typename T>
  T* take(std::int64_t count) {
    char* piece = start_ == nullptr ? nullptr : start_ + bytes_;
    bytes_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  char* start_;
  std::int64_t bytes_ = 0;
};

}  // namespace lorikeet

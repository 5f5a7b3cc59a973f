// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kernels/tensor.h"

namespace lorikeet {

class Backend;

/// How the frozen weights of a linear layer are kept in memory.
enum class WeightFormat : std::uint8_t {
  f32,
  bf16,
  f16,
  nf4,         ///< bitsandbytes NF4, blocks of 64, 8-bit absmax in blocks of 256 (double quantisation)
  nf4_single,  ///< bitsandbytes NF4, blocks of 64, f32 absmax
  fp4,         ///< bitsandbytes FP4, otherwise as nf4
  fp4_single,  ///< bitsandbytes FP4, otherwise as nf4_single
  int8,        ///< bitsandbytes LLM.int8(): i8 (N,K), one f32 absmax per row; w = value * absmax / 127
};

/// True for the formats of four bits in blocks of 64.
constexpr bool is_four_bit(WeightFormat format) {
  return format == WeightFormat::nf4 || format == WeightFormat::nf4_single || format == WeightFormat::fp4 ||
         format == WeightFormat::fp4_single;
}
/// True where the absmax values of the blocks are themselves quantised.
constexpr bool is_nested(WeightFormat format) { return format == WeightFormat::nf4 || format == WeightFormat::fp4; }

const char* to_string(WeightFormat format);

/// A frozen weight matrix (N,K) = (out,in) in one of the formats, on one device. Move-only.
/// 4-bit: the matrix is flattened row-major into blocks of 64 that may cross rows; element 2j sits in the high nibble
/// of byte j. absmax of block i is f32, or (double quantisation) map[code] * nested_absmax[i / 256] + nested_offset.
/// Source: formats.md §2.1-2.3 (bitsandbytes).
struct Weight {
  WeightFormat format = WeightFormat::f32;
  std::int64_t out = 0;      ///< N
  std::int64_t in = 0;       ///< K
  Tensor values;             ///< (N,K) f32/bf16/f16/i8, or u8 [(N*K+1)/2] packed codes
  Tensor absmax;             ///< f32 [blocks] for the single formats, u8 [blocks] for nf4 and fp4, f32 [N] for int8
  Tensor nested_absmax;      ///< f32 [ceil(blocks/256)] for nf4 and fp4
  float nested_offset = 0;   ///< mean of the f32 absmax values, for nf4 and fp4
  Tensor bias;               ///< f32 [N] or empty

  std::size_t bytes() const;
};

/// The same weight without its bias. It borrows the tensors, which must outlive it.
Weight without_bias(const Weight& weight);

/// Whether rows [first, ...) of a weight can be used without the others: where 4-bit blocks or groups of their absmax
/// values cross the boundary they cannot.
bool is_row_boundary(WeightFormat format, std::int64_t in, std::int64_t first);
/// Rows [first, first + count) as a weight of its own, with their part of the bias. It borrows the tensors, which must
/// outlive it. Throws Error(invalid_argument) for rows that are not there or do not begin at a boundary.
Weight rows_of(const Weight& weight, std::int64_t first, std::int64_t count);

/// Bytes a weight of this shape will take on the device, without its bias.
std::size_t weight_bytes(WeightFormat format, std::int64_t out, std::int64_t in);

/// Reads elements [first, first + out.size()) of the row-major matrix as f32.
using ElementReader = std::function<void(std::int64_t first, std::span<float> out)>;

/// Builds a weight on `backend` from a reader, in pieces: beside the finished weight it needs a few MiB and, for
/// nf4, one f32 per block. Throws Error(numeric) naming `name` when a value is not finite.
Weight make_weight(Backend& backend, WeightFormat format, std::int64_t out, std::int64_t in, const ElementReader& read,
                   const std::string& name);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// Reading a stored weight (kernels/weight.h) inside a kernel: code tables, absmax of a block, values. f32
// arithmetic with a rounding after each product and sum, so that values equal the host's bit for bit.
#pragma once

#include <cstdint>

#include "kernels/cuda/device.cuh"
#include "kernels/dynamic_map_values.h"
#include "kernels/fp4.h"
#include "kernels/nf4.h"
#include "kernels/weight.h"

namespace lorikeet::cuda {

template <int Size>
struct FloatTable {
  float values[Size];
};
template <std::size_t Size>
constexpr FloatTable<static_cast<int>(Size)> to_table(const std::array<float, Size>& from) {
  FloatTable<static_cast<int>(Size)> table{};
  for (std::size_t i = 0; i < Size; ++i) table.values[i] = from[i];
  return table;
}

static __device__ const FloatTable<16> device_nf4_code = to_table(nf4_code);
static __device__ const FloatTable<16> device_fp4_code = to_table(fp4_code);
static __device__ const FloatTable<256> device_signed_map = to_table(make_dynamic_map(true));

/// What kernels know of a Weight; passed by value.
struct StoredWeight {
  const void* values = nullptr;
  const void* absmax = nullptr;
  const float* nested_absmax = nullptr;
  float nested_offset = 0;
  WeightFormat format = WeightFormat::f32;
};
inline StoredWeight stored(const Weight& weight) {
  return {weight.values.view().data, weight.absmax.view().data, weight.nested_absmax.view().as<float>(),
          weight.nested_offset, weight.format};
}

/// The tables of a 4-bit format in shared memory.
struct CodeTables {
  float code[16];
  float map[256];  ///< of absmax codes, nested formats only
};

__device__ __forceinline__ bool is_four_bit_format(WeightFormat format) {
  return format == WeightFormat::nf4 || format == WeightFormat::nf4_single || format == WeightFormat::fp4 ||
         format == WeightFormat::fp4_single;
}
__device__ __forceinline__ bool is_nested_format(WeightFormat format) {
  return format == WeightFormat::nf4 || format == WeightFormat::fp4;
}

/// Fills the tables for a 4-bit format, by all threads of a block of any size; a barrier must follow.
__device__ __forceinline__ void load_tables(CodeTables& tables, WeightFormat format) {
  const bool nf4 = format == WeightFormat::nf4 || format == WeightFormat::nf4_single;
  const float* code = nf4 ? device_nf4_code.values : device_fp4_code.values;
  for (unsigned i = threadIdx.x; i < 16; i += blockDim.x) tables.code[i] = code[i];
  if (!is_nested_format(format)) return;
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) tables.map[i] = device_signed_map.values[i];
}

/// absmax of a block of 64 of a 4-bit format.
__device__ __forceinline__ float block_absmax(const StoredWeight& weight, std::int64_t block,
                                              const CodeTables& tables) {
  if (!is_nested_format(weight.format)) return static_cast<const float*>(weight.absmax)[block];
  const std::uint8_t code = static_cast<const std::uint8_t*>(weight.absmax)[block];
  return __fadd_rn(__fmul_rn(tables.map[code], weight.nested_absmax[block / nf4_nested_block]),
                   weight.nested_offset);
}

/// Element 2j (high nibble) and 2j+1 of a byte of codes.
__device__ __forceinline__ float high_value(std::uint32_t byte, float absmax, const CodeTables& tables) {
  return __fmul_rn(tables.code[(byte >> 4) & 15u], absmax);
}
__device__ __forceinline__ float low_value(std::uint32_t byte, float absmax, const CodeTables& tables) {
  return __fmul_rn(tables.code[byte & 15u], absmax);
}

/// A value of an int8 row, as bitsandbytes' int8_vectorwise_dequant.
__device__ __forceinline__ float int8_value(std::int8_t value, float absmax) {
  return __fmul_rn(__fmul_rn(static_cast<float>(value), absmax), 7.874015718698502e-3f);
}

/// One element of a weight of any format, (row,column) of a matrix of `width` columns.
__device__ __forceinline__ float weight_value(const StoredWeight& weight, std::int64_t row,
                                              std::int64_t column, std::int64_t width,
                                              const CodeTables& tables) {
  const std::int64_t at = row * width + column;
  switch (weight.format) {
    case WeightFormat::f32:
      return static_cast<const float*>(weight.values)[at];
    case WeightFormat::bf16:
      return to_float(static_cast<const bf16*>(weight.values)[at]);
    case WeightFormat::f16:
      return to_float(static_cast<const f16*>(weight.values)[at]);
    case WeightFormat::int8:
      return int8_value(static_cast<const std::int8_t*>(weight.values)[at],
                        static_cast<const float*>(weight.absmax)[row]);
    default: {
      const std::uint8_t byte = static_cast<const std::uint8_t*>(weight.values)[at / 2];
      const float absmax = block_absmax(weight, at / nf4_block, tables);
      return at % 2 == 0 ? high_value(byte, absmax, tables) : low_value(byte, absmax, tables);
    }
  }
}

}  // namespace lorikeet::cuda

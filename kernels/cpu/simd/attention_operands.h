// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/simd/table.h"
#include "kernels/cpu/simd/vec.h"

// Operands of attention in units of 4 bytes and their products (layouts: table.h). A buffer of units is a
// float* whatever it holds; units are only ever moved, and multiplied by their operand type.
namespace {

using lorikeet::simd::attention_row_multiple;
using lorikeet::simd::attention_tile;

constexpr std::int64_t tile = attention_tile;
constexpr std::int64_t group = 4;  ///< rows of a product that are worked on together

/// f32 operands.
struct SingleUnit {
  static constexpr std::int64_t per_unit = 1;
  static LORIKEET_INLINE Vec multiply_add(Vec sum, Vec a, Vec b) { return sum + a * b; }
  /// A vector of elements that are neighbours along a row, as units.
  static LORIKEET_INLINE void store_row(float* to, Vec x) { store(to, x); }
  static LORIKEET_INLINE Vec load_row(const float* from) { return load(from); }
  /// Two rows (sum index k, k + 1) of lanes, as this operand's rows of units.
  static LORIKEET_INLINE void store_pair(float* to, std::int64_t row_units, Vec first, Vec second) {
    store(to, first);
    store(to + row_units, second);
  }
};

LORIKEET_INLINE std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace

#include LORIKEET_UNIT_HEADER

namespace {

enum class Mode { overwrite, add, scale_and_add };

/// Where the broadcast operand's units lie: row r, sum index k at data[r * row + k * step].
struct Broadcast {
  const float* data;
  std::int64_t row, step;
};

template <typename Unit, int columns, Mode mode>
__attribute__((noinline)) void multiply_block(float* c, std::int64_t c_row, const Broadcast& a,
                                              const float* b, std::int64_t b_row, std::int64_t count,
                                              const float* alpha) {
  Vec sums[group][columns];
  for (int r = 0; r < group; ++r) {
    for (int n = 0; n < columns; ++n) {
      sums[r][n] = mode == Mode::overwrite ? Vec{} : load(c + r * c_row + n * lanes);
      if (mode == Mode::scale_and_add) sums[r][n] *= alpha[r];
    }
  }
  const float* left = a.data;
#pragma GCC unroll 2
  for (std::int64_t k = 0; k < count; ++k) {
    Vec right[columns];
    for (int n = 0; n < columns; ++n) right[n] = load(b + n * lanes);
    for (int r = 0; r < group; ++r) {
      const Vec one = splat_unit(left + r * a.row);
      for (int n = 0; n < columns; ++n) sums[r][n] = Unit::multiply_add(sums[r][n], one, right[n]);
    }
    left += a.step;
    b += b_row;
  }
  for (int r = 0; r < group; ++r) {
    for (int n = 0; n < columns; ++n) store(c + r * c_row + n * lanes, sums[r][n]);
  }
}

/// Four rows of c (vectors * lanes wide) = / += a b, or alpha[row] * c + a b; `count` units are summed over.
template <typename Unit, Mode mode>
void multiply(float* c, std::int64_t c_row, const Broadcast& a, const float* b, std::int64_t b_row,
              std::int64_t count, std::int64_t vectors, const float* alpha = nullptr) {
  constexpr int most = lanes == 16 ? 4 : 2;  // what 32 or 16 registers hold beside the operands
  for (; vectors >= most; vectors -= most) {
    multiply_block<Unit, most, mode>(c, c_row, a, b, b_row, count, alpha);
    c += most * lanes;
    b += most * lanes;
  }
  if (most == 4 && vectors == 3) return multiply_block<Unit, 3, mode>(c, c_row, a, b, b_row, count, alpha);
  if (most == 4 && vectors == 2) return multiply_block<Unit, 2, mode>(c, c_row, a, b, b_row, count, alpha);
  if (vectors == 1) multiply_block<Unit, 1, mode>(c, c_row, a, b, b_row, count, alpha);
}

typedef float Four __attribute__((vector_size(16)));

/// One number from each of four vectors: `fold` reduces one to four lanes, `join` two of those to one.
template <typename Fold, typename Join>
LORIKEET_INLINE Four reduce_each(const Vec* x, const Fold& fold, const Join& join) {
  typedef std::int32_t Places __attribute__((vector_size(16)));
  const Four a = fold(x[0]), b = fold(x[1]), c = fold(x[2]), d = fold(x[3]);
  const Four ab =
      join(__builtin_shuffle(a, b, Places{0, 4, 1, 5}), __builtin_shuffle(a, b, Places{2, 6, 3, 7}));
  const Four cd =
      join(__builtin_shuffle(c, d, Places{0, 4, 1, 5}), __builtin_shuffle(c, d, Places{2, 6, 3, 7}));
  return join(__builtin_shuffle(ab, cd, Places{0, 1, 4, 5}), __builtin_shuffle(ab, cd, Places{2, 3, 6, 7}));
}
LORIKEET_INLINE Four largest_of_each(const Vec* x) {
  return reduce_each(
      x, [](Vec v) -> Four { return native_fold_max(v); },
      [](Four a, Four b) -> Four { return _mm_max_ps(a, b); });
}
LORIKEET_INLINE Four sum_of_each(const Vec* x) {
  return reduce_each(
      x, [](Vec v) -> Four { return native_fold_add(v); }, [](Four a, Four b) { return a + b; });
}

/// to[column][row] = from[row][column]; both extents are multiples of 4. Only moves bits.
inline void transpose(const float* from, std::int64_t from_row, float* to, std::int64_t to_row,
                      std::int64_t rows, std::int64_t columns) {
  typedef std::int32_t Places __attribute__((vector_size(16)));
  for (std::int64_t r = 0; r < rows; r += 4) {
    for (std::int64_t c = 0; c < columns; c += 4) {
      Four x[4];
      for (int i = 0; i < 4; ++i) __builtin_memcpy(&x[i], from + (r + i) * from_row + c, sizeof x[i]);
      const Four low01 = __builtin_shuffle(x[0], x[1], Places{0, 4, 1, 5});
      const Four low23 = __builtin_shuffle(x[2], x[3], Places{0, 4, 1, 5});
      const Four high01 = __builtin_shuffle(x[0], x[1], Places{2, 6, 3, 7});
      const Four high23 = __builtin_shuffle(x[2], x[3], Places{2, 6, 3, 7});
      const Four y[4] = {__builtin_shuffle(low01, low23, Places{0, 1, 4, 5}),
                         __builtin_shuffle(low01, low23, Places{2, 3, 6, 7}),
                         __builtin_shuffle(high01, high23, Places{0, 1, 4, 5}),
                         __builtin_shuffle(high01, high23, Places{2, 3, 6, 7})};
      for (int i = 0; i < 4; ++i) __builtin_memcpy(to + (c + i) * to_row + r, &y[i], sizeof y[i]);
    }
  }
}

/// Asks for rows that will be read soon: a head's rows lie too far apart for the processor to guess them.
template <typename T>
void prefetch_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t head_dim) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < head_dim; i += line) __builtin_prefetch(from + r * stride + i);
  }
}

/// `rows` rows of units, each `padded` elements wide with zeros behind head_dim, then rows of zeros up to
/// rows_padded.
template <typename Unit, typename T>
void copy_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t rows_padded,
               std::int64_t head_dim, std::int64_t padded, float* to) {
  const std::int64_t row_units = padded / Unit::per_unit;
  for (std::int64_t r = 0; r < rows; ++r) {
    const T* row = from + r * stride;
    for_each_vector(
        head_dim, [&](auto i) { Unit::store_row(to + r * row_units + i.at / Unit::per_unit, i.load(row)); });
  }
  __builtin_memset(to + rows * row_units, 0,
                   static_cast<std::size_t>((rows_padded - rows) * row_units) * sizeof(float));
}

/// Rows k, k + 1, ... of copy_rows put together along the sum: (rows / per_unit, padded) units.
template <typename Unit>
void pair_rows(const float* from, std::int64_t rows, std::int64_t padded, float* to) {
  const std::int64_t row_units = padded / Unit::per_unit;
  for (std::int64_t r = 0; r < rows; r += 2) {
    for (std::int64_t c = 0; c < padded; c += lanes) {
      const Vec first = Unit::load_row(from + r * row_units + c / Unit::per_unit);
      const Vec second = Unit::load_row(from + (r + 1) * row_units + c / Unit::per_unit);
      Unit::store_pair(to + r / Unit::per_unit * padded + c, padded, first, second);
    }
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "cvt". The frequent pairs have handlers of their own, everything else goes through a general one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

__extension__ typedef __int128 int128;

/// Instruction::mode of a conversion: a rounding, and whether it is to a whole number.
constexpr std::uint8_t to_whole = 4, relu = 8, ties_away = 16;
Rounding rounding_of(const Instruction& i) {
  return static_cast<Rounding>(i.mode & 3);
}

double whole(double x, Rounding r) {
  switch (r) {
    case Rounding::nearest:
      return std::nearbyint(x);
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::down:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}

/// x, exact or rounded to odd, to a 16-bit float in any direction: the nearest, then one step back where it
/// is beyond.
template <typename T>
T directed(double x, Rounding r) {
  const T near = narrow_odd<T>(x);
  const double got = double{to_float(near)};
  if (r == Rounding::nearest || std::isnan(x) || got == x) return near;
  const bool too_large = got > x;
  const bool wrong = r == Rounding::down ? too_large : r == Rounding::up ? !too_large : too_large == (x > 0);
  if (!wrong) return near;
  const bool away = r != Rounding::zero && (r == Rounding::up) == (x > 0);
  if ((near.bits & 0x7fff) == 0) return T{static_cast<std::uint16_t>(r == Rounding::up ? 1 : 0x8001)};
  return T{static_cast<std::uint16_t>(away ? near.bits + 1 : near.bits - 1)};
}

double float_source(std::uint64_t bits, Type t) {
  switch (t) {
    case Type::f16:
      return double{to_float(f16{static_cast<std::uint16_t>(bits)})};
    case Type::bf16:
      return double{to_float(bf16{static_cast<std::uint16_t>(bits)})};
    case Type::f32:
      return double{as_float(static_cast<std::uint32_t>(bits))};
    default:
      return as_double(bits);
  }
}

int128 integer_source(std::uint64_t bits, Type t) {
  switch (t) {
    case Type::u8:
      return static_cast<std::uint8_t>(bits);
    case Type::s8:
      return static_cast<std::int8_t>(bits);
    case Type::u16:
      return static_cast<std::uint16_t>(bits);
    case Type::s16:
      return static_cast<std::int16_t>(bits);
    case Type::u32:
      return static_cast<std::uint32_t>(bits);
    case Type::s32:
      return static_cast<std::int32_t>(bits);
    case Type::s64:
      return static_cast<std::int64_t>(bits);
    default:
      return bits;
  }
}

int128 smallest(Type t) {
  return is_signed(t) ? -(int128{1} << (8 * size_of(t) - 1)) : 0;
}
int128 largest(Type t) {
  return (int128{1} << (8 * size_of(t) - (is_signed(t) ? 1 : 0))) - 1;
}

std::uint64_t float_result(double x, const Instruction& i) {
  const Rounding r = rounding_of(i);
  if ((i.mode & relu) != 0 && (x < 0 || (x == 0 && std::signbit(x)))) x = 0;
  switch (i.type) {
    case Type::f16:
      return directed<f16>(x, r).bits;
    case Type::bf16:
      return directed<bf16>(x, r).bits;
    case Type::f32: {
      const float f = round_to_float(x, r);
      return bits_of(i.flag ? flush(f) : f);
    }
    default:
      return bits_of(x);
  }
}

std::uint64_t integer_result(double x, const Instruction& i) {
  // PTX ISA: NaN is 0, but the highest bit when one of the types is f64, s64 or u64.
  if (std::isnan(x)) {
    const bool large = i.from == Type::f64 || size_of(i.type) == 8;
    return large ? std::uint64_t{1} << (8 * size_of(i.type) - 1) : 0;
  }
  x = whole(x, rounding_of(i));
  if (x <= static_cast<double>(smallest(i.type))) return static_cast<std::uint64_t>(smallest(i.type));
  if (x >= static_cast<double>(largest(i.type))) return static_cast<std::uint64_t>(largest(i.type));
  return static_cast<std::uint64_t>(static_cast<int128>(x));
}

double odd_double(int128 v) {
  const auto near = static_cast<double>(v);
  const int128 rest = v - static_cast<int128>(near);
  return make_odd(near, rest > 0 ? 1.0 : rest < 0 ? -1.0 : 0.0);
}

std::uint64_t convert(std::uint64_t bits, const Instruction& i) {
  if (is_float(i.from)) {
    double x = float_source(bits, i.from);
    if (i.flag && i.from == Type::f32) x = double{flush(static_cast<float>(x))};
    if (!is_float(i.type)) return integer_result(x, i);
    if ((i.mode & to_whole) != 0) x = whole(x, rounding_of(i));
    if (i.count == 2) x = saturate(x);
    return float_result(x, i);
  }
  int128 v = integer_source(bits, i.from);
  if (is_float(i.type)) {
    if (i.type == Type::f64 && rounding_of(i) == Rounding::nearest) return bits_of(static_cast<double>(v));
    const double x = odd_double(v);
    return float_result(i.count == 2 ? saturate(x) : x, i);
  }
  if (i.count == 2) v = std::clamp(v, smallest(i.type), largest(i.type));
  return static_cast<std::uint64_t>(v);
}

/// i.width is the size of the destination's register: a narrower result is extended by its sign.
template <typename From, typename To>
void run_general(Warp& w, const Instruction& i, std::uint32_t mask) {
  const From* a = w.at<From>(i.a);
  To* d = w.at<To>(i.d);
  for_each_lane(mask, [&](std::uint32_t l) {
    std::uint64_t v = convert(a[l], i);
    if (!is_float(i.type)) {
      const int unused = 64 - 8 * size_of(i.type);
      v = is_signed(i.type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v << unused) >> unused)
                            : v << unused >> unused;
    }
    if (i.width == 2) v &= 0xffff;
    d[l] = static_cast<To>(v);
  });
}

/// cvt.rn.bf16x2.f32 d, a, b: a becomes the upper half.
template <typename T>
LORIKEET_PTX_CLONES void run_pair(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t *a = w.at<std::uint32_t>(i.a), *b = w.at<std::uint32_t>(i.b);
  std::uint32_t* d = w.at<std::uint32_t>(i.d);
  if ((i.mode & relu) == 0 && rounding_of(i) == Rounding::nearest) {
#pragma GCC ivdep
    for (std::uint32_t l = 0; l < warp_size; ++l) {
      const std::uint32_t high = narrow<T>(as_float(a[l])).bits, low = narrow<T>(as_float(b[l])).bits;
      d[l] = (mask >> l & 1) != 0 ? high << 16 | low : d[l];
    }
    return;
  }
  for_each_lane(mask, [&](std::uint32_t l) {
    const auto one = [&](std::uint32_t bits) {
      double x = double{as_float(bits)};
      if ((i.mode & relu) != 0 && (x < 0 || (x == 0 && std::signbit(x)))) x = 0;
      return std::uint32_t{directed<T>(x, rounding_of(i)).bits};
    };
    d[l] = one(a[l]) << 16 | one(b[l]);
  });
}

template <typename To, typename From>
Handler integer_pair() {
  return lanewise<To, From>([](From v) { return static_cast<To>(v); });
}

/// nullptr: the general way.
Handler frequent(const Instruction& i) {
  if (i.count == 2 || i.flag || (i.mode & ~3) != 0) return nullptr;
  using F = float;
  const Type a = i.from, d = i.type;
  const bool near = rounding_of(i) == Rounding::nearest;
  if (d == Type::f32 && a == Type::f16) return lanewise<F, f16>([](f16 v) { return to_float(v); });
  if (d == Type::f32 && a == Type::bf16) return lanewise<F, bf16>([](bf16 v) { return to_float(v); });
  if (!near) return nullptr;
  if (d == Type::f16 && a == Type::f32) return lanewise<f16, F>([](F v) { return narrow<f16>(v); });
  if (d == Type::bf16 && a == Type::f32) return lanewise<bf16, F>([](F v) { return narrow<bf16>(v); });
  if (d == Type::f32 && a == Type::s32) {
    return lanewise<F, std::int32_t>([](std::int32_t v) { return static_cast<F>(v); });
  }
  if (d == Type::f32 && a == Type::u32) {
    return lanewise<F, std::uint32_t>([](std::uint32_t v) { return static_cast<F>(v); });
  }
  if (d == Type::f64 && a == Type::f32) return lanewise<double, F>([](F v) { return double{v}; });
  if (d == Type::f32 && a == Type::f64)
    return lanewise<F, double>([](double v) { return static_cast<F>(v); });
  if (is_float(a) || is_float(d) || i.width != size_of(d)) return nullptr;
  return for_integer(d, [a]<typename To>() {
    return for_integer(a, []<typename From>() { return integer_pair<To, From>(); });
  });
}

std::uint8_t take_rounding(Decoder& d) {
  const int whole_mode = d.take_one({"rni", "rzi", "rmi", "rpi"});
  if (whole_mode >= 0) return static_cast<std::uint8_t>(whole_mode | to_whole);
  const int mode = d.take_one({"rn", "rz", "rm", "rp", "rna"});
  return mode < 0 ? 0 : mode == 4 ? ties_away : static_cast<std::uint8_t>(mode);
}

Handler general(bool wide_from, bool wide_to) {
  using U = std::uint32_t;
  using L = std::uint64_t;
  if (wide_from) return wide_to ? &run_general<L, L> : &run_general<L, U>;
  return wide_to ? &run_general<U, L> : &run_general<U, U>;
}

}  // namespace

void decode_convert(Decoder& d) {
  d.i.mode = take_rounding(d);
  d.i.flag = d.take("ftz");
  const bool sat = d.take("sat");
  if (d.take("relu")) d.i.mode |= relu;
  d.i.type = d.need_type();
  d.i.from = d.need_type();
  if (sat) d.i.count = 2;
  const Type to = d.i.type, from = d.i.from;
  if (to == Type::bf16x2 || to == Type::f16x2) {
    if (from != Type::f32 || sat) d.fail("unknown pair of types");
    d.need_operands(3, 3);
    d.i.d = d.destination(0, to);
    d.i.a = d.source(1, Type::f32);
    d.i.b = d.source(2, Type::f32);
    d.i.run = to == Type::bf16x2 ? &run_pair<bf16> : &run_pair<f16>;
    return;
  }
  d.need_operands(2, 2);
  if (to == Type::tf32) {
    // 10 bits of mantissa, ties away from zero.
    if (from != Type::f32 || (d.i.mode & ties_away) == 0 || sat) d.fail("unknown pair of types");
    d.i.d = d.destination(0, Type::b32);
    d.i.a = d.source(1, Type::f32);
    d.i.run = lanewise<std::uint32_t, std::uint32_t>(
        [](std::uint32_t v) { return (v & 0x7f800000u) == 0x7f800000u ? v : (v + 0x1000u) & ~0x1fffu; });
    return;
  }
  if ((d.i.mode & ties_away) != 0) d.fail("unknown modifier .rna");
  const Type to_register = d.register_type(d.operand(0)), from_register = d.register_type(d.operand(1));
  if (to_register == Type::pred || from_register == Type::pred || size_of(to) == 0 || size_of(from) == 0 ||
      size_of(to_register) < size_of(to) ||
      (from_register != Type::none && size_of(from_register) < size_of(from))) {
    d.fail("the registers are too small or of another kind");
  }
  if (to == Type::b8 || from == Type::b8 || to == Type::b16 || from == Type::b16)
    d.fail("unknown pair of types");
  const Type source = from_register == Type::none ? from : from_register;
  d.i.width = static_cast<std::uint8_t>(size_of(to_register));
  d.i.d = d.destination(0, to_register);
  d.i.a = d.source(1, source);
  d.i.run = size_of(source) == 8 && size_of(from) < 8 ? nullptr : frequent(d.i);
  if (d.i.run == nullptr) d.i.run = general(size_of(source) == 8, size_of(to_register) == 8);
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Floating Point Instructions".
#include <cmath>
#include <limits>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

/// F, with subnormal inputs and results flushed and the result clamped to [0, 1] where asked for.
template <typename... S, typename F>
Handler f32_handler(F, bool ftz, bool sat) {
  if (ftz && sat) return lanewise<float, S...>([](S... s) { return saturate(flush(F{}(flush(s)...))); });
  if (ftz) return lanewise<float, S...>([](S... s) { return flush(F{}(flush(s)...)); });
  if (sat) return lanewise<float, S...>([](S... s) { return saturate(F{}(s...)); });
  return lanewise<float, S...>(F{});
}

struct Modes {
  bool ftz = false, sat = false;
  Rounding rounding = Rounding::nearest;
};

/// Exact is the operation in f64, rounded to odd; only directed rounding needs it.
template <typename... S, typename Fast, typename Exact>
Handler f32_rounded(Decoder& d, Fast fast, Exact, const Modes& m) {
  if (m.rounding == Rounding::nearest) return f32_handler<S...>(fast, m.ftz, m.sat);
  if (m.ftz || m.sat) d.fail("unknown combination of modifiers");
  switch (m.rounding) {
    case Rounding::zero:
      return lanewise<float, S...>(
          [](S... s) { return round_to_float(Exact{}(double{s}...), Rounding::zero); });
    case Rounding::down:
      return lanewise<float, S...>(
          [](S... s) { return round_to_float(Exact{}(double{s}...), Rounding::down); });
    default:
      return lanewise<float, S...>(
          [](S... s) { return round_to_float(Exact{}(double{s}...), Rounding::up); });
  }
}

template <bool Largest, bool NaN, typename T>
T extreme(T a, T b) {
  using U = Bits<sizeof(T)>;
  const auto x = std::bit_cast<U>(a), y = std::bit_cast<U>(b);
  // -0 is less than +0.
  const T equal = std::bit_cast<T>(static_cast<U>(Largest ? x & y : x | y));
  const T chosen = a == b ? equal : (a < b) != Largest ? a : b;
  const T a_or_nan = a != a ? (NaN || b != b ? std::numeric_limits<T>::quiet_NaN() : b) : chosen;
  return b != b ? (NaN || a != a ? std::numeric_limits<T>::quiet_NaN() : a) : a_or_nan;
}

Modes take_modes(Decoder& d) {
  Modes m;
  switch (d.take_one({"rn", "rz", "rm", "rp"})) {
    case 1:
      m.rounding = Rounding::zero;
      break;
    case 2:
      m.rounding = Rounding::down;
      break;
    case 3:
      m.rounding = Rounding::up;
      break;
    default:
      break;
  }
  m.ftz = d.take("ftz");
  m.sat = d.take("sat");
  return m;
}

void operands(Decoder& d, Type t, std::size_t sources) {
  d.need_operands(sources + 1, sources + 1);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, t);
  if (sources > 1) d.i.b = d.source(2, t);
  if (sources > 2) d.i.c = d.source(3, t);
}

Handler f32_extreme(Decoder& d, bool largest, bool nan, bool ftz) {
  if (d.take("xorsign")) d.fail("unknown modifier .xorsign");
  using F = float;
  if (largest && nan)
    return f32_handler<F, F>([](F a, F b) { return extreme<true, true>(a, b); }, ftz, false);
  if (largest) return f32_handler<F, F>([](F a, F b) { return extreme<true, false>(a, b); }, ftz, false);
  if (nan) return f32_handler<F, F>([](F a, F b) { return extreme<false, true>(a, b); }, ftz, false);
  return f32_handler<F, F>([](F a, F b) { return extreme<false, false>(a, b); }, ftz, false);
}

Handler f32_operation(Decoder& d, const std::string& op) {
  using F = float;
  const bool nan = d.take("NaN");
  if (op == "div") d.take_one({"approx", "full"});
  const Modes m = take_modes(d);
  if (op == "add") {
    return f32_rounded<F, F>(
        d, [](F a, F b) { return a + b; }, [](double a, double b) { return add_odd(a, b); }, m);
  }
  if (op == "sub") {
    return f32_rounded<F, F>(
        d, [](F a, F b) { return a - b; }, [](double a, double b) { return add_odd(a, -b); }, m);
  }
  if (op == "mul") {
    return f32_rounded<F, F>(
        d, [](F a, F b) { return a * b; }, [](double a, double b) { return a * b; }, m);
  }
  if (op == "div") {
    return f32_rounded<F, F>(
        d, [](F a, F b) { return a / b; }, [](double a, double b) { return divide_odd(a, b); }, m);
  }
  if (op == "neg")
    return f32_handler<F>([](F a) { return as_float(bits_of(a) ^ 0x80000000u); }, m.ftz, false);
  if (op == "abs")
    return f32_handler<F>([](F a) { return as_float(bits_of(a) & 0x7fffffffu); }, m.ftz, false);
  if (op == "min" || op == "max") return f32_extreme(d, op == "max", nan, m.ftz);
  return nullptr;
}

Handler f64_operation(Decoder& d, const std::string& op) {
  using F = double;
  d.take("rn");
  if (op == "add") return lanewise<F, F, F>([](F a, F b) { return a + b; });
  if (op == "sub") return lanewise<F, F, F>([](F a, F b) { return a - b; });
  if (op == "mul") return lanewise<F, F, F>([](F a, F b) { return a * b; });
  if (op == "div") return lanewise<F, F, F>([](F a, F b) { return a / b; });
  if (op == "neg") return lanewise<F, F>([](F a) { return as_double(bits_of(a) ^ std::uint64_t{1} << 63); });
  if (op == "abs")
    return lanewise<F, F>([](F a) { return as_double(bits_of(a) & ~(std::uint64_t{1} << 63)); });
  if (op == "min") return lanewise<F, F, F>([](F a, F b) { return extreme<false, false>(a, b); });
  if (op == "max") return lanewise<F, F, F>([](F a, F b) { return extreme<true, false>(a, b); });
  return nullptr;
}

}  // namespace

void decode_float_arithmetic(Decoder& d, Type t) {
  const std::string& op = d.statement().opcode;
  if (t != Type::f32 && t != Type::f64) return decode_half_arithmetic(d, t);
  operands(d, t, op == "neg" || op == "abs" ? 1 : 2);
  d.i.run = t == Type::f32 ? f32_operation(d, op) : f64_operation(d, op);
  if (d.i.run == nullptr) d.fail("unknown type for this instruction");
}

void decode_arithmetic(Decoder& d) {
  const std::string& op = d.statement().opcode;
  for (const std::string& m : d.statement().modifiers) {
    const Type t = type_named(m);
    if (t == Type::none) continue;
    if (!is_float(t)) break;
    d.take(m);
    if (op == "mad") return d.fail("unknown type for this instruction");
    return decode_float_arithmetic(d, t);
  }
  for (const std::string& m : d.statement().modifiers) {
    if (m == "cc") return decode_carry(d);
  }
  decode_integer_arithmetic(d);
}

void decode_fma(Decoder& d) {
  using F = float;
  const Modes m = take_modes(d);
  const bool relu = d.take("relu");
  const Type t = d.need_type({Type::f32, Type::f64, Type::f16, Type::bf16, Type::f16x2, Type::bf16x2});
  if (t != Type::f32 && t != Type::f64) {
    if (m.rounding != Rounding::nearest || m.ftz || m.sat) d.fail("unknown modifier for a half type");
    d.i.flag = relu;
    return decode_half_arithmetic(d, t);
  }
  operands(d, t, 3);
  if (relu) d.fail("unknown modifier .relu");
  if (t == Type::f64) {
    if (m.rounding != Rounding::nearest) d.fail("directed rounding of f64 is not known");
    d.i.run = lanewise<double, double, double, double>(
        [](double a, double b, double c) { return std::fma(a, b, c); });
    return;
  }
  d.i.run = f32_rounded<F, F, F>(
      d, [](F a, F b, F c) { return __builtin_fmaf(a, b, c); },
      [](double a, double b, double c) { return fma_odd(a, b, c); }, m);
}

}  // namespace lorikeet::ptx

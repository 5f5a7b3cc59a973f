// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Half Precision Floating Point Instructions": one rounding each. A sum or product of two halves is
// exact enough in f32 that rounding it again does no harm; fma goes through f64.
#include <cmath>
#include <limits>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

template <bool Largest, bool NaN, typename T>
T extreme(T a, T b) {
  const float x = to_float(a), y = to_float(b);
  if (x != x || y != y) {
    if (NaN || (x != x && y != y)) return {0x7fff};
    return x != x ? b : a;
  }
  if (x == y) return {static_cast<std::uint16_t>(Largest ? a.bits & b.bits : a.bits | b.bits)};
  return (x < y) != Largest ? a : b;
}

/// A handler for T, or for a pair of them in 32 bits.
template <typename T, typename... S, typename F>
Handler half_handler(F, bool pairs) {
  if (!pairs) return lanewise<T, S...>(F{});
  return lanewise<std::uint32_t, std::conditional_t<true, std::uint32_t, S>...>(
      [](std::conditional_t<true, std::uint32_t, S>... s) {
        const std::uint32_t low = F{}(S{static_cast<std::uint16_t>(s)}...).bits;
        const std::uint32_t high = F{}(S{static_cast<std::uint16_t>(s >> 16)}...).bits;
        return high << 16 | low;
      });
}

template <typename T>
Handler half_operation(const std::string& op, bool pairs, bool nan, bool relu) {
  if (op == "add") {
    return half_handler<T, T, T>([](T a, T b) { return narrow<T>(to_float(a) + to_float(b)); }, pairs);
  }
  if (op == "sub") {
    return half_handler<T, T, T>([](T a, T b) { return narrow<T>(to_float(a) - to_float(b)); }, pairs);
  }
  if (op == "mul") {
    return half_handler<T, T, T>([](T a, T b) { return narrow<T>(to_float(a) * to_float(b)); }, pairs);
  }
  static constexpr auto fma = [](T a, T b, T c) {
    return narrow_odd<T>(fma_odd(double{to_float(a)}, double{to_float(b)}, double{to_float(c)}));
  };
  if (op == "fma" && relu) {
    return half_handler<T, T, T, T>(
        [](T a, T b, T c) {
          const T r = fma(a, b, c);
          return to_float(r) < 0 || r.bits == 0x8000 ? T{0} : r;
        },
        pairs);
  }
  if (op == "fma") return half_handler<T, T, T, T>([](T a, T b, T c) { return fma(a, b, c); }, pairs);
  if (op == "neg")
    return half_handler<T, T>([](T a) { return T{static_cast<std::uint16_t>(a.bits ^ 0x8000)}; }, pairs);
  if (op == "abs")
    return half_handler<T, T>([](T a) { return T{static_cast<std::uint16_t>(a.bits & 0x7fff)}; }, pairs);
  if (op == "max" && nan)
    return half_handler<T, T, T>([](T a, T b) { return extreme<true, true>(a, b); }, pairs);
  if (op == "max") return half_handler<T, T, T>([](T a, T b) { return extreme<true, false>(a, b); }, pairs);
  if (op == "min" && nan)
    return half_handler<T, T, T>([](T a, T b) { return extreme<false, true>(a, b); }, pairs);
  if (op == "min") return half_handler<T, T, T>([](T a, T b) { return extreme<false, false>(a, b); }, pairs);
  return nullptr;
}

template <typename T>
Handler half_function(const std::string& op, bool pairs) {
  if (op == "ex2") return half_handler<T, T>([](T a) { return narrow<T>(std::exp2(to_float(a))); }, pairs);
  if (op == "tanh") return half_handler<T, T>([](T a) { return narrow<T>(std::tanh(to_float(a))); }, pairs);
  return nullptr;
}

template <typename F>
Handler f32_function(F, bool ftz) {
  if (ftz) return one_by_one<float, float>([](float a) { return flush(F{}(flush(a))); });
  return one_by_one<float, float>(F{});
}

Handler f32_approximate(const std::string& op, bool ftz, Rounding rounding) {
  using F = float;
  if (rounding != Rounding::nearest) return nullptr;
  if (op == "rcp") return f32_function([](F a) { return 1.0f / a; }, ftz);
  if (op == "sqrt") return f32_function([](F a) { return std::sqrt(a); }, ftz);
  if (op == "rsqrt") return f32_function([](F a) { return static_cast<F>(1.0 / std::sqrt(double{a})); }, ftz);
  if (op == "sin") return f32_function([](F a) { return std::sin(a); }, ftz);
  if (op == "cos") return f32_function([](F a) { return std::cos(a); }, ftz);
  if (op == "ex2") return f32_function([](F a) { return std::exp2(a); }, ftz);
  if (op == "lg2") return f32_function([](F a) { return std::log2(a); }, ftz);
  if (op == "tanh") return f32_function([](F a) { return std::tanh(a); }, ftz);
  return nullptr;
}

Handler f64_approximate(const std::string& op) {
  if (op == "rcp") return one_by_one<double, double>([](double a) { return 1.0 / a; });
  if (op == "sqrt") return one_by_one<double, double>([](double a) { return std::sqrt(a); });
  if (op == "rsqrt") return one_by_one<double, double>([](double a) { return 1.0 / std::sqrt(a); });
  return nullptr;
}

}  // namespace

void decode_half_arithmetic(Decoder& d, Type t) {
  const std::string& op = d.statement().opcode;
  const bool relu = d.i.flag, nan = d.take("NaN");
  d.take("rn");
  const std::size_t sources = op == "fma" ? 3 : op == "neg" || op == "abs" ? 1 : 2;
  d.need_operands(sources + 1, sources + 1);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, t);
  if (sources > 1) d.i.b = d.source(2, t);
  if (sources > 2) d.i.c = d.source(3, t);
  const bool pairs = t == Type::f16x2 || t == Type::bf16x2;
  d.i.run = t == Type::f16 || t == Type::f16x2 ? half_operation<f16>(op, pairs, nan, relu)
                                               : half_operation<bf16>(op, pairs, nan, relu);
  if (d.i.run == nullptr) d.fail("unknown type for this instruction");
}

void decode_approximate(Decoder& d) {
  const std::string& op = d.statement().opcode;
  d.take("approx");
  const int mode = d.take_one({"rn", "rz", "rm", "rp"});
  const bool ftz = d.take("ftz");
  const Type t = d.need_type({Type::f32, Type::f64, Type::f16, Type::f16x2, Type::bf16, Type::bf16x2});
  d.need_operands(2, 2);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, t);
  const bool pairs = t == Type::f16x2 || t == Type::bf16x2;
  if (t == Type::f32) {
    d.i.run = f32_approximate(op, ftz, mode > 0 ? Rounding::zero : Rounding::nearest);
  } else if (t == Type::f64) {
    d.i.run = mode > 0 ? nullptr : f64_approximate(op);
  } else {
    d.i.run =
        t == Type::f16 || t == Type::f16x2 ? half_function<f16>(op, pairs) : half_function<bf16>(op, pairs);
  }
  if (d.i.run == nullptr) d.fail("unknown instruction or rounding");
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Integer Arithmetic Instructions" and "Logic and Shift Instructions".
#include <algorithm>
#include <limits>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
// Products are taken in at least 32 bits: a product of two u16 would be one of int, and overflow.
template <typename T>
using Calc = std::conditional_t<sizeof(T) < 4, std::uint32_t, Unsigned<T>>;
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

template <typename T>
T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) + static_cast<Calc<T>>(b));
}
template <typename T>
T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) - static_cast<Calc<T>>(b));
}
template <typename T>
T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) * static_cast<Calc<T>>(b));
}
template <typename T>
T high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using P = std::conditional_t<std::is_signed_v<T>, int128, uint128>;
    return static_cast<T>(static_cast<P>(a) * static_cast<P>(b) >> 64);
  } else {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) >> (8 * sizeof(T)));
  }
}
template <typename T>
Wide<T> wide(T a, T b) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}

Type widened(Type t) {
  switch (t) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}

void operands(Decoder& d, Type result, std::initializer_list<Type> sources) {
  d.need_operands(sources.size() + 1, sources.size() + 1);
  d.i.d = d.destination(0, result);
  Slot* const slots[] = {&d.i.a, &d.i.b, &d.i.c};
  std::size_t n = 0;
  for (const Type t : sources) {
    *slots[n] = d.source(n + 1, t);
    ++n;
  }
}

void use(Decoder& d, Handler handler) {
  if (handler == nullptr) d.fail("unknown type for this instruction");
  d.i.run = handler;
}

Handler saturating(bool subtract) {
  if (subtract) {
    return lanewise<std::int32_t, std::int32_t, std::int32_t>([](std::int32_t a, std::int32_t b) {
      return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{a} - b, INT32_MIN, INT32_MAX));
    });
  }
  return lanewise<std::int32_t, std::int32_t, std::int32_t>([](std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX));
  });
}

template <typename T>
Handler multiply_add(int part) {
  if constexpr (sizeof(T) < 8) {
    if (part == 2) {
      return lanewise<Wide<T>, T, T, Wide<T>>([](T a, T b, Wide<T> c) { return wrap_add(wide(a, b), c); });
    }
  }
  if (part == 1) return lanewise<T, T, T, T>([](T a, T b, T c) { return wrap_add(high(a, b), c); });
  return lanewise<T, T, T, T>([](T a, T b, T c) { return wrap_add(wrap_mul(a, b), c); });
}

template <typename T>
Handler multiply(int part) {
  if constexpr (sizeof(T) < 8) {
    if (part == 2) return lanewise<Wide<T>, T, T>([](T a, T b) { return wide(a, b); });
  }
  if (part == 1) return lanewise<T, T, T>([](T a, T b) { return high(a, b); });
  return lanewise<T, T, T>([](T a, T b) { return wrap_mul(a, b); });
}

void product(Decoder& d, bool adds) {
  const int part = d.need_one({"lo", "hi", "wide"});
  const Type t = d.need_type();
  const Type result = part == 2 ? widened(t) : t;
  if (result == Type::none) d.fail("unknown type for this instruction");
  if (adds) {
    operands(d, result, {t, t, result});
    use(d, for_integer(t, [part]<typename T>() { return multiply_add<T>(part); }));
  } else {
    operands(d, result, {t, t});
    use(d, for_integer(t, [part]<typename T>() { return multiply<T>(part); }));
  }
}

template <typename T>
T shift_right(T a, std::uint32_t n) {
  const std::uint32_t most = 8 * sizeof(T) - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(n, most));
  return n > most ? T{0} : static_cast<T>(a >> (n & most));
}
template <typename T>
T shift_left(T a, std::uint32_t n) {
  const std::uint32_t most = 8 * sizeof(T) - 1;
  return n > most ? T{0} : static_cast<T>(static_cast<Calc<T>>(a) << (n & most));
}

}  // namespace

bool decode_integer_arithmetic(Decoder& d) {
  const std::string& op = d.statement().opcode;
  if (op == "mul" || op == "mad") {
    product(d, op == "mad");
    return true;
  }
  const bool saturates = d.take("sat");
  const Type t = d.need_type();
  if (saturates) {
    if (t != Type::s32 || (op != "add" && op != "sub")) d.fail("unknown modifier .sat");
    operands(d, t, {t, t});
    use(d, saturating(op == "sub"));
    return true;
  }
  if (op == "neg" || op == "abs") {
    operands(d, t, {t});
    const bool negates = op == "neg";
    use(d, for_integer(t, [negates]<typename T>() -> Handler {
          if (negates) return lanewise<T, T>([](T a) { return wrap_sub(T{0}, a); });
          return lanewise<T, T>([](T a) { return a < 0 ? wrap_sub(T{0}, a) : a; });
        }));
    return true;
  }
  operands(d, t, {t, t});
  use(d, for_integer(t, [&op]<typename T>() -> Handler {
        if (op == "add") return lanewise<T, T, T>([](T a, T b) { return wrap_add(a, b); });
        if (op == "sub") return lanewise<T, T, T>([](T a, T b) { return wrap_sub(a, b); });
        if (op == "min") return lanewise<T, T, T>([](T a, T b) { return std::min(a, b); });
        if (op == "max") return lanewise<T, T, T>([](T a, T b) { return std::max(a, b); });
        // Division by zero gives all ones, its remainder the dividend; the most negative number divided by -1
        // is itself.
        if (op == "div") {
          return one_by_one<T, T, T>([](T a, T b) -> T {
            if (b == 0) return static_cast<T>(~T{0});
            if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap_sub(T{0}, a);
            return static_cast<T>(a / b);
          });
        }
        if (op == "rem") {
          return one_by_one<T, T, T>([](T a, T b) -> T {
            if (b == 0) return a;
            if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
            return static_cast<T>(a % b);
          });
        }
        return nullptr;
      }));
  return true;
}

void decode_logic(Decoder& d) {
  const std::string& op = d.statement().opcode;
  const Type t = d.need_type({Type::pred, Type::b16, Type::b32, Type::b64});
  const bool one_source = op == "not" || op == "cnot";
  if (t == Type::pred) {
    d.need_operands(one_source ? 2 : 3, one_source ? 2 : 3);
    d.i.d = d.destination(0, t);
    d.i.a = d.source(1, t);
    if (!one_source) d.i.b = d.source(2, t);
    const auto combine = [](auto f) -> Handler {
      return [](Warp& w, const Instruction& i, std::uint32_t mask) {
        std::uint32_t& to = *w.at<std::uint32_t>(i.d);
        const std::uint32_t b = i.b.bank == Bank::none ? 0 : *w.at<std::uint32_t>(i.b);
        to = (to & ~mask) | (decltype(f){}(*w.at<std::uint32_t>(i.a), b) & mask);
      };
    };
    if (op == "and") d.i.run = combine([](std::uint32_t a, std::uint32_t b) { return a & b; });
    if (op == "or") d.i.run = combine([](std::uint32_t a, std::uint32_t b) { return a | b; });
    if (op == "xor") d.i.run = combine([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    if (op == "not") d.i.run = combine([](std::uint32_t a, std::uint32_t) { return ~a; });
    return use(d, d.i.run);
  }
  if (one_source) {
    operands(d, t, {t});
  } else {
    operands(d, t, {t, t});
  }
  use(d, for_integer(t, [&op]<typename T>() -> Handler {
        if (op == "and") return lanewise<T, T, T>([](T a, T b) { return static_cast<T>(a & b); });
        if (op == "or") return lanewise<T, T, T>([](T a, T b) { return static_cast<T>(a | b); });
        if (op == "xor") return lanewise<T, T, T>([](T a, T b) { return static_cast<T>(a ^ b); });
        if (op == "not") return lanewise<T, T>([](T a) { return static_cast<T>(~a); });
        return lanewise<T, T>([](T a) { return static_cast<T>(a == 0 ? 1 : 0); });
      }));
}

void decode_shift(Decoder& d) {
  const bool left = d.statement().opcode == "shl";
  const Type t = d.need_type();
  operands(d, t, {t, Type::u32});
  use(d, for_integer(t, [left]<typename T>() -> Handler {
        if (left) return lanewise<T, T, std::uint32_t>([](T a, std::uint32_t n) { return shift_left(a, n); });
        return lanewise<T, T, std::uint32_t>([](T a, std::uint32_t n) { return shift_right(a, n); });
      }));
}

void decode_funnel_shift(Decoder& d) {
  using U = std::uint32_t;
  const bool left = d.need_one({"r", "l"}) == 1;
  const bool clamps = d.need_one({"wrap", "clamp"}) == 1;
  d.need_type({Type::b32});
  operands(d, Type::b32, {Type::b32, Type::b32, Type::u32});
  // [b:a] is the 64-bit value.
  static constexpr auto both = [](U a, U b) { return std::uint64_t{b} << 32 | a; };
  if (left && clamps) {
    d.i.run = lanewise<U, U, U, U>(
        [](U a, U b, U n) { return static_cast<U>(both(a, b) << std::min(n, 32u) >> 32); });
  } else if (left) {
    d.i.run =
        lanewise<U, U, U, U>([](U a, U b, U n) { return static_cast<U>(both(a, b) << (n & 31) >> 32); });
  } else if (clamps) {
    d.i.run =
        lanewise<U, U, U, U>([](U a, U b, U n) { return static_cast<U>(both(a, b) >> std::min(n, 32u)); });
  } else {
    d.i.run = lanewise<U, U, U, U>([](U a, U b, U n) { return static_cast<U>(both(a, b) >> (n & 31)); });
  }
}

}  // namespace lorikeet::ptx

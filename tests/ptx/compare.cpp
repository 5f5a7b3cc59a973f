// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Comparison and Selection Instructions".
#include <cmath>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

enum Combine : std::uint8_t { alone, with_and, with_or, with_xor };

std::uint32_t combined(Warp& w, const Instruction& i, std::uint32_t result) {
  if (i.mode == alone) return result;
  std::uint32_t c = *w.at<std::uint32_t>(i.c);
  if (i.flag) c = ~c;
  return i.mode == with_and ? result & c : i.mode == with_or ? result | c : result ^ c;
}

void put(Warp& w, Slot slot, std::uint32_t mask, std::uint32_t value) {
  std::uint32_t& to = *w.at<std::uint32_t>(slot);
  to = (to & ~mask) | (value & mask);
}

template <typename F, typename T>
[[gnu::always_inline]] inline std::uint32_t compared(const Word<T>* a, const Word<T>* b) {
  std::uint32_t result = 0;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    result |= static_cast<std::uint32_t>(F{}(from_word<T>(a[l]), from_word<T>(b[l]))) << l;
  }
  return result;
}

template <typename F, typename T>
LORIKEET_PTX_CLONES void run_setp(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t result = compared<F, T>(w.at<Word<T>>(i.a), w.at<Word<T>>(i.b));
  const std::uint32_t p = combined(w, i, result), q = combined(w, i, ~result);
  put(w, i.d, mask, p);
  if (i.e.bank != Bank::none) put(w, i.e, mask, q);
}

/// Pairs: p is the comparison of the low halves, q that of the high ones.
template <typename F, typename T>
LORIKEET_PTX_CLONES void run_setp_pair(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t *a = w.at<std::uint32_t>(i.a), *b = w.at<std::uint32_t>(i.b);
  std::uint32_t low = 0, high = 0;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    low |= static_cast<std::uint32_t>(F{}(from_word<T>(a[l]), from_word<T>(b[l]))) << l;
    high |= static_cast<std::uint32_t>(F{}(from_word<T>(a[l] >> 16), from_word<T>(b[l] >> 16))) << l;
  }
  low = combined(w, i, low);
  high = combined(w, i, high);
  put(w, i.d, mask, low);
  if (i.e.bank != Bank::none) put(w, i.e, mask, high);
}

/// set: i.type is the result's type; true is all ones of an integer and 1 of a floating type.
template <typename F, typename T>
LORIKEET_PTX_CLONES void run_set(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t result = combined(w, i, compared<F, T>(w.at<Word<T>>(i.a), w.at<Word<T>>(i.b)));
  const std::uint32_t yes = i.type == Type::f32    ? 0x3f800000u
                            : i.type == Type::f16  ? 0x3c00u
                            : i.type == Type::bf16 ? 0x3f80u
                            : size_of(i.type) == 2 ? 0xffffu
                                                   : 0xffffffffu;
  std::uint32_t* d = w.at<std::uint32_t>(i.d);
  for_each_lane(mask, [&](std::uint32_t l) { d[l] = (result >> l & 1) != 0 ? yes : 0; });
}

template <typename F, typename T>
void run_set_pair(Warp& w, const Instruction& i, std::uint32_t mask) {
  const std::uint32_t *a = w.at<std::uint32_t>(i.a), *b = w.at<std::uint32_t>(i.b);
  std::uint32_t* d = w.at<std::uint32_t>(i.d);
  const std::uint32_t yes = i.type == Type::f16x2 ? 0x3c00u : i.type == Type::bf16x2 ? 0x3f80u : 0xffffu;
  for_each_lane(mask, [&](std::uint32_t l) {
    const std::uint32_t low = F{}(from_word<T>(a[l]), from_word<T>(b[l])) ? yes : 0;
    const std::uint32_t high = F{}(from_word<T>(a[l] >> 16), from_word<T>(b[l] >> 16)) ? yes : 0;
    d[l] = high << 16 | low;
  });
}

enum class Form : std::uint8_t { setp, setp_pair, set, set_pair };

template <typename T, typename F>
Handler form_of(Form form, F) {
  if constexpr (sizeof(T) == 2) {
    if (form == Form::setp_pair) return &run_setp_pair<F, T>;
    if (form == Form::set_pair) return &run_set_pair<F, T>;
  }
  return form == Form::set ? &run_set<F, T> : &run_setp<F, T>;
}

template <typename T>
Handler ordered(const std::string& op, Form form) {
  if (op == "eq") return form_of<T>(form, [](T a, T b) { return a == b; });
  if (op == "ne") return form_of<T>(form, [](T a, T b) { return a != b; });
  if (op == "lt" || op == "lo") return form_of<T>(form, [](T a, T b) { return a < b; });
  if (op == "le" || op == "ls") return form_of<T>(form, [](T a, T b) { return a <= b; });
  if (op == "gt" || op == "hi") return form_of<T>(form, [](T a, T b) { return a > b; });
  if (op == "ge" || op == "hs") return form_of<T>(form, [](T a, T b) { return a >= b; });
  return nullptr;
}

[[gnu::always_inline]] inline float number(float v) {
  return v;
}
[[gnu::always_inline]] inline double number(double v) {
  return v;
}
[[gnu::always_inline]] inline float number(f16 v) {
  return to_float(v);
}
[[gnu::always_inline]] inline float number(bf16 v) {
  return to_float(v);
}

// The forms with u are true when an operand is NaN, the plain ones false ("ne" too).
template <typename T>
Handler floating(const std::string& op, Form form) {
  if (op == "eq") return form_of<T>(form, [](T a, T b) { return number(a) == number(b); });
  if (op == "ne")
    return form_of<T>(form, [](T a, T b) { return number(a) < number(b) || number(a) > number(b); });
  if (op == "lt") return form_of<T>(form, [](T a, T b) { return number(a) < number(b); });
  if (op == "le") return form_of<T>(form, [](T a, T b) { return number(a) <= number(b); });
  if (op == "gt") return form_of<T>(form, [](T a, T b) { return number(a) > number(b); });
  if (op == "ge") return form_of<T>(form, [](T a, T b) { return number(a) >= number(b); });
  if (op == "equ")
    return form_of<T>(form, [](T a, T b) { return !(number(a) < number(b) || number(a) > number(b)); });
  if (op == "neu") return form_of<T>(form, [](T a, T b) { return !(number(a) == number(b)); });
  if (op == "ltu") return form_of<T>(form, [](T a, T b) { return !(number(a) >= number(b)); });
  if (op == "leu") return form_of<T>(form, [](T a, T b) { return !(number(a) > number(b)); });
  if (op == "gtu") return form_of<T>(form, [](T a, T b) { return !(number(a) <= number(b)); });
  if (op == "geu") return form_of<T>(form, [](T a, T b) { return !(number(a) < number(b)); });
  if (op == "num") {
    return form_of<T>(form, [](T a, T b) { return number(a) == number(a) && number(b) == number(b); });
  }
  if (op == "nan") {
    return form_of<T>(form, [](T a, T b) { return number(a) != number(a) || number(b) != number(b); });
  }
  return nullptr;
}

Handler comparison(const std::string& op, Type t, Form form) {
  switch (t) {
    case Type::f32:
      return floating<float>(op, form);
    case Type::f64:
      return floating<double>(op, form);
    case Type::f16:
    case Type::f16x2:
      return floating<f16>(op, form);
    case Type::bf16:
    case Type::bf16x2:
      return floating<bf16>(op, form);
    default:
      return for_integer(t, [&]<typename T>() { return ordered<T>(op, form); });
  }
}

template <typename W>
LORIKEET_PTX_CLONES void run_selp(Warp& w, const Instruction& i, std::uint32_t mask) {
  const W *a = w.at<W>(i.a), *b = w.at<W>(i.b);
  W* d = w.at<W>(i.d);
  const std::uint32_t p = *w.at<std::uint32_t>(i.c);
#pragma GCC ivdep
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    const W chosen = (p >> l & 1) != 0 ? a[l] : b[l];
    d[l] = (mask >> l & 1) != 0 ? chosen : d[l];
  }
}

}  // namespace

void decode_setp(Decoder& d) {
  const bool set = d.statement().opcode == "set";
  if (d.statement().modifiers.empty()) d.fail("no comparison");
  const std::string op = d.statement().modifiers[0];
  d.take(op);
  const int combine = d.take_one({"and", "or", "xor"});
  if (d.take("ftz")) d.fail("unknown modifier .ftz");
  if (set)
    d.i.type = d.need_type({Type::u32, Type::s32, Type::f32, Type::f16, Type::bf16, Type::f16x2, Type::bf16x2,
                            Type::u16, Type::s16});
  const Type t = d.need_type();
  const bool pairs = t == Type::f16x2 || t == Type::bf16x2;
  d.i.run = comparison(op, t,
                       set     ? (pairs ? Form::set_pair : Form::set)
                       : pairs ? Form::setp_pair
                               : Form::setp);
  if (d.i.run == nullptr) d.fail("unknown comparison or type");
  const std::size_t sources = combine >= 0 ? 4 : 3;
  d.need_operands(sources, sources);
  const Operand& to = d.operand(0);
  if (set) {
    d.i.d = d.destination(to, d.i.type);
    if (pairs && combine >= 0) d.fail("a combination of pairs is not known");
  } else {
    Operand first = to;
    first.second.clear();
    d.i.d = d.destination(first, Type::pred);
    if (!to.second.empty()) d.i.e = d.destination(to.second[0], Type::pred);
  }
  d.i.a = d.source(1, t);
  d.i.b = d.source(2, t);
  if (combine < 0) return;
  d.i.mode = static_cast<std::uint8_t>(combine + 1);
  d.i.c = d.source(3, Type::pred);
  d.i.flag = d.operand(3).negated;
}

void decode_select(Decoder& d) {
  const bool by_sign = d.statement().opcode == "slct";
  const Type t = d.need_type();
  d.need_operands(4, 4);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, t);
  d.i.b = d.source(2, t);
  if (!by_sign) {
    d.i.c = d.source(3, Type::pred);
    d.i.run = size_of(t) == 8 ? &run_selp<std::uint64_t> : &run_selp<std::uint32_t>;
    return;
  }
  const Type sign = d.need_type({Type::s32, Type::f32});
  d.i.c = d.source(3, sign);
  using U = std::uint32_t;
  using L = std::uint64_t;
  using S = std::int32_t;
  if (size_of(t) == 8) {
    d.i.run = sign == Type::s32 ? lanewise<L, L, L, S>([](L a, L b, S c) { return c >= 0 ? a : b; })
                                : lanewise<L, L, L, float>([](L a, L b, float c) { return c >= 0 ? a : b; });
  } else {
    d.i.run = sign == Type::s32 ? lanewise<U, U, U, S>([](U a, U b, S c) { return c >= 0 ? a : b; })
                                : lanewise<U, U, U, float>([](U a, U b, float c) { return c >= 0 ? a : b; });
  }
}

}  // namespace lorikeet::ptx

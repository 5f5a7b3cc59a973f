// SPDX-License-Identifier: Apache-2.0
// PTX ISA: bit fields, prmt, lop3, dot products, extended-precision arithmetic.
#include <algorithm>
#include <bit>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;
using L = std::uint64_t;

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

/// Bits beyond the word are the sign bit of the field (signed) or zero.
template <typename T>
T bit_field(T a, U position, U length) {
  constexpr U bits = 8 * sizeof(T);
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  using N = std::make_unsigned_t<T>;
  const N value = position >= bits ? N{0} : static_cast<N>(static_cast<N>(a) >> position);
  const U sign_at = std::min(position + length - 1, bits - 1);
  const bool negative = std::is_signed_v<T> && (static_cast<N>(a) >> sign_at & 1) != 0;
  const U kept = std::min(length, position >= bits ? 0 : bits - position);
  const N field = kept >= bits ? static_cast<N>(~N{0}) : static_cast<N>((N{1} << kept) - 1);
  return static_cast<T>((value & field) | (negative ? ~field : 0));
}

template <typename N>
N bit_insert(N a, N b, U position, U length) {
  constexpr U bits = 8 * sizeof(N);
  position &= 255;
  length &= 255;
  if (position >= bits || length == 0) return b;
  const N field = (length >= bits ? ~N{0} : (N{1} << length) - 1) << position;
  return (b & ~field) | (a << position & field);
}

template <typename N>
void run_bit_insert(Warp& w, const Instruction& i, std::uint32_t mask) {
  const N *a = w.at<N>(i.a), *b = w.at<N>(i.b);
  const U *position = w.at<U>(i.c), *length = w.at<U>(w.list(i)[0]);
  N* d = w.at<N>(i.d);
  for_each_lane(mask, [&](U l) { d[l] = bit_insert(a[l], b[l], position[l], length[l]); });
}

template <typename T>
U find_highest(T a, bool shift_amount) {
  using N = std::make_unsigned_t<T>;
  constexpr U bits = 8 * sizeof(T);
  auto n = static_cast<N>(a);
  if (a < 0) n = ~n;
  if (n == 0) return 0xffffffffu;
  const auto at = bits - 1 - static_cast<U>(std::countl_zero(n));
  return shift_amount ? bits - 1 - at : at;
}

U reversed(U v) {
  v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
  v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
  v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(v);
}

void run_lop3(Warp& w, const Instruction& i, std::uint32_t mask) {
  const U *a = w.at<U>(i.a), *b = w.at<U>(i.b), *c = w.at<U>(i.c);
  U* d = w.at<U>(i.d);
  const auto table = static_cast<U>(i.offset);
  U result[warp_size];
  for (U l = 0; l < warp_size; ++l) result[l] = 0;
  for (U n = 0; n < 8; ++n) {
    if ((table >> n & 1) == 0) continue;
    const U x = (n & 4) != 0 ? 0 : all_lanes, y = (n & 2) != 0 ? 0 : all_lanes,
            z = (n & 1) != 0 ? 0 : all_lanes;
    for (U l = 0; l < warp_size; ++l) result[l] |= (a[l] ^ x) & (b[l] ^ y) & (c[l] ^ z);
  }
  for_each_lane(mask, [&](U l) { d[l] = result[l]; });
}

enum PermuteMode : std::uint8_t { by_index, f4e, b4e, rc8, ecl, ecr, rc16 };

/// The four selectors of a mode, PTX ISA table of prmt; a selector with bit 3 copies the sign of its byte.
U selectors(std::uint8_t mode, U c) {
  static constexpr U rows[7][4] = {{0, 0, 0, 0},
                                   {0x3210, 0x4321, 0x5432, 0x6543},
                                   {0x5670, 0x6701, 0x7012, 0x0123},
                                   {0x0000, 0x1111, 0x2222, 0x3333},
                                   {0x3210, 0x3211, 0x3222, 0x3333},
                                   {0x0000, 0x1110, 0x2210, 0x3210},
                                   {0x1010, 0x3232, 0x1010, 0x3232}};
  return mode == by_index ? c : rows[mode][c & 3];
}

void run_prmt(Warp& w, const Instruction& i, std::uint32_t mask) {
  const U *a = w.at<U>(i.a), *b = w.at<U>(i.b), *c = w.at<U>(i.c);
  U* d = w.at<U>(i.d);
  for_each_lane(mask, [&](U l) {
    const L bytes = L{b[l]} << 32 | a[l];
    const U which = selectors(i.mode, c[l]);
    U result = 0;
    for (U n = 0; n < 4; ++n) {
      const U selector = which >> (4 * n) & 15;
      U byte = static_cast<U>(bytes >> (8 * (selector & 7))) & 255;
      if ((selector & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << (8 * n);
    }
    d[l] = result;
  });
}

/// dp4a: four products of bytes; dp2a: two 16-bit numbers of a times two bytes of b, the upper ones when
/// i.flag.
void run_dot(Warp& w, const Instruction& i, std::uint32_t mask) {
  const U *a = w.at<U>(i.a), *b = w.at<U>(i.b), *c = w.at<U>(i.c);
  U* d = w.at<U>(i.d);
  const auto part = [](U v, U at, U bits, bool with_sign) {
    const U field = v >> at & ((1u << bits) - 1);
    return with_sign && (field >> (bits - 1)) != 0 ? field - (1u << bits) : field;
  };
  const U terms = i.count, bits = 32 / terms;
  for_each_lane(mask, [&](U l) {
    U sum = c[l];
    for (U n = 0; n < terms; ++n) {
      sum += part(a[l], n * bits, bits, is_signed(i.type)) *
             part(b[l], (n + (i.flag ? 2 : 0)) * 8, 8, is_signed(i.from));
    }
    d[l] = sum;
  });
}

/// The carry flag of every lane lives in a register of the program, one mask.
template <typename N>
void run_carry(Warp& w, const Instruction& i, std::uint32_t mask) {
  __extension__ typedef unsigned __int128 Wide;
  const N *a = w.at<N>(i.a), *b = w.at<N>(i.b);
  N* d = w.at<N>(i.d);
  U& flags = w.carry;
  const bool subtracts = (i.mode & 1) != 0, takes = (i.mode & 2) != 0, gives = (i.mode & 4) != 0;
  for_each_lane(mask, [&](U l) {
    const N in = takes ? flags >> l & 1 : 0;
    const Wide sum = subtracts ? Wide{a[l]} - b[l] - in : Wide{a[l]} + b[l] + in;
    const U out = static_cast<U>(sum >> (8 * sizeof(N))) & 1;
    d[l] = static_cast<N>(sum);
    if (gives) flags = (flags & ~(1u << l)) | out << l;
  });
}

template <typename N>
void run_multiply_carry(Warp& w, const Instruction& i, std::uint32_t mask) {
  __extension__ typedef unsigned __int128 Wide;
  const N *a = w.at<N>(i.a), *b = w.at<N>(i.b), *c = w.at<N>(i.c);
  N* d = w.at<N>(i.d);
  U& flags = w.carry;
  const bool takes = (i.mode & 2) != 0, gives = (i.mode & 4) != 0;
  using S = std::make_signed_t<N>;
  __extension__ typedef __int128 SignedWide;
  for_each_lane(mask, [&](U l) {
    const Wide product = is_signed(i.type)
                             ? static_cast<Wide>(SignedWide{static_cast<S>(a[l])} * static_cast<S>(b[l]))
                             : Wide{a[l]} * b[l];
    const N part = static_cast<N>(i.flag ? product >> (8 * sizeof(N)) : product);
    const Wide sum = Wide{part} + c[l] + (takes ? flags >> l & 1 : 0);
    d[l] = static_cast<N>(sum);
    if (gives) flags = (flags & ~(1u << l)) | (static_cast<U>(sum >> (8 * sizeof(N))) & 1) << l;
  });
}

void decode_prmt(Decoder& d) {
  d.need_type({Type::b32});
  d.i.mode = static_cast<std::uint8_t>(d.take_one({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}) + 1);
  operands(d, Type::b32, {Type::b32, Type::b32, Type::b32});
  d.i.run = run_prmt;
}

void decode_lop3(Decoder& d) {
  d.need_type({Type::b32});
  d.need_operands(5, 5);
  d.i.d = d.destination(0, Type::b32);
  d.i.a = d.source(1, Type::b32);
  d.i.b = d.source(2, Type::b32);
  d.i.c = d.source(3, Type::b32);
  if (d.operand(4).kind != Operand::Kind::integer || d.operand(4).bits > 255) d.fail("the table is no byte");
  d.i.offset = static_cast<std::int64_t>(d.operand(4).bits);
  d.i.run = run_lop3;
}

void decode_field(Decoder& d, bool inserts) {
  const Type t =
      d.need_type(inserts ? std::initializer_list<Type>{Type::b32, Type::b64}
                          : std::initializer_list<Type>{Type::u32, Type::s32, Type::u64, Type::s64});
  if (inserts) {
    d.need_operands(5, 5);
    d.i.d = d.destination(0, t);
    d.i.a = d.source(1, t);
    d.i.b = d.source(2, t);
    d.i.c = d.source(3, Type::u32);
    d.list({}, {d.source(4, Type::u32)});
    d.i.run = t == Type::b32 ? &run_bit_insert<U> : &run_bit_insert<L>;
    return;
  }
  operands(d, t, {t, Type::u32, Type::u32});
  d.i.run = for_integer(t, []<typename T>() -> Handler {
    return one_by_one<T, T, U, U>([](T a, U position, U length) { return bit_field(a, position, length); });
  });
}

void decode_dot(Decoder& d, int terms) {
  d.i.flag = terms == 2 && d.need_one({"lo", "hi"}) == 1;
  d.i.type = d.need_type({Type::u32, Type::s32});
  d.i.from = d.need_type({Type::u32, Type::s32});
  d.i.count = static_cast<std::uint8_t>(terms);
  operands(d, Type::b32, {Type::b32, Type::b32, Type::b32});
  d.i.run = run_dot;
}

}  // namespace

void decode_carry(Decoder& d) {
  const std::string& op = d.statement().opcode;
  const bool gives = d.take("cc");
  const bool multiplies = op == "mad" || op == "madc";
  const bool takes = op == "addc" || op == "subc" || op == "madc";
  if (multiplies) d.i.flag = d.need_one({"lo", "hi"}) == 1;
  const Type t = d.need_type({Type::u32, Type::s32, Type::u64, Type::s64});
  d.i.type = t;
  d.i.mode = static_cast<std::uint8_t>((op[0] == 's' ? 1 : 0) | (takes ? 2 : 0) | (gives ? 4 : 0));
  if (multiplies) {
    operands(d, t, {t, t, t});
    d.i.run = size_of(t) == 8 ? &run_multiply_carry<L> : &run_multiply_carry<U>;
  } else {
    operands(d, t, {t, t});
    d.i.run = size_of(t) == 8 ? &run_carry<L> : &run_carry<U>;
  }
}

void decode_bits(Decoder& d) {
  const std::string& op = d.statement().opcode;
  if (op == "prmt") return decode_prmt(d);
  if (op == "lop3") return decode_lop3(d);
  if (op == "bfe" || op == "bfi") return decode_field(d, op == "bfi");
  if (op == "dp4a" || op == "dp2a") return decode_dot(d, op == "dp4a" ? 4 : 2);
  if (op == "sad") {
    const Type t = d.need_type();
    operands(d, t, {t, t, t});
    d.i.run = for_integer(t, []<typename T>() -> Handler {
      return one_by_one<T, T, T, T>([](T a, T b, T c) {
        using N = std::make_unsigned_t<T>;
        const N difference = a < b ? static_cast<N>(static_cast<N>(b) - static_cast<N>(a))
                                   : static_cast<N>(static_cast<N>(a) - static_cast<N>(b));
        return static_cast<T>(static_cast<N>(c) + difference);
      });
    });
  } else if (op == "bfind") {
    const bool amount = d.take("shiftamt");
    const Type t = d.need_type();
    operands(d, Type::u32, {t});
    d.i.run = for_integer(t, [amount]<typename T>() -> Handler {
      if (amount) return one_by_one<U, T>([](T a) { return find_highest(a, true); });
      return one_by_one<U, T>([](T a) { return find_highest(a, false); });
    });
  } else if (op == "clz" || op == "popc") {
    const Type t = d.need_type({Type::b32, Type::b64});
    operands(d, Type::u32, {t});
    const bool zeros = op == "clz";
    d.i.run = for_integer(t, [zeros]<typename T>() -> Handler {
      using N = std::make_unsigned_t<T>;
      if (zeros)
        return one_by_one<U, T>([](T a) { return static_cast<U>(std::countl_zero(static_cast<N>(a))); });
      return one_by_one<U, T>([](T a) { return static_cast<U>(std::popcount(static_cast<N>(a))); });
    });
  } else if (op == "brev") {
    const Type t = d.need_type({Type::b32, Type::b64});
    operands(d, t, {t});
    d.i.run = t == Type::b32 ? lanewise<U, U>([](U a) { return reversed(a); }) : lanewise<L, L>([](L a) {
      return L{reversed(static_cast<U>(a))} << 32 | reversed(static_cast<U>(a >> 32));
    });
  }
  if (d.i.run == nullptr) d.fail("unknown type for this instruction");
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX ISA: ld, ldu, st, prefetch.
#include <cstring>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/memory.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;
using L = std::uint64_t;

/// V is what lies in memory, W the lane's word; signed V are extended.
template <typename V, typename W>
void run_load(Warp& w, const Instruction& i, std::uint32_t mask) {
  Places p;
  const U bytes = sizeof(V) * i.count;
  resolve(w, i, mask, i.a, i.offset, bytes, Access::read, p);
  before_reads(w, i, mask, p, bytes);
  const Slot* to = w.list(i);
  const W keep = i.width == 2 ? static_cast<W>(0xffff) : static_cast<W>(~W{0});
  for (U n = 0; n < i.count; ++n) {
    W* d = w.at<W>(to[n]);
    if (p.contiguous) {
      const std::byte* from = p.data[0] + n * sizeof(V);
      for (U l = 0; l < warp_size; ++l, from += bytes) {
        V v;
        std::memcpy(&v, from, sizeof(V));
        d[l] = static_cast<W>(v) & keep;
      }
      continue;
    }
    for_each_lane(mask, [&](U l) {
      V v;
      std::memcpy(&v, p.data[l] + n * sizeof(V), sizeof(V));
      d[l] = static_cast<W>(v) & keep;
    });
  }
}

template <typename V, typename W>
void run_store(Warp& w, const Instruction& i, std::uint32_t mask) {
  Places p;
  const U bytes = sizeof(V) * i.count;
  resolve(w, i, mask, i.a, i.offset, bytes, Access::write, p);
  const Slot* from = w.list(i);
  if (p.contiguous) {
    std::byte values[32 * warp_size];
    for (U n = 0; n < i.count; ++n) {
      const W* source = w.at<W>(from[n]);
      std::byte* to = values + n * sizeof(V);
      for (U l = 0; l < warp_size; ++l, to += bytes) {
        const V v = static_cast<V>(source[l]);
        std::memcpy(to, &v, sizeof(V));
      }
    }
    before_contiguous_write(w, i, p, bytes, values);
    std::memcpy(p.data[0], values, std::size_t{bytes} * warp_size);
    return;
  }
  for_each_lane(mask, [&](U l) {
    std::byte value[32];
    for (U n = 0; n < i.count; ++n) {
      const V v = static_cast<V>(w.at<W>(from[n])[l]);
      std::memcpy(value + n * sizeof(V), &v, sizeof(V));
    }
    before_write(w, i, l, p, bytes, value);
    std::memcpy(p.data[l], value, bytes);
  });
}

template <template <typename, typename> typename Which>
Handler choose(Type t, bool wide) {
  switch (size_of(t)) {
    case 1:
      return wide ? Which<std::uint8_t, L>::run : Which<std::uint8_t, U>::run;
    case 2:
      return wide ? Which<std::uint16_t, L>::run : Which<std::uint16_t, U>::run;
    case 4:
      return wide ? Which<U, L>::run : Which<U, U>::run;
    case 8:
      return wide ? Which<L, L>::run : nullptr;
    default:
      return nullptr;
  }
}
template <typename V, typename W>
struct Load {
  static constexpr Handler run = run_load<V, W>;
};
template <typename V, typename W>
struct SignedLoad {
  static constexpr Handler run = run_load<std::make_signed_t<V>, W>;
};
template <typename V, typename W>
struct Store {
  static constexpr Handler run = run_store<V, W>;
};

Space take_space(Decoder& d) {
  switch (d.take_one(
      {"global", "shared", "shared::cta", "local", "param", "const", "param::entry", "param::func"})) {
    case 0:
      return Space::global;
    case 1:
    case 2:
      return Space::shared;
    case 3:
      return Space::local;
    case 4:
    case 6:
    case 7:
      return Space::param;
    case 5:
      return Space::constant;
    default:
      return Space::generic;
  }
}

/// What ld and st have in common; the type of the registers.
Type decode_access(Decoder& d, const Operand& address, const Operand& values) {
  d.take_one({"weak", "relaxed", "volatile", "acquire", "release"});
  d.take_one({"cta", "cluster", "gpu", "sys"});
  d.i.space = take_space(d);
  d.take_hints();
  d.i.count = static_cast<std::uint8_t>(1 << (d.take_one({"v2", "v4", "v8"}) + 1));
  d.i.type = d.need_type();
  if (size_of(d.i.type) == 0 || size_of(d.i.type) * d.i.count > 32)
    d.fail("unknown type for this instruction");
  const std::vector<Operand> parts = Decoder::elements(values);
  if (parts.size() != d.i.count) d.fail("the vector has another number of elements");
  d.address(address, d.i.a);
  Type in_register = Type::none;
  for (const Operand& o : parts) {
    if (d.register_type(o) != Type::none) in_register = d.register_type(o);
  }
  if (in_register == Type::none) in_register = size_of(d.i.type) == 8 ? Type::b64 : Type::b32;
  if (in_register == Type::pred || size_of(in_register) < size_of(d.i.type))
    d.fail("the register is too small");
  d.i.width = static_cast<std::uint8_t>(size_of(in_register));
  return in_register;
}

}  // namespace

void decode_load(Decoder& d) {
  const bool cached = d.operands().size() == 3;  // with a cache policy, which says nothing about values
  d.take("L2::cache_hint");
  d.need_operands(2, cached ? 3 : 2);
  const Type in_register = decode_access(d, d.operand(1), d.operand(0));
  std::vector<Slot> to;
  for (const Operand& o : Decoder::elements(d.operand(0))) to.push_back(d.destination(o, in_register));
  d.list(to, {});
  const bool wide = size_of(in_register) == 8;
  d.i.run = is_signed(d.i.type) ? choose<SignedLoad>(d.i.type, wide) : choose<Load>(d.i.type, wide);
  if (d.i.run == nullptr) d.fail("unknown type for this instruction");
}

void decode_store(Decoder& d) {
  const bool cached = d.operands().size() == 3;
  d.take("L2::cache_hint");
  d.need_operands(2, cached ? 3 : 2);
  const Type in_register = decode_access(d, d.operand(0), d.operand(1));
  std::vector<Slot> from;
  for (const Operand& o : Decoder::elements(d.operand(1))) {
    from.push_back(d.source(o, d.register_type(o) == Type::none && size_of(in_register) == size_of(d.i.type)
                                   ? d.i.type
                                   : in_register));
  }
  d.list({}, from);
  d.i.run = choose<Store>(d.i.type, size_of(in_register) == 8);
  if (d.i.run == nullptr) d.fail("unknown type for this instruction");
}

void decode_prefetch(Decoder& d) {
  take_space(d);
  d.take_hints();
  d.take_one({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  d.i.run = [](Warp&, const Instruction&, std::uint32_t) {};
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX ISA: cp.async, atom, red.
#include <algorithm>
#include <cstring>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/memory.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;
using L = std::uint64_t;

// The data is taken from global memory at once and put into shared memory only when it is waited for; what
// lies there until then is unusable.
void run_copy(Warp& w, const Instruction& i, std::uint32_t mask) {
  Places to, from;
  const U bytes = i.width;
  resolve(w, i, mask, i.a, i.offset, bytes, Access::write, to);
  const U* used = i.c.bank == Bank::none ? nullptr : w.at<U>(i.c);
  for_each_lane(mask, [&](U lane) {
    PendingCopy copy{lane, w.copy_group[lane], static_cast<U>(to.address[lane]), bytes, {}};
    const U taken = used == nullptr ? bytes : std::min(used[lane], bytes);
    if (used != nullptr && used[lane] > bytes) throw Fault{lane, "cp.async takes more than it copies"};
    from.address[lane] = w.at<L>(i.b)[lane] + w.at<L>(w.list(i)[0])[lane];
    if ((from.address[lane] & (bytes - 1)) != 0) throw Fault{lane, "cp.async from a misaligned address"};
    if (taken != 0) {  // an aligned source that is not read may lie anywhere
      resolve_global(w, i, lane, taken, Access::read, from);
      before_read(w, i, lane, from, taken);
      std::memcpy(copy.data.data(), from.data[lane], taken);
    }
    before_write(w, i, lane, to, bytes, copy.data.data());
    std::memset(to.data[lane], 0xff, bytes);
    std::memset(to.written[lane], 2, bytes);
    w.pending.push_back(copy);
  });
}

void complete(Warp& w, const Instruction& i, std::uint32_t mask, U may_remain) {
  const auto done = [&](const PendingCopy& copy) {
    return (mask >> copy.lane & 1) != 0 && copy.group + may_remain < w.copy_group[copy.lane];
  };
  for (const PendingCopy& copy : w.pending) {
    if (!done(copy)) continue;
    Places p;
    p.address[copy.lane] = copy.to;
    p.space[copy.lane] = Space::shared;
    p.data[copy.lane] = w.block.shared.data() + copy.to;
    p.written[copy.lane] = w.block.shared_written.data() + copy.to;
    before_write(w, i, copy.lane, p, copy.bytes, copy.data.data());
    std::memcpy(p.data[copy.lane], copy.data.data(), copy.bytes);
  }
  w.pending.erase(std::remove_if(w.pending.begin(), w.pending.end(), done), w.pending.end());
}

enum AtomicMode : std::uint8_t {
  add,
  minimum,
  maximum,
  bits_and,
  bits_or,
  bits_xor,
  exchange,
  compare,
  increment,
  decrement
};

template <typename T>
T half_add(L old, L value) {
  return narrow<T>(to_float(T{static_cast<std::uint16_t>(old)}) +
                   to_float(T{static_cast<std::uint16_t>(value)}));
}

L added(Type t, L old, L value) {
  switch (t) {
    case Type::f32:
      return bits_of(as_float(static_cast<U>(old)) + as_float(static_cast<U>(value)));
    case Type::f64:
      return bits_of(as_double(old) + as_double(value));
    case Type::f16:
      return half_add<f16>(old, value).bits;
    case Type::bf16:
      return half_add<bf16>(old, value).bits;
    case Type::f16x2:
      return L{half_add<f16>(old >> 16, value >> 16).bits} << 16 | half_add<f16>(old, value).bits;
    case Type::bf16x2:
      return L{half_add<bf16>(old >> 16, value >> 16).bits} << 16 | half_add<bf16>(old, value).bits;
    default:
      return old + value;
  }
}

L updated(const Instruction& i, L old, L b, L c) {
  const auto sign_extended = [&](L v) {
    return size_of(i.type) == 8 ? static_cast<std::int64_t>(v)
                                : std::int64_t{static_cast<std::int32_t>(static_cast<U>(v))};
  };
  const bool less = is_signed(i.type) ? sign_extended(b) < sign_extended(old) : b < old;
  switch (i.mode) {
    case add:
      return added(i.type, old, b);
    case minimum:
      return less ? b : old;
    case maximum:
      return less ? old : b;
    case bits_and:
      return old & b;
    case bits_or:
      return old | b;
    case bits_xor:
      return old ^ b;
    case exchange:
      return b;
    case compare:
      return old == b ? c : old;
    case increment:
      return old >= b ? 0 : old + 1;
    default:
      return old == 0 || old > b ? b : old - 1;
  }
}

template <typename W>
void run_atomic(Warp& w, const Instruction& i, std::uint32_t mask) {
  Places p;
  const U bytes = i.width;
  resolve(w, i, mask, i.a, i.offset, bytes, Access::atomic, p);
  for_each_lane(mask, [&](U lane) {
    L old = 0;
    std::memcpy(&old, p.data[lane], bytes);
    const L b = w.at<W>(i.b)[lane], c = i.c.bank == Bank::none ? 0 : w.at<W>(i.c)[lane];
    const L now = updated(i, old, b, c);
    before_update(w, i, lane, p, bytes, reinterpret_cast<const std::byte*>(&now));
    std::memcpy(p.data[lane], &now, bytes);
    if (i.d.bank != Bank::none) w.at<W>(i.d)[lane] = static_cast<W>(old);
  });
}

}  // namespace

void decode_cp(Decoder& d) {
  if (!d.take("async")) d.fail("unknown instruction cp");
  if (d.take("commit_group")) {
    d.i.run = [](Warp& w, const Instruction&, std::uint32_t mask) {
      for_each_lane(mask, [&](U lane) { ++w.copy_group[lane]; });
    };
    return;
  }
  if (d.take("wait_group")) {
    d.need_operands(1, 1);
    d.i.a = d.source(0, Type::u32);
    d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) { complete(w, i, mask, *w.at<U>(i.a)); };
    return;
  }
  if (d.take("wait_all")) {
    d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) {
      for_each_lane(mask, [&](U lane) { ++w.copy_group[lane]; });
      complete(w, i, mask, 0);
    };
    return;
  }
  const bool l2_only = d.need_one({"ca", "cg"}) == 1;
  if (!d.take("shared") && !d.take("shared::cta")) d.fail("unknown state space");
  if (!d.take("global")) d.fail("unknown state space");
  d.take_hints();
  const bool policy = d.take("L2::cache_hint");
  d.need_operands(3, policy ? 5 : 4);
  const Operand& size = d.operand(2);
  if (size.kind != Operand::Kind::integer ||
      (size.bits != 16 && (l2_only || (size.bits != 4 && size.bits != 8)))) {
    d.fail("unknown size");
  }
  // The source first: address() leaves what belongs to the destination in the instruction.
  d.i.space = Space::global;
  d.address(d.operand(1), d.i.b);
  d.list({}, {d.constant(static_cast<L>(d.i.offset), 256)});
  if (d.i.address_32) d.fail("an address in too few bits");
  d.i.space = Space::shared;
  d.address(d.operand(0), d.i.a);
  d.i.width = static_cast<std::uint8_t>(size.bits);
  if (d.operands().size() > (policy ? 4u : 3u)) d.i.c = d.source(3, Type::u32);
  d.i.run = run_copy;
}

void decode_atomic(Decoder& d) {
  const bool returns = d.statement().opcode == "atom";
  d.take_one({"relaxed", "acquire", "release", "acq_rel"});
  d.take_one({"cta", "cluster", "gpu", "sys"});
  switch (d.take_one({"global", "shared", "shared::cta"})) {
    case 0:
      d.i.space = Space::global;
      break;
    case 1:
    case 2:
      d.i.space = Space::shared;
      break;
    default:
      break;
  }
  d.i.mode = static_cast<std::uint8_t>(
      d.need_one({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"}));
  d.take("noftz");
  const Type t = d.need_type();
  const bool floating = is_float(t);
  if ((size_of(t) < 4 && !floating && t != Type::b16) || (floating && d.i.mode != add) ||
      (t == Type::b16 && d.i.mode != compare)) {
    d.fail("unknown type for this instruction");
  }
  d.i.type = t;
  d.i.width = static_cast<std::uint8_t>(size_of(t));
  const std::size_t first = returns ? 1 : 0, sources = d.i.mode == compare ? 2 : 1;
  d.need_operands(first + 1 + sources, first + 1 + sources);
  const std::uint8_t operation = d.i.mode;
  d.address(d.operand(first), d.i.a);
  d.i.mode = operation;
  if (returns) d.i.d = d.destination(0, t);
  d.i.b = d.source(first + 1, t);
  if (sources == 2) d.i.c = d.source(first + 2, t);
  d.i.run = size_of(t) == 8 ? &run_atomic<L> : &run_atomic<U>;
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX ISA: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, activemask.
#include <algorithm>
#include <bit>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;

enum ShuffleMode : std::uint8_t { up, down, bfly, idx };

// b: lane or distance; c: bits 0-4 clamp, bits 8-12 segment mask.
void run_shuffle(Warp& w, const Instruction& i, std::uint32_t mask) {
  U value[warp_size];
  std::copy_n(w.at<U>(i.a), warp_size, value);
  const U *b = w.at<U>(i.b), *c = w.at<U>(i.c);
  U* d = w.at<U>(i.d);
  U in_range = 0;
  for_each_lane(mask, [&](U lane) {
    const U distance = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
    const U last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    U from = lane;
    bool valid = false;
    switch (i.mode) {
      case up:
        from = lane - distance;
        valid = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last);
        break;
      case down:
        from = lane + distance;
        valid = from <= last;
        break;
      case bfly:
        from = lane ^ distance;
        valid = from <= last;
        break;
      default:
        from = first | (distance & ~segment);
        valid = from <= last;
    }
    if (!valid) from = lane;
    if ((mask >> from & 1) == 0) {
      throw Fault{lane, "shuffles from lane " + std::to_string(from) + ", which does not take part"};
    }
    d[lane] = value[from];
    in_range |= U{valid} << lane;
  });
  if (i.e.bank != Bank::none) {
    U& p = *w.at<U>(i.e);
    p = (p & ~mask) | (in_range & mask);
  }
}

enum VoteMode : std::uint8_t { all, any, uni, ballot };

void run_vote(Warp& w, const Instruction& i, std::uint32_t mask) {
  const U p = (*w.at<U>(i.a) ^ (i.flag ? all_lanes : 0)) & mask;
  if (i.mode == ballot) {
    U* d = w.at<U>(i.d);
    for_each_lane(mask, [&](U lane) { d[lane] = p; });
    return;
  }
  const bool result = i.mode == all ? p == mask : i.mode == any ? p != 0 : p == mask || p == 0;
  U& d = *w.at<U>(i.d);
  d = (d & ~mask) | (result ? mask : 0);
}

template <typename W>
void run_match(Warp& w, const Instruction& i, std::uint32_t mask) {
  const W* a = w.at<W>(i.a);
  U* d = w.at<U>(i.d);
  const U first = static_cast<U>(std::countr_zero(mask));
  U same_as_first = 0, result[warp_size];
  for_each_lane(mask, [&](U lane) {
    same_as_first |= U{a[lane] == a[first]} << lane;
    result[lane] = 0;
    for_each_lane(mask, [&](U other) { result[lane] |= U{a[other] == a[lane]} << other; });
  });
  if (!i.flag) {
    for_each_lane(mask, [&](U lane) { d[lane] = result[lane]; });
    return;
  }
  const bool every = same_as_first == mask;
  for_each_lane(mask, [&](U lane) { d[lane] = every ? mask : 0; });
  if (i.e.bank != Bank::none) {
    U& p = *w.at<U>(i.e);
    p = (p & ~mask) | (every ? mask : 0);
  }
}

enum ReduxMode : std::uint8_t { sum, minimum, maximum, bits_and, bits_or, bits_xor };

void run_redux(Warp& w, const Instruction& i, std::uint32_t mask) {
  const U* a = w.at<U>(i.a);
  U result = a[std::countr_zero(mask)];
  for_each_lane(mask & (mask - 1), [&](U lane) {
    const U v = a[lane];
    const bool less =
        is_signed(i.type) ? static_cast<std::int32_t>(v) < static_cast<std::int32_t>(result) : v < result;
    switch (i.mode) {
      case sum:
        result += v;
        break;
      case minimum:
        result = less ? v : result;
        break;
      case maximum:
        result = less ? result : v;
        break;
      case bits_and:
        result &= v;
        break;
      case bits_or:
        result |= v;
        break;
      default:
        result ^= v;
    }
  });
  U* d = w.at<U>(i.d);
  for_each_lane(mask, [&](U lane) { d[lane] = result; });
}

void converged(Decoder& d, std::size_t member_operand) {
  d.i.flow = Flow::converged;
  d.i.members = d.source(member_operand, Type::b32);
}

/// a|p
void destination_pair(Decoder& d, Type first) {
  Operand to = d.operand(0);
  const std::vector<Operand> second = to.second;
  to.second.clear();
  d.i.d = d.destination(to, first);
  if (!second.empty()) d.i.e = d.destination(second[0], Type::pred);
}

}  // namespace

void decode_shuffle(Decoder& d) {
  if (!d.take("sync")) d.fail("shfl without .sync is not known");
  d.i.mode = static_cast<std::uint8_t>(d.need_one({"up", "down", "bfly", "idx"}));
  d.need_type({Type::b32});
  d.need_operands(5, 5);
  destination_pair(d, Type::b32);
  d.i.a = d.source(1, Type::b32);
  d.i.b = d.source(2, Type::b32);
  d.i.c = d.source(3, Type::b32);
  converged(d, 4);
  d.i.run = run_shuffle;
}

void decode_vote(Decoder& d) {
  if (!d.take("sync")) d.fail("vote without .sync is not known");
  d.i.mode = static_cast<std::uint8_t>(d.need_one({"all", "any", "uni", "ballot"}));
  const Type t = d.need_type({Type::pred, Type::b32});
  if ((t == Type::b32) != (d.i.mode == ballot)) d.fail("unknown type for this instruction");
  d.need_operands(3, 3);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, Type::pred);
  d.i.flag = d.operand(1).negated;
  converged(d, 2);
  d.i.run = run_vote;
}

void decode_match(Decoder& d) {
  d.i.flag = d.need_one({"any", "all"}) == 1;
  if (!d.take("sync")) d.fail("match without .sync is not known");
  const Type t = d.need_type({Type::b32, Type::b64});
  d.need_operands(3, 3);
  destination_pair(d, Type::b32);
  if (!d.i.flag && d.i.e.bank != Bank::none) d.fail("match.any has no predicate");
  d.i.a = d.source(1, t);
  converged(d, 2);
  d.i.run = t == Type::b64 ? &run_match<std::uint64_t> : &run_match<U>;
}

void decode_redux(Decoder& d) {
  if (!d.take("sync")) d.fail("redux without .sync is not known");
  d.i.mode = static_cast<std::uint8_t>(d.need_one({"add", "min", "max", "and", "or", "xor"}));
  d.i.type = d.need_type({Type::u32, Type::s32, Type::b32});
  d.need_operands(3, 3);
  d.i.d = d.destination(0, Type::b32);
  d.i.a = d.source(1, Type::b32);
  converged(d, 2);
  d.i.run = run_redux;
}

void decode_elect(Decoder& d) {
  if (!d.take("sync")) d.fail("elect without .sync is not known");
  d.need_operands(2, 2);
  destination_pair(d, Type::b32);
  converged(d, 1);
  d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) {
    const U leader = static_cast<U>(std::countr_zero(mask));
    U* to = w.at<U>(i.d);
    for_each_lane(mask, [&](U lane) { to[lane] = leader; });
    if (i.e.bank == Bank::none) return;
    U& p = *w.at<U>(i.e);
    p = (p & ~mask) | 1u << leader;
  };
}

void decode_activemask(Decoder& d) {
  d.need_type({Type::b32});
  d.need_operands(1, 1);
  d.i.d = d.destination(0, Type::b32);
  d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) {
    U* to = w.at<U>(i.d);
    for_each_lane(mask, [&](U lane) { to[lane] = mask; });
  };
}

}  // namespace lorikeet::ptx

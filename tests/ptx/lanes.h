// SPDX-License-Identifier: Apache-2.0
// Handlers made from a function of one lane. They are compiled for AVX2 with FMA too; the processor decides
// at start-up.
#pragma once

#include <bit>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/ptx/floats.h"
#include "tests/ptx/machine.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LORIKEET_PTX_CLONES
#else
#define LORIKEET_PTX_CLONES [[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif

namespace lorikeet::ptx {

template <typename V>
using Word = std::conditional_t<sizeof(V) == 8, std::uint64_t, std::uint32_t>;
template <std::size_t Bytes>
using Bits =
    std::conditional_t<Bytes == 1, std::uint8_t,
                       std::conditional_t<Bytes == 2, std::uint16_t,
                                          std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <typename V>
[[gnu::always_inline]] inline V from_word(Word<V> w) {
  return std::bit_cast<V>(static_cast<Bits<sizeof(V)>>(w));
}
template <typename V>
[[gnu::always_inline]] inline Word<V> to_word(V v) {
  return std::bit_cast<Bits<sizeof(V)>>(v);
}

template <std::size_t N>
inline const Slot& source_slot(const Instruction& i) {
  if constexpr (N == 0) {
    return i.a;
  } else if constexpr (N == 1) {
    return i.b;
  } else {
    return i.c;
  }
}

/// d = F(a, b, c) in every lane of the mask; F must be defined for any bits at all, it runs in all lanes.
template <typename F, typename D, typename... S, std::size_t... N>
[[gnu::always_inline]] inline void run_total(Warp& w, const Instruction& i, std::uint32_t mask,
                                             std::index_sequence<N...>) {
  const std::tuple<const Word<S>*...> in{w.at<Word<S>>(source_slot<N>(i))...};
  Word<D>* const d = w.at<Word<D>>(i.d);
  if (mask == all_lanes) {
#pragma GCC ivdep
    for (std::uint32_t l = 0; l < warp_size; ++l) d[l] = to_word<D>(F{}(from_word<S>(std::get<N>(in)[l])...));
    return;
  }
#pragma GCC ivdep
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    const Word<D> result = to_word<D>(F{}(from_word<S>(std::get<N>(in)[l])...));
    d[l] = (mask >> l & 1) != 0 ? result : d[l];
  }
}
template <typename F, typename D, typename... S>
LORIKEET_PTX_CLONES void total(Warp& w, const Instruction& i, std::uint32_t mask) {
  run_total<F, D, S...>(w, i, mask, std::index_sequence_for<S...>());
}

/// The same for slow functions and those that not all values may enter.
template <typename F, typename D, typename... S, std::size_t... N>
inline void run_single(Warp& w, const Instruction& i, std::uint32_t mask, std::index_sequence<N...>) {
  const std::tuple<const Word<S>*...> in{w.at<Word<S>>(source_slot<N>(i))...};
  Word<D>* const d = w.at<Word<D>>(i.d);
  for_each_lane(mask, [&](std::uint32_t l) { d[l] = to_word<D>(F{}(from_word<S>(std::get<N>(in)[l])...)); });
}
template <typename F, typename D, typename... S>
void single(Warp& w, const Instruction& i, std::uint32_t mask) {
  run_single<F, D, S...>(w, i, mask, std::index_sequence_for<S...>());
}

/// Handlers of a lambda without captures: lanewise<D, A, B>([](A a, B b) { ... }).
template <typename D, typename... S, typename F>
Handler lanewise(F) {
  return &total<F, D, S...>;
}
template <typename D, typename... S, typename F>
Handler one_by_one(F) {
  return &single<F, D, S...>;
}

/// The handler made by f.operator()<T>() for the integer type of `type`; bits count as unsigned. nullptr for
/// others.
template <typename F>
Handler for_integer(Type type, F&& f) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return f.template operator()<std::uint16_t>();
    case Type::s16:
      return f.template operator()<std::int16_t>();
    case Type::b32:
    case Type::u32:
      return f.template operator()<std::uint32_t>();
    case Type::s32:
      return f.template operator()<std::int32_t>();
    case Type::b64:
    case Type::u64:
      return f.template operator()<std::uint64_t>();
    case Type::s64:
      return f.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/ptx/machine.h"

namespace lorikeet::ptx {

enum class Access : std::uint8_t { read, write, atomic };

/// Where the lanes' accesses lie on the host. Only the entries of the lanes resolve() was asked for have a
/// value.
struct Places {
  std::array<std::uint64_t, warp_size> address;  ///< within `space` of the lane
  std::array<std::byte*, warp_size> data;
  std::array<std::uint8_t*, warp_size> written;  ///< shadow, nullptr where there is none
  std::array<Space, warp_size> space;
  /// All 32 lanes access global memory, one right after the other.
  bool contiguous = false;
};

/// Finds [base + offset] of every lane, `bytes` long, and complains about what lies outside live memory, is
/// misaligned or may not be written. `i.space` and `i.mode` say which memory.
void resolve(Warp& w, const Instruction& i, std::uint32_t mask, Slot base, std::int64_t offset,
             std::uint32_t bytes, Access access, Places& places);

/// The same of one lane, whose address is known and in global memory.
void resolve_global(Warp& w, const Instruction& i, std::uint32_t lane, std::uint32_t bytes, Access access,
                    Places& places);

/// To be called before the bytes are read: complains about those never written, and about races.
void before_read(Warp& w, const Instruction& i, std::uint32_t lane, const Places& places,
                 std::uint32_t bytes);
void before_reads(Warp& w, const Instruction& i, std::uint32_t mask, const Places& places,
                  std::uint32_t bytes);
/// To be called before `value` is put there: complains about races, marks the bytes as written.
void before_write(Warp& w, const Instruction& i, std::uint32_t lane, const Places& places,
                  std::uint32_t bytes, const std::byte* value);
/// The same of a contiguous access, whose `values` lie one after the other.
void before_contiguous_write(Warp& w, const Instruction& i, const Places& places, std::uint32_t bytes,
                             const std::byte* values);
/// To be called before an atomic operation.
void before_update(Warp& w, const Instruction& i, std::uint32_t lane, const Places& places,
                   std::uint32_t bytes, const std::byte* value);

}  // namespace lorikeet::ptx

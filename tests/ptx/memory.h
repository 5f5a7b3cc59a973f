// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tests/ptx/machine.h"

namespace lorikeet::ptx {

enum class Access : std::uint8_t { read, write, atomic };

/// Where the lanes' accesses lie on the host.
struct Places {
  std::array<std::uint64_t, warp_size> address{};  ///< within `space` of the lane
  std::array<std::byte*, warp_size> data{};
  std::array<std::uint8_t*, warp_size> written{};  ///< shadow, nullptr where there is none
  std::array<Space, warp_size> space{};
};

/// Finds [base + offset] of every lane, `bytes` long, and complains about what lies outside live memory, is
/// misaligned or may not be written. `i.space` and `i.mode` say which memory.
void resolve(Warp& w, const Instruction& i, std::uint32_t mask, Slot base, std::int64_t offset,
             std::uint32_t bytes, Access access, Places& places);

/// The same of one lane, whose address is known and in global memory.
void resolve_global(Warp& w, const Instruction& i, std::uint32_t lane, std::uint32_t bytes, Access access,
                    Places& places);

/// To be called before the bytes are read: complains about those never written, and about races.
void before_read(Warp& w, const Instruction& i, std::uint32_t lane, const Places& places, std::uint32_t bytes,
                 Access access = Access::read);
/// To be called before `value` is put there: complains about races, marks the bytes as written.
void before_write(Warp& w, const Instruction& i, std::uint32_t lane, const Places& places,
                  std::uint32_t bytes, const std::byte* value, Access access = Access::write);

}  // namespace lorikeet::ptx

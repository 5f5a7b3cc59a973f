// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/memory.h"

#include <cstring>

namespace lorikeet::ptx {

namespace {

std::string size_text(std::uint32_t bytes) {
  return std::to_string(bytes) + " bytes";
}

std::string hexadecimal(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Launch::KnownRange look_up(Launch& launch, std::uint64_t address, std::uint32_t bytes, Access access,
                           std::uint32_t lane) {
  const DeviceMemory::Range range = launch.memory.range_of(address);
  if (range.begin != range.end) {
    if (address - range.begin > range.end - range.begin - bytes || range.end - range.begin < bytes) {
      throw Fault{lane,
                  "access of " + size_text(bytes) + " outside: " + launch.memory.complaint(address, bytes)};
    }
    return {range.begin, range.end, true};
  }
  for (const auto& [name, v] : *launch.program.variables) {
    if (address < v.address || address >= v.address + v.bytes) continue;
    if (v.bytes < bytes || address - v.address > v.bytes - bytes) {
      throw Fault{lane, "access of " + size_text(bytes) + " beyond the end of " + name};
    }
    if (v.constant && access != Access::read) throw Fault{lane, "writes to constant memory, " + name};
    return {v.address, v.address + v.bytes, false};
  }
  throw Fault{lane, "access of " + size_text(bytes) + " outside: " + launch.memory.complaint(address, bytes)};
}

void place_global(Warp& w, const Instruction& i, std::uint32_t lane, std::uint32_t bytes, Access access,
                  Places& p) {
  Launch& launch = w.block.launch;
  Launch::KnownRange& known = launch.ranges[static_cast<std::size_t>(&i - launch.program.code.data())];
  const std::uint64_t address = p.address[lane];
  if (address < known.begin || address >= known.end || known.end - address < bytes) {
    known = look_up(launch, address, bytes, access, lane);
  }
  p.data[lane] = reinterpret_cast<std::byte*>(address);
  p.written[lane] = known.device ? launch.memory.written(address) : nullptr;
}

void place_lane_memory(Warp& w, std::uint32_t lane, std::uint32_t bytes, Places& p) {
  const std::size_t size = w.block.launch.program.lane_bytes;
  if (size < bytes || p.address[lane] > size - bytes) {
    throw Fault{
        lane, "access of " + size_text(bytes) + " outside local memory, at " + hexadecimal(p.address[lane])};
  }
  p.data[lane] = w.lane_memory.data() + lane * size + p.address[lane];
  p.written[lane] = w.lane_written.data() + lane * size + p.address[lane];
}

void place_shared(Warp& w, std::uint32_t lane, std::uint32_t bytes, Places& p) {
  std::vector<std::byte>& shared = w.block.shared;
  if (shared.size() < bytes || p.address[lane] > shared.size() - bytes) {
    throw Fault{lane, "access of " + size_text(bytes) + " outside shared memory, at " +
                          hexadecimal(p.address[lane]) + " of " + std::to_string(shared.size())};
  }
  p.data[lane] = shared.data() + p.address[lane];
  p.written[lane] = w.block.shared_written.data() + p.address[lane];
}

void place_parameter(Warp& w, std::uint32_t lane, std::uint32_t bytes, Access access, Places& p) {
  const std::vector<std::byte>& parameters = w.block.launch.parameters;
  if (access != Access::read) throw Fault{lane, "writes to the kernel's parameters"};
  if (parameters.size() < bytes || p.address[lane] > parameters.size() - bytes) {
    throw Fault{lane, "access of " + size_text(bytes) + " beyond the parameters"};
  }
  p.data[lane] = const_cast<std::byte*>(parameters.data()) + p.address[lane];
  p.written[lane] = nullptr;
}

/// A generic address tells its space in the upper byte; Space::param stands for the kernel's parameters.
Space space_of(std::uint64_t& address) {
  const std::uint64_t window = address & ~(window_bytes - 1);
  if (window != shared_window && window != local_window && window != parameter_window) return Space::global;
  address -= window;
  return window == shared_window ? Space::shared : window == local_window ? Space::local : Space::param;
}

void place(Warp& w, const Instruction& i, std::uint32_t lane, std::uint32_t bytes, Access access, Places& p) {
  switch (p.space[lane]) {
    case Space::shared:
      return place_shared(w, lane, bytes, p);
    case Space::local:
      return place_lane_memory(w, lane, bytes, p);
    case Space::param:
      return place_parameter(w, lane, bytes, access, p);
    default:
      return place_global(w, i, lane, bytes, access, p);
  }
}

/// The first byte in [written, written + bytes) that is not 1, or `bytes`.
std::uint32_t first_unwritten(const std::uint8_t* written, std::uint32_t bytes) {
  std::uint64_t word;
  switch (bytes) {
    case 4: {
      std::uint32_t half;
      std::memcpy(&half, written, 4);
      if (half == 0x01010101u) return bytes;
      break;
    }
    case 16:
      std::memcpy(&word, written + 8, 8);
      if (word != 0x0101010101010101u) break;
      [[fallthrough]];
    case 8:
      std::memcpy(&word, written, 8);
      if (word == 0x0101010101010101u) return bytes;
      break;
    default:
      break;
  }
  std::uint32_t n = 0;
  while (n < bytes && written[n] != 0 && written[n] != 2) ++n;
  return n;
}

[[noreturn]] void unwritten(const Places& p, std::uint32_t lane, std::uint32_t byte) {
  const char* what = p.written[lane][byte] == 2 ? "reads what a cp.async has not been waited for, "
                                                : "reads a byte that was never written, ";
  const char* where = p.space[lane] == Space::shared  ? "shared"
                      : p.space[lane] == Space::local ? "local"
                                                      : "global";
  throw Fault{lane, std::string(what) + where + " address " + hexadecimal(p.address[lane] + byte)};
}

/// The usual case in one go: all lanes in the range the instruction accessed last.
bool place_known(Warp& w, const Instruction& i, std::uint32_t mask, std::uint32_t bytes, Places& p) {
  Launch& launch = w.block.launch;
  const Launch::KnownRange& known = launch.ranges[static_cast<std::size_t>(&i - launch.program.code.data())];
  const std::uint64_t any = p.address[static_cast<std::size_t>(std::countr_zero(mask))];
  std::uint64_t lowest = any, highest = any, all = any, apart = 0;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    const std::uint64_t a = (mask >> l & 1) != 0 ? p.address[l] : any;
    lowest = a < lowest ? a : lowest;
    highest = a > highest ? a : highest;
    all |= a;
    apart |= a ^ (any + std::uint64_t{l} * bytes);
  }
  if ((all & (bytes - 1)) != 0 || lowest < known.begin || highest >= known.end ||
      known.end - highest < bytes) {
    return false;
  }
  const auto written = reinterpret_cast<std::uint64_t>(launch.memory.written(any)) - any;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    p.data[l] = reinterpret_cast<std::byte*>(p.address[l]);
    p.written[l] = known.device ? reinterpret_cast<std::uint8_t*>(written + p.address[l]) : nullptr;
    p.space[l] = Space::global;
  }
  p.contiguous = mask == all_lanes && apart == 0;
  return true;
}

bool place_all_shared(Warp& w, std::uint32_t mask, std::uint32_t bytes, Places& p) {
  std::vector<std::byte>& shared = w.block.shared;
  const std::uint64_t any = p.address[static_cast<std::size_t>(std::countr_zero(mask))];
  std::uint64_t highest = 0, all = 0;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    const std::uint64_t a = (mask >> l & 1) != 0 ? p.address[l] : any;
    highest = a > highest ? a : highest;
    all |= a;
    p.address[l] = a;
  }
  if ((all & (bytes - 1)) != 0 || shared.size() < bytes || highest > shared.size() - bytes) return false;
  for (std::uint32_t l = 0; l < warp_size; ++l) {
    p.data[l] = shared.data() + p.address[l];
    p.written[l] = w.block.shared_written.data() + p.address[l];
    p.space[l] = Space::shared;
  }
  return true;
}

}  // namespace

void resolve(Warp& w, const Instruction& i, std::uint32_t mask, Slot base, std::int64_t offset,
             std::uint32_t bytes, Access access, Places& p) {
  if (i.address_32) {
    const std::uint32_t* a = w.at<std::uint32_t>(base);
    for (std::uint32_t l = 0; l < warp_size; ++l) p.address[l] = a[l] + static_cast<std::uint64_t>(offset);
  } else {
    const std::uint64_t* a = w.at<std::uint64_t>(base);
    for (std::uint32_t l = 0; l < warp_size; ++l) p.address[l] = a[l] + static_cast<std::uint64_t>(offset);
  }
  if ((i.space == Space::global || i.space == Space::constant) && place_known(w, i, mask, bytes, p)) return;
  if (i.space == Space::shared) {
    if (i.address_32) {
      for (std::uint64_t& a : p.address) a &= 0xffffffffu;
    }
    if (place_all_shared(w, mask, bytes, p)) return;
  }
  for_each_lane(mask, [&](std::uint32_t lane) {
    Space space = i.space == Space::constant ? Space::global : i.space;
    if (space == Space::param) {
      if (i.mode == lane_parameter) space = Space::local;
      if (i.mode == by_address) space = space_of(p.address[lane]);
    } else if (space == Space::generic) {
      space = space_of(p.address[lane]);
    }
    p.space[lane] = space;
    // Before the bounds: a misaligned vector is the clearer complaint.
    if ((p.address[lane] & (bytes - 1)) != 0) {
      throw Fault{lane, "misaligned access of " + size_text(bytes) + " at " + hexadecimal(p.address[lane])};
    }
    place(w, i, lane, bytes, access, p);
  });
}

void resolve_global(Warp& w, const Instruction& i, std::uint32_t lane, std::uint32_t bytes, Access access,
                    Places& p) {
  p.space[lane] = Space::global;
  place_global(w, i, lane, bytes, access, p);
}

void before_read(Warp& w, const Instruction& i, std::uint32_t lane, const Places& p, std::uint32_t bytes) {
  if (p.written[lane] != nullptr) {
    const std::uint32_t first = first_unwritten(p.written[lane], bytes);
    if (first != bytes) unwritten(p, lane, first);
  }
  if (p.space[lane] == Space::shared && w.block.races != nullptr) {
    SharedRaces& races = *w.block.races;
    if (!races.read({w.index, lane, &i}, p.address[lane], bytes)) throw Fault{lane, races.complaint()};
  } else if (p.space[lane] == Space::global && w.block.launch.accesses != nullptr) {
    GlobalAccesses& accesses = *w.block.launch.accesses;
    if (!accesses.read(static_cast<std::uint32_t>(w.block.number), p.address[lane], bytes)) {
      throw Fault{lane, accesses.complaint()};
    }
  }
}

void before_reads(Warp& w, const Instruction& i, std::uint32_t mask, const Places& p, std::uint32_t bytes) {
  if (!p.contiguous) {
    for_each_lane(mask, [&](std::uint32_t lane) { before_read(w, i, lane, p, bytes); });
    return;
  }
  const std::uint32_t total = bytes * warp_size;
  if (p.written[0] != nullptr) {
    const void* zero = std::memchr(p.written[0], 0, total);
    if (zero != nullptr) {
      const auto at = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(zero) - p.written[0]);
      unwritten(p, at / bytes, at % bytes);
    }
  }
  if (GlobalAccesses* accesses = w.block.launch.accesses.get()) {
    if (!accesses->read(static_cast<std::uint32_t>(w.block.number), p.address[0], total)) {
      for_each_lane(mask,
                    [&](std::uint32_t lane) { before_read(w, i, lane, p, bytes); });  // which lane it was
    }
  }
}

void before_write(Warp& w, const Instruction& i, std::uint32_t lane, const Places& p, std::uint32_t bytes,
                  const std::byte* value) {
  if (p.written[lane] != nullptr) std::memset(p.written[lane], 1, bytes);
  if (p.space[lane] == Space::shared && w.block.races != nullptr) {
    SharedRaces& races = *w.block.races;
    if (!races.write({w.index, lane, &i}, p.address[lane], bytes, p.data[lane], value, false)) {
      throw Fault{lane, races.complaint()};
    }
  } else if (p.space[lane] == Space::global && w.block.launch.accesses != nullptr) {
    GlobalAccesses& accesses = *w.block.launch.accesses;
    if (!accesses.write(static_cast<std::uint32_t>(w.block.number), p.address[lane], bytes, value)) {
      throw Fault{lane, accesses.complaint()};
    }
  }
}

void before_contiguous_write(Warp& w, const Instruction& i, const Places& p, std::uint32_t bytes,
                             const std::byte* values) {
  const std::uint32_t total = bytes * warp_size;
  if (p.written[0] != nullptr) std::memset(p.written[0], 1, total);
  GlobalAccesses* accesses = w.block.launch.accesses.get();
  if (accesses != nullptr &&
      !accesses->write(static_cast<std::uint32_t>(w.block.number), p.address[0], total, values)) {
    for_each_lane(all_lanes,
                  [&](std::uint32_t lane) { before_write(w, i, lane, p, bytes, values + lane * bytes); });
  }
}

void before_update(Warp& w, const Instruction& i, std::uint32_t lane, const Places& p, std::uint32_t bytes,
                   const std::byte* value) {
  if (p.written[lane] != nullptr) {
    const std::uint32_t first = first_unwritten(p.written[lane], bytes);
    if (first != bytes) unwritten(p, lane, first);
  }
  if (p.space[lane] == Space::shared && w.block.races != nullptr) {
    SharedRaces& races = *w.block.races;
    if (!races.write({w.index, lane, &i}, p.address[lane], bytes, p.data[lane], value, true)) {
      throw Fault{lane, races.complaint()};
    }
  } else if (p.space[lane] == Space::global && w.block.launch.accesses != nullptr) {
    GlobalAccesses& accesses = *w.block.launch.accesses;
    if (!accesses.update(static_cast<std::uint32_t>(w.block.number), p.address[lane], bytes)) {
      throw Fault{lane, accesses.complaint()};
    }
  }
}

}  // namespace lorikeet::ptx

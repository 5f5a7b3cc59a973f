// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/global_accesses.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lorikeet::ptx {

namespace {

constexpr std::uint32_t many = 0xffffffffu, atomically = 0x80000000u;

/// The part of an access that lies in one page.
std::uint32_t in_page(std::uint64_t address, std::uint32_t bytes, std::uint32_t page) {
  return std::min(bytes, page - static_cast<std::uint32_t>(address % page));
}

/// Bits of the sectors of an access within a page.
std::uint32_t sectors(std::uint64_t address, std::uint32_t bytes) {
  const auto first = static_cast<std::uint32_t>(address / 32 % 32);
  const auto last = static_cast<std::uint32_t>((address + bytes - 1) / 32 % 32);
  return (last == 31 ? 0xffffffffu : (2u << last) - 1) & ~((1u << first) - 1);
}

}  // namespace

bool GlobalAccesses::race(const char* what, std::uint32_t other) {
  const std::string who =
      other == many ? "other blocks" : "block number " + std::to_string((other & ~atomically) - 1);
  complaint_ = "race between blocks in global memory: " + who + " " + what + " the same bytes in this launch";
  return false;
}

GlobalAccesses::Page& GlobalAccesses::page(std::uint64_t address) {
  const std::uint64_t number = address / page_bytes;
  Recent& recent = recent_[number % recent_.size()];
  if (recent.number == number) return *recent.page;
  std::unique_ptr<Page>& found = pages_[number];
  if (found == nullptr) {
    found = std::make_unique<Page>();
    if (races_) found->cells.resize(page_bytes >> found->shift);
  }
  recent = {number, found.get()};
  return *found;
}

void GlobalAccesses::refine(Page& page, std::uint32_t bytes) {
  const std::uint32_t shift = bytes == 1 ? 0 : 1;
  std::vector<Cell> finer(page_bytes >> shift);
  for (std::size_t n = 0; n < finer.size(); ++n) finer[n] = page.cells[n >> (page.shift - shift)];
  page.cells = std::move(finer);
  page.shift = shift;
}

std::pair<GlobalAccesses::Cell*, GlobalAccesses::Cell*> GlobalAccesses::cells(Page& page,
                                                                              std::uint64_t address,
                                                                              std::uint32_t bytes) {
  const std::uint64_t both = bytes | address;
  const std::uint32_t unit = both % 4 == 0 ? 4 : both % 2 == 0 ? 2 : 1;
  if (unit < (1u << page.shift)) refine(page, unit);
  Cell* first = page.cells.data() + (address % page_bytes >> page.shift);
  return {first, first + (bytes >> page.shift)};
}

bool GlobalAccesses::read(std::uint32_t block, std::uint64_t address, std::uint32_t bytes) {
  const std::uint32_t me = block + 1;
  for (std::uint32_t part; bytes != 0; address += part, bytes -= part) {
    part = in_page(address, bytes, page_bytes);
    Page& p = page(address);
    p.read |= sectors(address, part);
    if (!races_) continue;
    const auto [first, last] = cells(p, address, part);
    std::uint32_t foreign = 0;
    for (Cell* c = first; c != last; ++c) {
      const std::uint32_t writer = c->writer;
      foreign |= writer != 0 && writer != me && writer != (me | atomically) ? writer : 0;
      c->reader = c->reader == 0 || c->reader == me ? me : many;
    }
    if (foreign == 0) continue;
    for (Cell* c = first;; ++c) {
      if (c->writer != 0 && c->writer != me && c->writer != (me | atomically))
        return race("wrote", c->writer);
    }
  }
  return true;
}

bool GlobalAccesses::write(std::uint32_t block, std::uint64_t address, std::uint32_t bytes,
                           const std::byte* new_value) {
  const std::uint32_t me = block + 1;
  for (std::uint32_t part; bytes != 0; address += part, new_value += part, bytes -= part) {
    part = in_page(address, bytes, page_bytes);
    Page& p = page(address);
    p.written |= sectors(address, part);
    if (!races_) continue;
    const auto [first, last] = cells(p, address, part);
    std::uint32_t foreign = 0;
    for (const Cell* c = first; c != last; ++c) {
      foreign |=
          std::uint32_t{c->writer != 0 && c->writer != me} | std::uint32_t{c->reader != 0 && c->reader != me};
    }
    if (foreign != 0) {
      const std::size_t unit = std::size_t{1} << p.shift;
      for (const Cell* c = first; c != last; ++c) {
        const std::size_t at = static_cast<std::size_t>(c - first) * unit;
        if (c->writer != 0 && c->writer != me && c->writer != (me | atomically) &&
            std::memcmp(reinterpret_cast<const std::byte*>(address) + at, new_value + at, unit) != 0) {
          return race("wrote", c->writer);
        }
        if (c->reader != 0 && c->reader != me) return race("read", c->reader);
      }
    }
    for (Cell* c = first; c != last; ++c) c->writer = me;
  }
  return true;
}

bool GlobalAccesses::update(std::uint32_t block, std::uint64_t address, std::uint32_t bytes) {
  Page& p = page(address);
  p.read |= sectors(address, bytes);
  p.written |= sectors(address, bytes);
  if (!races_) return true;
  const std::uint32_t me = block + 1;
  const auto [first, last] = cells(p, address, bytes);
  for (Cell* c = first; c != last; ++c) {
    if (c->reader != 0 && c->reader != me) return race("read", c->reader);
    if (c->writer == me) continue;
    if (c->writer == 0 || c->writer == (me | atomically)) {
      c->writer = me | atomically;
    } else if ((c->writer & atomically) != 0) {
      c->writer = many;
    } else {
      return race("wrote", c->writer);
    }
  }
  return true;
}

std::uint64_t GlobalAccesses::sectors_read() const {
  std::uint64_t sum = 0;
  for (const auto& [number, p] : pages_) sum += static_cast<std::uint64_t>(std::popcount(p->read));
  return sum;
}

std::uint64_t GlobalAccesses::sectors_written() const {
  std::uint64_t sum = 0;
  for (const auto& [number, p] : pages_) sum += static_cast<std::uint64_t>(std::popcount(p->written));
  return sum;
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace lorikeet::ptx {
namespace {

constexpr std::size_t reserved_bytes = std::size_t{64} << 30;
constexpr std::size_t alignment = 256, guard = 512, page = 4096;

std::size_t rounded_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Addresses without memory behind them until they are used.
char* reserve(std::size_t bytes) {
  void* data =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<char*>(data);
}

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

/// Gives the whole pages of a range back to the system.
void drop(std::uint64_t begin, std::uint64_t end) {
  begin = rounded_up(begin, page);
  end = end / page * page;
  if (begin < end) madvise(pointer(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

DeviceMemory::DeviceMemory(std::size_t limit_bytes)
    : reserved_(reserved_bytes), limit_(limit_bytes), top_(guard) {
  base_ = reinterpret_cast<std::uint64_t>(reserve(reserved_));
  shadow_ = reinterpret_cast<std::uint8_t*>(reserve(reserved_));
}

DeviceMemory::~DeviceMemory() {
  munmap(pointer(base_), reserved_);
  munmap(shadow_, reserved_);
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t taken = rounded_up(std::max<std::size_t>(bytes, 1), alignment) + guard;
  if (bytes > limit_ || used_ > limit_ - bytes) return nullptr;
  // Addresses are not used twice, so that a freed pointer stays wrong, until the range is through.
  if (taken > reserved_ - top_) {
    if (!live_.empty()) return nullptr;
    drop(base_, base_ + reserved_);
    std::memset(shadow_, 0, top_);
    top_ = guard;
  }
  const std::uint64_t address = base_ + top_;
  top_ += taken;
  used_ += bytes;
  std::memset(pointer(address), 0xff, rounded_up(bytes, alignment));
  live_[address] = bytes;
  return pointer(address);
}

bool DeviceMemory::release(void* data) {
  const auto found = live_.find(reinterpret_cast<std::uint64_t>(data));
  if (found == live_.end()) return false;
  const auto [address, bytes] = *found;
  used_ -= bytes;
  live_.erase(found);
  drop(address, address + bytes);
  const auto shadow = reinterpret_cast<std::uint64_t>(written(address));
  drop(shadow, shadow + bytes);
  return true;
}

void DeviceMemory::release_all() {
  while (!live_.empty()) release(pointer(live_.begin()->first));
}

std::string DeviceMemory::complaint(std::uint64_t address, std::size_t bytes) const {
  if (!is_device(address)) return "not in device memory";
  const auto after = live_.upper_bound(address);
  if (after != live_.begin()) {
    const auto [begin, size] = *std::prev(after);
    const std::uint64_t offset = address - begin;
    if (offset <= size && bytes <= size - offset) return "";
    if (offset < size + guard) {
      return "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
             " of an allocation of " + std::to_string(size) + " bytes";
    }
  }
  if (after != live_.end() && after->first - address <= guard) {
    return std::to_string(after->first - address) + " bytes before an allocation of " +
           std::to_string(after->second) + " bytes";
  }
  return "in no live allocation";
}

DeviceMemory::Range DeviceMemory::range_of(std::uint64_t address) const {
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) return {};
  const auto [begin, size] = *std::prev(after);
  return address - begin < size ? Range{begin, begin + size} : Range{};
}

void DeviceMemory::mark_written(std::uint64_t address, std::size_t bytes) {
  std::memset(written(address), 1, bytes);
}

}  // namespace lorikeet::ptx

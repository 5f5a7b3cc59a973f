// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lorikeet::ptx {

/// The memory of the emulated device: one reserved range of addresses, so a device pointer is a host pointer.
/// Every allocation starts at a multiple of 256 bytes, is filled with 0xff, and has unmapped-looking guards
/// of 512 bytes around it. One shadow byte per byte knows whether it has been written.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t limit_bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* allocate(std::size_t bytes);  ///< nullptr beyond the limit
  bool release(void* data);           ///< false when it is not the start of a live allocation
  void release_all();
  std::size_t used_bytes() const { return used_; }
  std::size_t limit_bytes() const { return limit_; }
  void set_limit_bytes(std::size_t limit) { limit_ = limit; }

  /// Empty when [address, address + bytes) lies in one live allocation, else a sentence saying what is there.
  std::string complaint(std::uint64_t address, std::size_t bytes) const;
  bool is_device(std::uint64_t address) const { return address - base_ < reserved_; }

  /// The live allocation that holds `address`, or an empty range: kernels keep it to check the next access
  /// quickly.
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  Range range_of(std::uint64_t address) const;

  /// Shadow of a device address: 0 = never written since allocation.
  std::uint8_t* written(std::uint64_t address) { return shadow_ + (address - base_); }
  void mark_written(std::uint64_t address, std::size_t bytes);

 private:
  std::uint64_t base_ = 0;
  std::size_t reserved_ = 0, limit_ = 0, used_ = 0, top_ = 0;
  std::uint8_t* shadow_ = nullptr;
  std::map<std::uint64_t, std::size_t> live_;
};

}  // namespace lorikeet::ptx

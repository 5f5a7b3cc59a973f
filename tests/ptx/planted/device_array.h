// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace lorikeet::planted {

/// An array on the device for one planted case; goes with the emulated process (ptx::restart()).
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) { (void)cudaMalloc(&data_, count * sizeof(T)); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    (void)cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  T* data() const { return static_cast<T*>(data_); }
  operator T*() const { return data(); }

  /// True when all work went well and the array holds these values.
  bool holds(const std::vector<T>& values) const {
    if (cudaDeviceSynchronize() != cudaSuccess) return false;
    std::vector<T> got(count_);
    if (cudaMemcpy(got.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
      return false;
    return got == values;
  }

 private:
  std::size_t count_ = 0;
  void* data_ = nullptr;
};

/// 1, 2, 3, ... modulo 61: whole numbers, so that sums are exact in any order.
inline std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i + 1) * 7 % 61);
  return values;
}

}  // namespace lorikeet::planted

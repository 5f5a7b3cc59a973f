// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace lorikeet::cuda {

/// Move-only owner of one of CUDA's handles: Handle<cudaStream_t, cudaStreamDestroy>. Destroy's status is
/// ignored, since a destructor can do nothing about it; an error of the device shows at the next checked
/// call.
template <typename T, auto Destroy>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    Handle moved(std::move(other));
    std::swap(value_, moved.value_);
    return *this;
  }
  ~Handle() {
    if (value_) (void)Destroy(value_);
  }

  T get() const { return value_; }
  /// Where a creating function may put a new value; gives back the old one first.
  T* put() {
    *this = Handle();
    return &value_;
  }
  explicit operator bool() const { return static_cast<bool>(value_); }

 private:
  T value_{};
};

}  // namespace lorikeet::cuda

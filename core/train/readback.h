// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "kernels/backend.h"

namespace lorikeet {

/// Numbers that come back from the device while it goes on.
class Readback {
 public:
  Readback(Backend& backend, std::size_t bytes) : backend_(backend), buffer_(backend.allocate_host(bytes)) {}

  /// Asks for a tensor as it is after the work given so far.
  void start(TensorView from) { backend_.download_later(*buffer_, from); }
  /// Work given from here on may change what was asked for.
  void release() { backend_.order_after(*buffer_); }
  /// Blocks until it is there, calling `between` some fifty times a second; what that throws is thrown on.
  void wait(const std::function<void()>& between);
  template <typename T>
  const T* values() const {
    return static_cast<const T*>(buffer_->data());
  }

 private:
  Backend& backend_;
  std::unique_ptr<HostBuffer> buffer_;
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/text/jinja/interpreter.h"

namespace lorikeet::jinja {

/// Puts a variable back when the block ends, also after a failure.
template <typename T>
class Restore {
 public:
  explicit Restore(T& variable) : variable_(variable), value_(variable) {}
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  ~Restore() { variable_ = std::move(value_); }
  const T& value() const { return value_; }

 private:
  T& variable_;
  T value_;
};

/// One level deeper while it lives.
class DepthGuard {
 public:
  DepthGuard(const Interpreter& interpreter, int& depth, int limit = Interpreter::max_depth) : depth_(depth) {
    if (++depth_ <= limit) return;
    --depth_;
    interpreter.fail("it calls itself or nests too deep");
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  ~DepthGuard() { --depth_; }

 private:
  int& depth_;
};

}  // namespace lorikeet::jinja

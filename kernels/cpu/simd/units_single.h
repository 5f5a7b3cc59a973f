// SPDX-License-Identifier: Apache-2.0
#pragma once

// Without products of bf16, bf16 operands of attention become f32.
namespace {

template <typename T>
struct UnitFor {
  using Type = SingleUnit;
};

}  // namespace

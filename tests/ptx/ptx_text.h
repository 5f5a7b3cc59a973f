// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/ptx/device_memory.h"
#include "tests/ptx/interpreter.h"

namespace lorikeet::ptx {

/// What a little kernel gives, or what the interpreter complained of.
struct Outcome {
  std::vector<std::uint32_t> words;
  std::string complaint;
  LaunchCounts counts;
};

/// A kernel around a body of instructions. Each thread finds its number in %t and four words of the input in
/// %a, %b, %c and %e, as 64-bit numbers {%a, %b} in %la and {%c, %e} in %lc; what it leaves in %d and %f goes
/// to the output. Of 32 bits are %r0 ... %r31, of 64 bits %l0 ... %l15 and %in, %out (the buffers), of 16
/// bits %h0 ... %h15; predicates are %p, %q, %p0 ... %p7.
struct Snippet {
  std::string body;
  std::string before;  ///< of the kernel: variables and functions
  int target = 80;
  Dim3 grid, block;
  std::size_t dynamic_shared = 0;
  std::vector<std::uint32_t> input;  ///< four words a thread, read again from the start when it ends
  bool stores = true;                ///< false: the body ends the kernel and stores for itself
  std::size_t output_words = 0;      ///< two a thread by default
  LaunchOptions options{.seed = 1, .check_races = true, .count_bytes = true};

  std::string text() const;
  Outcome run() const;
};

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/cpu_info.h"

namespace lorikeet {

/// One product C (m,n) = A (m,k) B (k,n), or C += A B. A and B are f32 or bf16, C and the sums are f32.
/// Leading dimensions count elements between stored rows.
struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  bool a_transposed = false;  ///< A is stored (k,m)
  bool b_transposed = false;  ///< B is stored (n,k), as weights are
  bool accumulate = false;
  DType input = DType::f32;

  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// Products by oneDNN on one thread each: the caller cuts a big product into tiles and gives them to its
/// team, so sums are added in the same order whatever the number of threads. What oneDNN generates for a
/// shape is kept; the least recently used goes first.
class Gemm {
 public:
  /// A shape ready to run; keeps working after it has been dropped from the cache.
  struct Product;
  using Handle = std::shared_ptr<Product>;

  /// `isa` limits the code that oneDNN generates, for the whole process: the first instance decides.
  Gemm(Backend& backend, Isa isa, int threads);
  ~Gemm();

  /// Outside of teams only. Throws Error(device) when oneDNN cannot make the product.
  Handle prepare(const GemmShape& shape);
  /// Runs on `thread` of the team; different threads may run the same product at once. A failure is kept for
  /// check().
  void run(Product& product, int thread, const void* a, const void* b, float* c) noexcept;
  /// Throws Error(device) when a run has failed since the last check.
  void check();

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::atomic<int> failure_{0};
};

}  // namespace lorikeet

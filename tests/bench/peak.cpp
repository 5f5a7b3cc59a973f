// SPDX-License-Identifier: Apache-2.0
// What the processor can do at most: the numbers that the benchmark's others are measured against.
#include "tests/bench/peak.h"

#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace lorikeet::bench {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__attribute__((target("avx512f,avx512bf16"))) void multiply_bf16(std::int64_t rounds) {
  __m512 sums[24];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  const __m512 a = _mm512_set1_ps(1e-3f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (auto& sum : sums) asm volatile("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
}

__attribute__((target("avx512f"))) void multiply_avx512(std::int64_t rounds) {
  __m512 sums[24];
  for (auto& sum : sums) sum = _mm512_setzero_ps();
  const __m512 a = _mm512_set1_ps(1e-3f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (auto& sum : sums) asm volatile("vfmadd231ps %1, %1, %0" : "+v"(sum) : "v"(a));
  }
}

__attribute__((target("avx2,fma"))) void multiply_avx2(std::int64_t rounds) {
  __m256 sums[12];
  for (auto& sum : sums) sum = _mm256_setzero_ps();
  const __m256 a = _mm256_set1_ps(1e-3f);
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (auto& sum : sums) asm volatile("vfmadd231ps %1, %1, %0" : "+x"(sum) : "x"(a));
  }
}

double rate(void (*work)(std::int64_t), double operations_a_round, double seconds) {
  constexpr std::int64_t rounds = 200000;
  double best = 0;
  for (const double end = now() + seconds; now() < end;) {
    const double start = now();
    work(rounds);
    best = std::max(best, operations_a_round * rounds / (now() - start) / 1e9);
  }
  return best;
}

}  // namespace

double peak_bf16(double seconds) {
  return __builtin_cpu_supports("avx512bf16") ? rate(multiply_bf16, 24 * 64, seconds) : 0;
}

double peak_f32(double seconds) {
  if (__builtin_cpu_supports("avx512f")) return rate(multiply_avx512, 24 * 32, seconds);
  return __builtin_cpu_supports("fma") ? rate(multiply_avx2, 12 * 16, seconds) : 0;
}

double read_bandwidth(int threads) {
  constexpr std::int64_t words = (std::int64_t{512} << 20) / 8;
  const std::unique_ptr<std::uint64_t[]> memory(new std::uint64_t[words]);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t i = 0; i < words; ++i) memory[i] = static_cast<std::uint64_t>(i);
  double best = 0;
  std::uint64_t check = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = now();
    std::uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (std::int64_t i = 0; i < words; i += 8) {
      sum += memory[i] + memory[i + 1] + memory[i + 2] + memory[i + 3] + memory[i + 4] + memory[i + 5] +
             memory[i + 6] + memory[i + 7];
    }
    best = std::max(best, words * 8.0 / (now() - start) / 1e9);
    check += sum;
  }
  return check == 0 ? 0 : best;
}

}  // namespace lorikeet::bench

// SPDX-License-Identifier: Apache-2.0
// dropped = mask o x / (1 - p), rest = x - dropped; backward dx [+]= mask o (ddropped - drest) / (1 - p) +
// drest, in f32, rounded once. Source: DoRA's dropout as PEFT has it (formats.md §3.6); generator:
// kernels/base/random.h.
#include "kernels/cpu/dropout.h"

#include "kernels/base/random.h"
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {
namespace {

/// body(column, stays) for the columns of a row.
template <typename Body>
void for_mask(const LoraDropout& dropout, std::int64_t row, std::int64_t columns, const Body& body) {
  const auto* keys = dropout.keys.as<std::uint32_t>();
  const std::uint64_t key = static_cast<std::uint64_t>(keys[2 * row + 1]) << 32 | keys[2 * row];
  const std::uint64_t use = static_cast<std::uint64_t>(RandomUse::dropout) << 32 | dropout.place;
  const std::uint32_t threshold = dropout_threshold(dropout.probability);
  for (std::int64_t first = 0; first < columns; first += 4) {
    const auto words = philox(key, static_cast<std::uint64_t>(first) / 4, use);
    const std::int64_t count = std::min<std::int64_t>(4, columns - first);
    for (std::int64_t i = 0; i < count; ++i) body(first + i, words[static_cast<std::size_t>(i)] >= threshold);
  }
}

template <typename T>
void split_row(const T* x, const LoraDropout& dropout, std::int64_t row, std::int64_t columns, T* dropped,
               T* rest) {
  const float scale = dropout_scale(dropout.probability);
  for_mask(dropout, row, columns, [&](std::int64_t i, bool stays) {
    const float value = load(x[i]), kept = stays ? value * scale : 0.0f;
    store(dropped[i], kept);
    if (rest) store(rest[i], value - kept);
  });
}

template <typename T>
void join_row(const T* ddropped, const T* drest, const LoraDropout& dropout, std::int64_t row,
              std::int64_t columns, T* dx, bool accumulate) {
  const float scale = dropout_scale(dropout.probability);
  for_mask(dropout, row, columns, [&](std::int64_t i, bool stays) {
    const float other = load(drest[i]);
    const float value = other + (stays ? (load(ddropped[i]) - other) * scale : 0.0f);
    store(dx[i], accumulate ? load(dx[i]) + value : value);
  });
}

void check_operands(const TensorView& x, const LoraDropout& dropout, const char* name) {
  check_compute(x, name, "x");
  check(x.shape.rank() == 2, name, "x is (M,K)");
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_dropout(dropout, x.rows(), name);
  check(dropout.probability > 0, name, "there is no dropout");
}

}  // namespace

void CpuBackend::split_dropout(TensorView x, const LoraDropout& dropout, TensorView dropped,
                               TensorView rest) {
  constexpr const char* name = "split_dropout";
  check_operands(x, dropout, name);
  check_tensor(dropped, x.dtype, x.shape, name, "dropped");
  if (rest) check_tensor(rest, x.dtype, x.shape, name, "rest");
  const std::int64_t columns = x.columns();
  const auto work = [&]<typename T>(const T* from) {
    for_chunks(threads_, x.rows(), row_chunk(columns), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        split_row(from + row * columns, dropout, row, columns, dropped.as<T>() + row * columns,
                  rest ? rest.as<T>() + row * columns : nullptr);
    });
  };
  x.dtype == DType::f32 ? work(x.as<const float>()) : work(x.as<const Bf16>());
}

void CpuBackend::split_dropout_backward(TensorView ddropped, TensorView drest, const LoraDropout& dropout,
                                        TensorView dx, Write write) {
  constexpr const char* name = "split_dropout_backward";
  check_operands(dx, dropout, name);
  check_tensor(ddropped, dx.dtype, dx.shape, name, "ddropped");
  check_tensor(drest, dx.dtype, dx.shape, name, "drest");
  const std::int64_t columns = dx.columns();
  const auto work = [&]<typename T>(T* to) {
    for_chunks(threads_, dx.rows(), row_chunk(columns), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row)
        join_row(ddropped.as<const T>() + row * columns, drest.as<const T>() + row * columns, dropout, row,
                 columns, to + row * columns, write == Write::accumulate);
    });
  };
  dx.dtype == DType::f32 ? work(dx.as<float>()) : work(dx.as<Bf16>());
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
// to = mask * x for every branch with dropout that reads x: each has a mask of its own (kernels/operands.h).
// What stays keeps its bits: 1 / (1 - p) enters the products in f32. Contract: low_rank.h; x (M,K) of a
// compute type, rows with gaps. Bytes: x once, every copy once, 8 bytes a row. Source: dropout (Srivastava et
// al. 2014) of a branch's input as in PEFT; generator: random.cuh.
// And for DoRA: dropped = mask * x / (1 - p), rest = x - dropped, backward dx [+]= mask * (ddropped - drest)
// / (1 - p)
// + drest, in f32, rounded once; all with gaps between rows. Bytes: every operand once, 8 bytes a row.
#include "kernels/base/random.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/low_rank.h"
#include "kernels/cuda/random.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T>
struct Copy {
  Rows<T> to;
  const uint2* keys;
  std::uint32_t place, threshold;
};
template <typename T>
struct Task {
  Rows<const T> x;
  Copy<T> copy[most_dropped_copies];
  int copies = 0;
};

template <typename T, int N>
__global__ void __launch_bounds__(256)
    drop_kernel(std::int64_t rows, std::int64_t width, const __grid_constant__ Task<T> task) {
  for_units<N>(rows, width, [&](auto at) {
    float x[at.count];
    at.load(task.x, x);
    for (int i = 0; i < task.copies; ++i) {
      const Copy<T>& copy = task.copy[i];
      float v[at.count];
      constexpr auto use = static_cast<std::uint32_t>(RandomUse::dropout);
      for_words<at.count>(copy.keys[at.row], use, copy.place, at.column,
                          [&](int j, std::uint32_t word) { v[j] = word < copy.threshold ? 0.0f : x[j]; });
      at.store(copy.to, v);
    }
  });
}

template <typename T>
void launch_copies(CudaBackend& backend, TensorView x, std::span<const DroppedCopy> copies) {
  Task<T> task;
  task.x = rows_of<const T>(x);
  bool vector = is_aligned({x});
  for (const DroppedCopy& from : copies) {
    vector = vector && is_aligned({from.to});
    task.copy[task.copies++] = {rows_of<T>(from.to), static_cast<const uint2*>(from.dropout.keys.data),
                                from.dropout.place, dropout_threshold(from.dropout.probability)};
  }
  const Extent e{x.rows(), x.columns(), vector};
  constexpr int lanes = lanes_of<T>;
  launch(backend.stream(), "drop_kernel", vector ? drop_kernel<T, lanes> : drop_kernel<T, 1>,
         e.grid(vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, task);
}

}  // namespace

void drop(CudaBackend& backend, TensorView x, std::span<const DroppedCopy> copies) {
  while (!copies.empty()) {
    const std::size_t count = std::min(copies.size(), most_dropped_copies);
    with_compute_type(x.dtype, [&](auto type) {
      launch_copies<typename decltype(type)::type>(backend, x, copies.first(count));
    });
    copies = copies.subspan(count);
  }
}

namespace {

template <typename T, int N>
__global__ void __launch_bounds__(256)
    split_dropout_kernel(std::int64_t rows, std::int64_t width, Rows<const T> x, const uint2* keys,
                         std::uint32_t place, std::uint32_t threshold, float scale, Rows<T> dropped,
                         Rows<T> rest, bool with_rest) {
  for_units<N>(rows, width, [&](auto at) {
    float v[at.count], kept[at.count];
    at.load(x, v);
    constexpr auto use = static_cast<std::uint32_t>(RandomUse::dropout);
    for_words<at.count>(keys[at.row], use, place, at.column, [&](int j, std::uint32_t word) {
      kept[j] = word < threshold ? 0.0f : __fmul_rn(v[j], scale);
      v[j] = __fsub_rn(v[j], kept[j]);
    });
    at.store(dropped, kept);
    if (with_rest) at.store(rest, v);
  });
}

template <typename T, int N>
__global__ void __launch_bounds__(256)
    split_dropout_backward_kernel(std::int64_t rows, std::int64_t width, Rows<const T> ddropped,
                                  Rows<const T> drest, const uint2* keys, std::uint32_t place,
                                  std::uint32_t threshold, float scale, Rows<T> dx, bool accumulate) {
  for_units<N>(rows, width, [&](auto at) {
    float v[at.count], other[at.count], before[at.count] = {};
    at.load(ddropped, v);
    at.load(drest, other);
    if (accumulate) at.load(dx, before);
    constexpr auto use = static_cast<std::uint32_t>(RandomUse::dropout);
    for_words<at.count>(keys[at.row], use, place, at.column, [&](int j, std::uint32_t word) {
      const float mine = word < threshold ? 0.0f : __fmul_rn(__fsub_rn(v[j], other[j]), scale);
      v[j] = __fadd_rn(before[j], __fadd_rn(other[j], mine));
    });
    at.store(dx, v);
  });
}

void check_operands(const CudaBackend& backend, TensorView x, const LoraDropout& dropout, const char* name) {
  check_compute(backend, x, name, "x is of no compute type");
  check(x.shape.rank() == 2, name, "x is (M,K)");
  check_rows(x, x.dtype, x.shape, name, "x");
  check_dropout(dropout, x.rows(), name);
  check(dropout.probability > 0, name, "there is no dropout");
}

const uint2* keys_of(const LoraDropout& dropout) {
  return static_cast<const uint2*>(dropout.keys.data);
}

}  // namespace

void CudaBackend::split_dropout(TensorView x, const LoraDropout& dropout, TensorView dropped,
                                TensorView rest) {
  constexpr const char* name = "split_dropout";
  check_operands(*this, x, dropout, name);
  check_rows(dropped, x.dtype, x.shape, name, "dropped");
  if (rest) check_rows(rest, x.dtype, x.shape, name, "rest");
  const TensorView second = rest ? rest : dropped;
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const Extent e{x.rows(), x.columns(), is_aligned({x, dropped, second})};
    launch(stream(), name, e.vector ? split_dropout_kernel<T, lanes> : split_dropout_kernel<T, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const T>(x),
           keys_of(dropout), dropout.place, dropout_threshold(dropout.probability),
           dropout_scale(dropout.probability), rows_of<T>(dropped), rows_of<T>(second),
           static_cast<bool>(rest));
  });
}

void CudaBackend::split_dropout_backward(TensorView ddropped, TensorView drest, const LoraDropout& dropout,
                                         TensorView dx, Write write) {
  constexpr const char* name = "split_dropout_backward";
  check_operands(*this, dx, dropout, name);
  check_rows(ddropped, dx.dtype, dx.shape, name, "ddropped");
  check_rows(drest, dx.dtype, dx.shape, name, "drest");
  with_compute_type(dx.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const Extent e{dx.rows(), dx.columns(), is_aligned({dx, ddropped, drest})};
    launch(stream(), name,
           e.vector ? split_dropout_backward_kernel<T, lanes> : split_dropout_backward_kernel<T, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const T>(ddropped),
           rows_of<const T>(drest), keys_of(dropout), dropout.place, dropout_threshold(dropout.probability),
           dropout_scale(dropout.probability), rows_of<T>(dx), write == Write::accumulate);
  });
}

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
// to = mask * x for every branch with dropout that reads x: each has a mask of its own (kernels/operands.h).
// What stays keeps its bits: 1 / (1 - p) enters the products in f32. Contract: low_rank.h; x (M,K) of a
// compute type, rows with gaps. Bytes: x once, every copy once, 8 bytes a row. Source: dropout (Srivastava et
// al. 2014) of a branch's input as in PEFT; generator: random.cuh.
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

}  // namespace lorikeet::cuda

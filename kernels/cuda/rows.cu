// SPDX-License-Identifier: Apache-2.0
// Moving and adding rows: gather to[i] = from[rows[i]], scatter to[rows[i]] = from[i] over zeros, to += from.
// Views may have gaps between rows. Elements of any type move as bits; a gathered row outside `from` is all
// ones, which is NaN in every float type, a scattered one goes nowhere. Sums are f32, rounded once. Bytes:
// gather one read and write of (R,H); scatter a read of (R,H), a write of (T,H), and the R indices per 16
// rows out of the cache; add two reads and a write.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/move.cuh"

namespace lorikeet::cuda {
namespace {

template <typename Bits, int N>
__global__ void __launch_bounds__(256)
    gather_kernel(std::int64_t rows, std::int64_t width, Rows<const Bits> from, std::int64_t from_rows,
                  const std::int32_t* index, Rows<Bits> to) {
  for_units<N>(rows, width, [&](auto at) {
    const std::int64_t row = index[at.row];
    Pack<Bits, at.count> pack;
    if (row >= 0 && row < from_rows) {
      pack = *reinterpret_cast<const Pack<Bits, at.count>*>(from.at(row, at.column));
    } else {
#pragma unroll
      for (int j = 0; j < at.count; ++j) pack.values[j] = static_cast<Bits>(~Bits{0});
    }
    *reinterpret_cast<Pack<Bits, at.count>*>(to.at(at.row, at.column)) = pack;
  });
}

constexpr int scatter_rows_per_block = 16;

/// Each block makes 16 rows of `to`: first it finds where they come from.
template <typename Bits, int N>
__global__ void __launch_bounds__(256)
    scatter_kernel(std::int64_t rows, std::int64_t width, Rows<const Bits> from, const std::int32_t* index,
                   std::int64_t index_count, Rows<Bits> to) {
  __shared__ std::int32_t source[scatter_rows_per_block];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * scatter_rows_per_block;
  if (threadIdx.x < scatter_rows_per_block) source[threadIdx.x] = -1;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < index_count; i += blockDim.x) {
    const std::int64_t place = index[i] - first;
    if (place >= 0 && place < scatter_rows_per_block) source[place] = static_cast<std::int32_t>(i);
  }
  __syncthreads();
  for (int k = 0; k < scatter_rows_per_block && first + k < rows; ++k) {
    for (std::int64_t i = threadIdx.x * N; i < width; i += blockDim.x * N) {
      Pack<Bits, N> pack{};
      if (source[k] >= 0) pack = *reinterpret_cast<const Pack<Bits, N>*>(from.at(source[k], i));
      *reinterpret_cast<Pack<Bits, N>*>(to.at(first + k, i)) = pack;
    }
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(256)
    add_kernel(std::int64_t rows, std::int64_t width, Rows<const T> from, Rows<T> to) {
  for_units<N>(rows, width, [&](auto at) {
    float a[at.count], b[at.count];
    at.load(to, a);
    at.load(from, b);
#pragma unroll
    for (int j = 0; j < at.count; ++j) a[j] += b[j];
    at.store(to, a);
  });
}

}  // namespace

void CudaBackend::gather_rows(TensorView from, TensorView rows, TensorView to) {
  constexpr const char* name = "gather_rows";
  check(from.shape.rank() == 2 && rows.shape.rank() == 1, name, "from is (T,H), rows [R]");
  check_rows(from, from.dtype, from.shape, name, "from");
  check_rows(to, from.dtype, {rows.shape[0], from.shape[1]}, name, "to");
  check_tensor(rows, DType::i32, {rows.shape[0]}, name, "rows");
  const Extent e{to.rows(), to.columns(), is_aligned({from, to})};
  with_bits(size_of(from.dtype), [&](auto type) {
    using Bits = typename decltype(type)::type;
    constexpr int lanes = lanes_of<Bits>;
    launch(stream(), name, e.vector ? gather_kernel<Bits, lanes> : gather_kernel<Bits, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const Bits>(from),
           from.rows(), rows.as<std::int32_t>(), rows_of<Bits>(to));
  });
}

void CudaBackend::scatter_rows(TensorView from, TensorView rows, TensorView to) {
  constexpr const char* name = "scatter_rows";
  check(from.shape.rank() == 2 && rows.shape.rank() == 1 && to.shape.rank() == 2, name,
        "from is (R,H), rows [R], to (T,H)");
  check_rows(to, to.dtype, to.shape, name, "to");
  check_rows(from, to.dtype, {rows.shape[0], to.shape[1]}, name, "from");
  check_tensor(rows, DType::i32, {rows.shape[0]}, name, "rows");
  with_bits(size_of(to.dtype), [&](auto type) {
    using Bits = typename decltype(type)::type;
    constexpr int lanes = lanes_of<Bits>;
    const std::int64_t width = to.columns();
    const bool vector = width % lanes == 0 && is_aligned({from, to});
    const std::int64_t blocks = (to.rows() + scatter_rows_per_block - 1) / scatter_rows_per_block;
    launch(stream(), name, vector ? scatter_kernel<Bits, lanes> : scatter_kernel<Bits, 1>,
           dim3(static_cast<unsigned>(blocks)), row_threads(vector ? width / lanes : width), 0, to.rows(),
           width, rows_of<const Bits>(from), rows.as<std::int32_t>(), rows.rows(), rows_of<Bits>(to));
  });
}

void CudaBackend::add(TensorView to, TensorView from) {
  check_compute(*this, to, "add", "to is of no compute type");
  check_rows(to, to.dtype, to.shape, "add", "to");
  check_rows(from, to.dtype, to.shape, "add", "from");
  const Extent e = extent_of({to, from});
  with_compute_type(to.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    launch(stream(), "add", e.vector ? add_kernel<T, lanes> : add_kernel<T, 1>, e.grid(e.vector ? lanes : 1),
           Extent::threads, 0, e.rows, e.width, rows_of<const T>(from), rows_of<T>(to));
  });
}

}  // namespace lorikeet::cuda

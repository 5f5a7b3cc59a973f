// SPDX-License-Identifier: Apache-2.0
// Embedding: out[t] = table[ids[t]], NaN where the id is outside [0,V); backward: table_grad[ids[t]] +=
// dy[t], in order of t, f32, ids outside left out. out and dy (T,H) may have gaps between rows. Backward
// without atomics: one block for each t and 256 columns; the block whose t is the first of its id adds all
// rows of that id, found 256 ids at a time, so every sum has one order. Bytes: forward one row read and one
// written per token; backward dy once, touched rows of table_grad read and written, and the ids once per
// block, out of the cache.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename To, typename From, int N>
__global__ void __launch_bounds__(256)
    embedding_forward_kernel(std::int64_t rows, std::int64_t width, const From* table,
                             std::int64_t table_rows, const std::int32_t* ids, Rows<To> out) {
  for_units<N>(rows, width, [&](auto at) {
    const std::int64_t id = ids[at.row];
    float v[at.count];
    if (id >= 0 && id < table_rows) {
      load<at.count>(table + id * width + at.column, v);
    } else {
#pragma unroll
      for (int j = 0; j < at.count; ++j) v[j] = nanf("");
    }
    at.store(out, v);
  });
}

constexpr int tile = 256;

/// Bit t % 32 of mask t / 32 says whether ids[first + t] is `id`; the same in every thread.
__device__ __forceinline__ void find_id(const std::int32_t* ids, std::int64_t first, std::int64_t count,
                                        std::int32_t id, unsigned* masks) {
  const std::int64_t t = first + threadIdx.x;
  const unsigned mask = __ballot_sync(full_warp, t < count && ids[t] == id);
  __syncthreads();  // the masks of the tile before have been read
  if (threadIdx.x % 32 == 0) masks[threadIdx.x / 32] = mask;
  __syncthreads();
}

template <typename T>
__global__ void __launch_bounds__(256)
    embedding_backward_kernel(Rows<const T> dy, const std::int32_t* ids, std::int64_t count,
                              std::int64_t width, float* table_grad, std::int64_t table_rows) {
  __shared__ unsigned masks[tile / 32];
  const std::int64_t own = blockIdx.x;
  const std::int32_t id = ids[own];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.y) * tile + threadIdx.x;
  float sum = 0;
  bool first_of_its_id = id >= 0 && id < table_rows;  // the same in the whole block
  for (std::int64_t first = 0; first < count && first_of_its_id; first += tile) {
    find_id(ids, first, count, id, masks);
    for (int word = 0; word < tile / 32; ++word) {
      unsigned left = masks[word];
      while (left != 0) {
        const std::int64_t t = first + word * 32 + __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
        first_of_its_id = first_of_its_id && t >= own;
        if (!first_of_its_id || column >= width) continue;
        if (t == own) sum = table_grad[id * width + column];
        sum += to_float(*dy.at(t, column));
      }
    }
  }
  if (first_of_its_id && column < width) table_grad[id * width + column] = sum;
}

template <typename To, typename From>
void start_forward(cudaStream_t stream, TensorView table, TensorView ids, TensorView out) {
  constexpr int lanes = std::min(lanes_of<To>, lanes_of<From>);
  const Extent e{out.rows(), out.columns(), is_aligned({table, out})};
  launch(stream, "embedding_forward",
         e.vector ? embedding_forward_kernel<To, From, lanes> : embedding_forward_kernel<To, From, 1>,
         e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, table.as<From>(), table.rows(),
         ids.as<std::int32_t>(), rows_of<To>(out));
}

}  // namespace

void CudaBackend::embedding_forward(TensorView table, TensorView ids, TensorView out) {
  constexpr const char* name = "embedding_forward";
  check(table.shape.rank() == 2 && ids.shape.rank() == 1, name, "table is (V,H), ids [T]");
  check(table.dtype == DType::f32 || table.dtype == DType::bf16 || table.dtype == DType::f16, name,
        "table is f32, bf16 or f16");
  check_tensor(table, table.dtype, table.shape, name, "table");
  check_compute(*this, out, name, "out is of no compute type");
  check_rows(out, out.dtype, {ids.shape[0], table.shape[1]}, name, "out");
  check_tensor(ids, DType::i32, {ids.shape[0]}, name, "ids");
  with_compute_type(out.dtype, [&](auto to) {
    with_compute_type(table.dtype, [&](auto from) {
      start_forward<typename decltype(to)::type, typename decltype(from)::type>(stream(), table, ids, out);
    });
  });
}

void CudaBackend::embedding_backward(TensorView dy, TensorView ids, TensorView table_grad) {
  constexpr const char* name = "embedding_backward";
  check(table_grad.shape.rank() == 2 && ids.shape.rank() == 1, name, "table_grad is (V,H), ids [T]");
  const std::int64_t width = table_grad.shape[1];
  check_compute(*this, dy, name, "dy is of no compute type");
  check_rows(dy, dy.dtype, {ids.shape[0], width}, name, "dy");
  check_tensor(table_grad, DType::f32, table_grad.shape, name, "table_grad");
  check_tensor(ids, DType::i32, {ids.shape[0]}, name, "ids");
  with_compute_type(dy.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const dim3 grid(static_cast<unsigned>(ids.rows()), static_cast<unsigned>((width + tile - 1) / tile));
    launch(stream(), name, embedding_backward_kernel<T>, grid, dim3(tile), 0, rows_of<const T>(dy),
           ids.as<std::int32_t>(), ids.rows(), width, table_grad.as<float>(), table_grad.rows());
  });
}

}  // namespace lorikeet::cuda

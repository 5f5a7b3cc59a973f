// SPDX-License-Identifier: Apache-2.0
// Magnitude and direction (DoRA, Liu et al. 2024): y = g o (W x + s B A x) + bias, g = m / n, n_j = ||W_j + s
// B_j A||.
//   row_norms: blocks of 8 rows of W; a thread takes every 256th column, adds s B A there in f32 and squares
//   it; sums
//     per thread, then over the warps in order. Bytes: W once, A once per 8 rows (from the cache).
//   scale_columns: y = z o g [+ bias] [+ residual], f32 between load and store. Bytes: z + y (+ residual).
//   scale_columns_backward: blocks of 32 columns; a warp takes every 16th row, sums in f32, the warps in
//   order.
//     Bytes: dy + z + dz.
// Contract: kernels/backend.h. No atomics: a run repeats bit for bit. Source: Liu et al. 2024; PEFT's
// scaling.
#include "kernels/cuda/dequantize.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/stored_weight.cuh"
#include "kernels/weight_checks.h"

namespace lorikeet::cuda {
namespace {

constexpr int norm_rows = 8, norm_threads = 256;
constexpr int sum_columns = 32, sum_warps = 16, sum_unroll = 4;

struct NormTask {
  StoredWeight weight;
  std::int64_t out = 0, in = 0;
  const float* a = nullptr;  ///< (rank,in)
  const float* b = nullptr;  ///< (out,rank)
  float scale = 1;
  int rank = 0;  ///< 0 without a branch
  float* norms = nullptr;
  const float* magnitude = nullptr;
  float* gain = nullptr;
};

__global__ void __launch_bounds__(norm_threads) row_norms_kernel(const __grid_constant__ NormTask task) {
  extern __shared__ __align__(16) float factor[];  // (rank, norm_rows): scale * B of these rows
  __shared__ CodeTables tables;
  __shared__ float shared[norm_threads / 32];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * norm_rows;
  if (is_four_bit_format(task.weight.format)) load_tables(tables, task.weight.format);
  for (int i = static_cast<int>(threadIdx.x); i < task.rank * norm_rows; i += norm_threads) {
    const std::int64_t row = first + i % norm_rows;
    factor[i] = row < task.out ? task.scale * task.b[row * task.rank + i / norm_rows] : 0;
  }
  __syncthreads();
  float squares[norm_rows] = {};
  for (std::int64_t column = threadIdx.x; column < task.in; column += norm_threads) {
    float v[norm_rows];
#pragma unroll
    for (int i = 0; i < norm_rows; ++i) {
      v[i] = first + i < task.out ? weight_value(task.weight, first + i, column, task.in, tables) : 0;
    }
    for (int p = 0; p < task.rank; ++p) {
      const float a = task.a[p * task.in + column];
#pragma unroll
      for (int i = 0; i < norm_rows; ++i) v[i] += factor[p * norm_rows + i] * a;
    }
#pragma unroll
    for (int i = 0; i < norm_rows; ++i) squares[i] += v[i] * v[i];
  }
#pragma unroll
  for (int i = 0; i < norm_rows; ++i) {
    const float norm = sqrtf(block_sum(squares[i], shared));
    const std::int64_t row = first + i;
    if (threadIdx.x != 0 || row >= task.out) continue;
    task.norms[row] = norm;
    if (task.gain) task.gain[row] = norm == 0 ? 0 : task.magnitude[row] / norm;
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(Extent::threads)
    scale_columns_kernel(Rows<const T> z, const float* gain, const float* bias, Rows<const T> residual,
                         std::int64_t rows, std::int64_t width, Rows<T> y) {
  for_units<N>(rows, width, [&](auto unit) {
    constexpr int count = decltype(unit)::count;
    float v[count], g[count], more[count];
    unit.load(z, v);
    load<count>(gain + unit.column, g);
#pragma unroll
    for (int i = 0; i < count; ++i) v[i] *= g[i];
    if (bias) {
      load<count>(bias + unit.column, more);
#pragma unroll
      for (int i = 0; i < count; ++i) v[i] += more[i];
    }
    if (residual.data) {
      unit.load(residual, more);
#pragma unroll
      for (int i = 0; i < count; ++i) v[i] += more[i];
    }
    unit.store(y, v);
  });
}

template <typename T>
__global__ void __launch_bounds__(sum_columns* sum_warps)
    scale_columns_backward_kernel(Rows<const T> dy, Rows<const T> z, const float* gain, const float* norms,
                                  std::int64_t rows, std::int64_t width, float* gradient, Rows<T> dz) {
  __shared__ float sums[sum_warps][sum_columns];
  const int lane = static_cast<int>(threadIdx.x) % sum_columns,
            warp = static_cast<int>(threadIdx.x) / sum_columns;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * sum_columns + lane;
  float sum = 0;
  if (column < width) {
    const float g = gain[column];
    for (std::int64_t row = warp; row < rows; row += sum_warps * sum_unroll) {
      float d[sum_unroll], v[sum_unroll];
#pragma unroll
      for (int i = 0; i < sum_unroll; ++i) {
        const std::int64_t at = row + i * sum_warps;
        d[i] = at < rows ? to_float(*dy.at(at, column)) : 0;
        v[i] = at < rows ? to_float(*z.at(at, column)) : 0;
      }
#pragma unroll
      for (int i = 0; i < sum_unroll; ++i) {
        const std::int64_t at = row + i * sum_warps;
        if (at < rows) {
          sum += d[i] * v[i];
          *dz.at(at, column) = from_float<T>(d[i] * g);
        }
      }
    }
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp == 0 && column < width && norms[column] != 0) {
    float total = 0;
    for (int i = 0; i < sum_warps; ++i) total += sums[i][lane];
    gradient[column] += total / norms[column];
  }
}

}  // namespace

void CudaBackend::row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms,
                            TensorView magnitude, TensorView gain) {
  constexpr const char* name = "row_norms";
  check_stored_weight(weight, name);
  check_row_norms(weight, lora, norms, magnitude, gain, name);
  NormTask task;
  task.weight = stored(weight);
  task.out = weight.out;
  task.in = weight.in;
  if (lora != nullptr) {
    check(lora->a.rows() <= 1024, name, "the rank is above 1024");  // 32 KiB of shared memory
    task.a = lora->a.as<float>();
    task.b = lora->b.as<float>();
    task.scale = lora->scale;
    task.rank = static_cast<int>(lora->a.rows());
  }
  task.norms = norms.as<float>();
  task.magnitude = magnitude.as<float>();
  task.gain = gain.as<float>();
  const auto blocks = static_cast<unsigned>((weight.out + norm_rows - 1) / norm_rows);
  launch(stream(), name, row_norms_kernel, blocks, norm_threads,
         static_cast<std::size_t>(task.rank) * norm_rows * sizeof(float), task);
}

void CudaBackend::dequantize_rows(const Weight& weight, std::int64_t first, TensorView rows) {
  constexpr const char* name = "dequantize_rows";
  check_stored_weight(weight, name);
  check_rows(rows, DType::f32, {rows.rows(), weight.in}, name, "rows");
  check(first >= 0 && first + rows.rows() <= weight.out, name, "the weight has no such rows");
  const DequantizeTask task{&weight, first, rows};
  dequantize(*this, {&task, 1});
}

void CudaBackend::scale_columns(TensorView z, TensorView gain, TensorView bias, TensorView residual,
                                TensorView y) {
  constexpr const char* name = "scale_columns";
  check_compute(*this, z, name, "z is of no compute type");
  check(z.shape.rank() == 2, name, "z is not a matrix");
  check_rows(z, z.dtype, z.shape, name, "z");
  check_tensor(gain, DType::f32, {z.columns()}, name, "gain");
  if (bias) check_tensor(bias, DType::f32, {z.columns()}, name, "bias");
  if (residual) check_rows(residual, z.dtype, z.shape, name, "residual");
  check_rows(y, z.dtype, z.shape, name, "y");
  with_compute_type(z.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const Extent extent{z.rows(), z.columns(), is_aligned({z, gain, bias, residual, y})};
    launch(stream(), name, extent.vector ? scale_columns_kernel<T, lanes> : scale_columns_kernel<T, 1>,
           extent.grid(extent.vector ? lanes : 1), Extent::threads, 0, rows_of<const T>(z), gain.as<float>(),
           bias.as<float>(), rows_of<const T>(residual), extent.rows, extent.width, rows_of<T>(y));
  });
}

void CudaBackend::scale_columns_backward(TensorView dy, TensorView z, TensorView gain, TensorView norms,
                                         TensorView gradient, TensorView dz) {
  constexpr const char* name = "scale_columns_backward";
  check_compute(*this, dy, name, "dy is of no compute type");
  check(dy.shape.rank() == 2, name, "dy is not a matrix");
  check_rows(dy, dy.dtype, dy.shape, name, "dy");
  check_rows(z, dy.dtype, dy.shape, name, "z");
  check_rows(dz, dy.dtype, dy.shape, name, "dz");
  for (const TensorView& vector : {gain, norms, gradient})
    check_tensor(vector, DType::f32, {dy.columns()}, name, "gain, norms or gradient");
  with_compute_type(dy.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto blocks = static_cast<unsigned>((dy.columns() + sum_columns - 1) / sum_columns);
    launch(stream(), name, scale_columns_backward_kernel<T>, blocks, sum_columns * sum_warps, 0,
           rows_of<const T>(dy), rows_of<const T>(z), gain.as<float>(), norms.as<float>(), dy.rows(),
           dy.columns(), gradient.as<float>(), rows_of<T>(dz));
  });
}

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
// to (rows,K) = weight rows, rounded to the compute type; and the low-rank factors that lie beside or below
// them.
//   4-bit: code * absmax, absmax = map[code] * nested absmax + offset decoded inline; int8: value * absmax /
//   127.
// Contract: dequantize.h. One launch for all weights and factors of a group.
// Accumulator: none; every f32 product and sum is rounded by itself, as on the host, then once to the compute
// type. Bytes, P parameters of NF4 with double quantisation: 0.516 P read, 2 P written, and each factor once.
// Source: formats.md 2.1-2.3 (bitsandbytes).
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/dequantize.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/stored_weight.cuh"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 256;
constexpr int groups_per_thread = 4;  // of 8 elements, where whole groups may be moved at once
constexpr int elements_per_thread = 8;
constexpr int most_tasks = 16;

enum class Kind : int { groups, elements, factor };

/// One rectangle of the launch. Either a weight's rows, or a factor.
struct Task {
  StoredWeight weight;
  void* to = nullptr;
  std::int64_t stride = 0, first_row = 0;
  const float* from = nullptr;
  std::int64_t row_step = 0, column_step = 0;
  float scale = 1;
  int first = 0, count = 0;
  unsigned rows = 0, columns = 0;
  unsigned first_block = 0;
  Kind kind = Kind::elements;
  bool remainder = false;
};
struct Tasks {
  Task task[most_tasks];
  int count = 0;
};
static_assert(sizeof(Tasks) <= 4000, "kernel parameters are at most 4 KiB");

template <typename T>
__device__ std::uint32_t pair_of(float low, float high);
template <>
__device__ std::uint32_t pair_of<bf16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
template <>
__device__ std::uint32_t pair_of<f16>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// 8 neighbours at a multiple of 16 bytes.
template <typename T>
__device__ void store_group(T* to, const float (&v)[8]) {
  if constexpr (sizeof(T) == 4) {
    reinterpret_cast<float4*>(to)[0] = make_float4(v[0], v[1], v[2], v[3]);
    reinterpret_cast<float4*>(to)[1] = make_float4(v[4], v[5], v[6], v[7]);
  } else {
    *reinterpret_cast<uint4*>(to) = make_uint4(pair_of<T>(v[0], v[1]), pair_of<T>(v[2], v[3]),
                                               pair_of<T>(v[4], v[5]), pair_of<T>(v[6], v[7]));
  }
}

/// Elements [at, at + 8) of a weight, at a multiple of 8, all of one row.
__device__ void load_group(const StoredWeight& weight, std::int64_t at, std::int64_t row,
                           const CodeTables& tables, float (&v)[8]) {
  switch (weight.format) {
    case WeightFormat::f32: {
      const float4* from = reinterpret_cast<const float4*>(static_cast<const float*>(weight.values) + at);
      const float4 low = from[0], high = from[1];
      v[0] = low.x, v[1] = low.y, v[2] = low.z, v[3] = low.w;
      v[4] = high.x, v[5] = high.y, v[6] = high.z, v[7] = high.w;
      return;
    }
    case WeightFormat::bf16:
    case WeightFormat::f16: {
      const uint4 from =
          *reinterpret_cast<const uint4*>(static_cast<const std::uint16_t*>(weight.values) + at);
      const std::uint32_t pairs[4] = {from.x, from.y, from.z, from.w};
      const bool brain = weight.format == WeightFormat::bf16;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const auto bits = static_cast<unsigned short>(pairs[i / 2] >> (i % 2 * 16));
        v[i] = brain ? to_float(__ushort_as_bfloat16(bits)) : to_float(__ushort_as_half(bits));
      }
      return;
    }
    case WeightFormat::int8: {
      const uint2 from = *reinterpret_cast<const uint2*>(static_cast<const std::int8_t*>(weight.values) + at);
      const float scale = static_cast<const float*>(weight.absmax)[row];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const auto byte = static_cast<std::int8_t>((i < 4 ? from.x : from.y) >> (i % 4 * 8));
        v[i] = int8_value(byte, scale);
      }
      return;
    }
    default: {
      const std::uint32_t codes =
          *reinterpret_cast<const std::uint32_t*>(static_cast<const std::uint8_t*>(weight.values) + at / 2);
      const float absmax = block_absmax(weight, at / nf4_block, tables);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        v[2 * i] = high_value(codes >> (8 * i), absmax, tables);
        v[2 * i + 1] = low_value(codes >> (8 * i), absmax, tables);
      }
    }
  }
}

template <typename T>
__device__ void fill_groups(const Task& task, unsigned block, const CodeTables& tables) {
  const unsigned in_row = task.columns / 8, groups = task.rows * in_row;
#pragma unroll
  for (int i = 0; i < groups_per_thread; ++i) {
    const unsigned group = (block * groups_per_thread + static_cast<unsigned>(i)) * threads + threadIdx.x;
    if (group >= groups) return;
    const unsigned row = group / in_row, column = group % in_row * 8;
    const std::int64_t weight_row = task.first_row + row;
    float v[8];
    load_group(task.weight, weight_row * task.columns + column, weight_row, tables, v);
    store_group(static_cast<T*>(task.to) + row * task.stride + column, v);
  }
}

template <typename T>
__device__ float factor_value(const Task& task, unsigned row, unsigned column) {
  const int j = static_cast<int>(column) - task.first;
  if (j < 0 || j >= task.count) return 0;
  const float v = task.from[row * task.row_step + j * task.column_step];
  return task.remainder ? v - rounded<T>(v) : task.scale * v;
}

template <typename T>
__device__ void fill_elements(const Task& task, unsigned block, const CodeTables& tables) {
  const std::int64_t elements = static_cast<std::int64_t>(task.rows) * task.columns;
  for (int i = 0; i < elements_per_thread; ++i) {
    const std::int64_t at =
        (static_cast<std::int64_t>(block) * elements_per_thread + i) * threads + threadIdx.x;
    if (at >= elements) return;
    const auto row = static_cast<unsigned>(at / task.columns),
               column = static_cast<unsigned>(at % task.columns);
    const float v = task.kind == Kind::factor
                        ? factor_value<T>(task, row, column)
                        : weight_value(task.weight, task.first_row + row, column, task.columns, tables);
    static_cast<T*>(task.to)[row * task.stride + column] = from_float<T>(v);
  }
}

template <typename T>
__global__ void __launch_bounds__(threads) dequantize_kernel(const __grid_constant__ Tasks tasks) {
  __shared__ CodeTables tables;
  int chosen = 0;
  while (chosen + 1 < tasks.count && blockIdx.x >= tasks.task[chosen + 1].first_block) ++chosen;
  const Task& task = tasks.task[chosen];
  const unsigned block = blockIdx.x - task.first_block;
  if (task.kind != Kind::factor && is_four_bit_format(task.weight.format))
    load_tables(tables, task.weight.format);
  __syncthreads();
  if (task.kind == Kind::groups) {
    fill_groups<T>(task, block, tables);
  } else {
    fill_elements<T>(task, block, tables);
  }
}

bool takes_groups(const Weight& weight, const TensorView& to) {
  const std::int64_t step = to.dtype == DType::f32 ? 4 : 8;
  return weight.in % 8 == 0 && to.stride() % step == 0 &&
         reinterpret_cast<std::uintptr_t>(to.data) % 16 == 0 &&
         reinterpret_cast<std::uintptr_t>(weight.values.view().data) % 16 == 0;
}

Task task_of(const DequantizeTask& from) {
  const Weight& weight = *from.weight;
  Task task;
  task.weight = stored(weight);
  task.first_row = from.first_row;
  task.kind = takes_groups(weight, from.to) ? Kind::groups : Kind::elements;
  return task;
}

Task task_of(const FactorTask& from) {
  Task task;
  task.kind = Kind::factor;
  task.from = from.from;
  task.row_step = from.row_step;
  task.column_step = from.column_step;
  task.scale = from.scale;
  task.first = static_cast<int>(from.first);
  task.count = static_cast<int>(from.count);
  task.remainder = from.remainder;
  return task;
}

/// Collects tasks and launches them when there are enough.
class Launcher {
 public:
  explicit Launcher(CudaBackend& backend) : backend_(backend) {}

  void add(Task task, const TensorView& to) {
    if (to.elements() == 0) return;
    check(dtype_ == to.dtype || tasks_.count == 0, "dequantize", "results of different types");
    check(to.elements() < (std::int64_t{1} << 32), "dequantize", "a result is too large");
    dtype_ = to.dtype;
    task.to = to.data;
    task.stride = to.stride();
    task.rows = static_cast<unsigned>(to.rows());
    task.columns = static_cast<unsigned>(to.columns());
    task.first_block = blocks_;
    const std::int64_t in_block =
        threads * (task.kind == Kind::groups ? 8 * groups_per_thread : elements_per_thread);
    blocks_ += static_cast<unsigned>((to.elements() + in_block - 1) / in_block);
    tasks_.task[tasks_.count++] = task;
    if (tasks_.count == most_tasks) finish();
  }
  void finish() {
    const auto kernel = dtype_ == DType::bf16  ? dequantize_kernel<bf16>
                        : dtype_ == DType::f16 ? dequantize_kernel<f16>
                                               : dequantize_kernel<float>;
    launch(backend_.stream(), "dequantize_kernel", kernel, dim3(blocks_), dim3(threads), 0, tasks_);
    tasks_.count = 0;
    blocks_ = 0;
  }

 private:
  CudaBackend& backend_;
  Tasks tasks_;
  unsigned blocks_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace

void dequantize(CudaBackend& backend, std::span<const DequantizeTask> weights,
                std::span<const FactorTask> factors) {
  Launcher launcher(backend);
  for (const DequantizeTask& task : weights) {
    check(task.to.columns() == task.weight->in && task.first_row + task.to.rows() <= task.weight->out,
          "dequantize", "the result is not some rows of the weight");
    launcher.add(task_of(task), task.to);
  }
  for (const FactorTask& task : factors) launcher.add(task_of(task), task.to);
  launcher.finish();
}

void dequantize(CudaBackend& backend, std::span<const DequantizeTask> tasks) {
  dequantize(backend, tasks, {});
}

}  // namespace lorikeet::cuda

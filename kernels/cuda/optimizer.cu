// SPDX-License-Identifier: Apache-2.0
// Optimiser steps on f32 parameters (Loshchilov and Hutter 2019; formats.md §2.7), formulas as
// kernels/cpu/optimizer.cpp. The update of a whole adapter (guarded_adamw) is three launches and no word to
// or from the host: partial sums of squares, the decision by one block, the update of all parts through a
// table of parts that stays on the device. Sums of squares are f64, over chunks of 16384 in fixed order.
// Products and sums are fused where the CPU's are (GCC on a processor with FMA), so both devices give the
// same bits but for pow and the order of the f64 sum. Bytes per parameter: 8-bit 4 p + 4 g + 1 m + 1 v read,
// 4 + 1 + 1 written; 32-bit 16 read, 12 written; the norm reads 4.
#include <cmath>
#include <vector>

#include "kernels/cuda/adam.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/dynamic_map.h"

namespace lorikeet::cuda {
namespace {

constexpr std::int64_t sum_chunk = 1 << 14;
constexpr unsigned threads = 256;

/// Sum over a block of 256 threads in fixed order, in thread 0.
__device__ __forceinline__ double block_sum_double(double v, double* shared) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(full_warp, v, offset);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = v;
  __syncthreads();
  double total = 0;
  for (unsigned i = 0; i < threads / 32; ++i) total += shared[i];
  return total;
}

template <int N>
__global__ void __launch_bounds__(256) squares_kernel(const float* x, std::int64_t count, double* partial) {
  __shared__ double shared[threads / 32];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * sum_chunk;
  const std::int64_t last = first + sum_chunk < count ? first + sum_chunk : count;
  double sum = 0;
  for (std::int64_t i = first + threadIdx.x * N; i < last; i += threads * N) {
    if (i + N <= last) {
      float v[N];
      load<N>(x + i, v);
#pragma unroll
      for (int j = 0; j < N; ++j) sum += static_cast<double>(v[j]) * static_cast<double>(v[j]);
    } else {
      for (std::int64_t j = i; j < last; ++j) sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
    }
  }
  const double total = block_sum_double(sum, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// Sum of all partial sums, in thread 0.
__device__ __forceinline__ double total_of(const double* partial, std::int64_t chunks, double* shared) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < chunks; i += threads) sum += partial[i];
  return block_sum_double(sum, shared);
}

__global__ void __launch_bounds__(256)
    add_squares_kernel(const double* partial, std::int64_t chunks, double* sum) {
  __shared__ double shared[threads / 32];
  const double total = total_of(partial, chunks, shared);
  if (threadIdx.x == 0) *sum += total;
}

/// The decision of guarded_adamw, as Backend::guarded_adamw makes it on the host.
__global__ void __launch_bounds__(256)
    decide_kernel(const double* partial, std::int64_t chunks, const double* loss_sum, double max_norm,
                  AdamRule rule, double* outcome, AdamNumbers* numbers) {
  __shared__ double shared[threads / 32];
  const double squares = total_of(partial, chunks, shared);
  if (threadIdx.x != 0) return;
  const double norm = __dmul_rn(sqrt(squares), static_cast<double>(rule.gradient_scale));
  const bool skip = !isfinite(*loss_sum) || !isfinite(norm);
  const double skipped = outcome[outcome_skipped_steps] + (skip ? 1 : 0);
  const double clip = max_norm > 0 ? fmin(1.0, max_norm / (norm + 1e-6)) : 1.0;
  outcome[outcome_gradient_norm] = norm;
  outcome[outcome_skipped] = skip ? 1 : 0;
  outcome[outcome_skipped_steps] = skipped;
  outcome[outcome_clip_factor] = clip;
  if (skip) {
    // All of it: the update reads the numbers before it knows.
    AdamNumbers nothing{};
    nothing.skip = true;
    *numbers = nothing;
    return;
  }
  rule.gradient_scale = static_cast<float>(static_cast<double>(rule.gradient_scale) * clip);
  const double t = static_cast<double>(rule.step - static_cast<std::int64_t>(skipped));
  *numbers = numbers_of(rule, 1.0 - pow(static_cast<double>(rule.beta1), t),
                        sqrt(1.0 - pow(static_cast<double>(rule.beta2), t)));
}

/// Sums of squares of a task that changes nothing.
__device__ __forceinline__ void look_at_task(const DevicePart& part, std::int64_t task, const float* p,
                                             const float* g, AdamSquares& squares) {
  const std::int64_t first = task * task_elements;
  const std::int64_t last = first + task_elements < part.count ? first + task_elements : part.count;
  for (std::int64_t i = first + threadIdx.x; i < last; i += threads) squares.take(g[i], p[i], p[i]);
}

/// All tasks of all parts; part i's first task is parts[i].first_task. When `measured`, the sums of squares
/// of each task go to `sums` (tasks, norms_count).
template <bool measured>
__global__ void __launch_bounds__(threads, 2)
    update_parts_kernel(const DevicePart* parts, int count, std::int64_t tasks, float* parameters,
                        const float* gradients, const DynamicMaps* maps, const AdamNumbers* numbers_from,
                        double* sums) {
  __shared__ DynamicMaps shared_maps;
  __shared__ double shared[norms_count][threads / 32];
  load_maps(maps, shared_maps);
  const AdamNumbers numbers = *numbers_from;
  const std::int64_t end = numbers.skip && !measured ? 0 : tasks;
  for (std::int64_t task = blockIdx.x; task < end; task += gridDim.x) {
    int low = 0;
    for (int high = count; high - low > 1;) {
      const int middle = (low + high) / 2;
      (parts[middle].first_task <= task ? low : high) = middle;
    }
    const DevicePart part = parts[low];
    float* p = parameters + part.offset;
    const float* g = gradients + part.offset;
    if constexpr (measured) {
      AdamSquares squares;
      if (numbers.skip)
        look_at_task(part, task - part.first_task, p, g, squares);
      else
        update_task(part, task - part.first_task, p, g, shared_maps, numbers, &squares);
      const double gradient = block_sum_double(squares.gradient, shared[norms_gradient]);
      const double update = block_sum_double(squares.update, shared[norms_update]);
      const double parameter = block_sum_double(squares.parameter, shared[norms_parameter]);
      if (threadIdx.x == 0) {
        sums[task * norms_count + norms_gradient] = gradient;
        sums[task * norms_count + norms_update] = update;
        sums[task * norms_count + norms_parameter] = parameter;
      }
      __syncthreads();  // the sums have been read before the next task writes there
    } else {
      update_task(part, task - part.first_task, p, g, shared_maps, numbers);
    }
  }
}

/// One block a part: its tasks' sums together, gradients in true size.
__global__ void __launch_bounds__(threads)
    add_tasks_kernel(const DevicePart* parts, const double* sums, double gradient_scale, double* norms) {
  __shared__ double shared[norms_count][threads / 32];
  const DevicePart part = parts[blockIdx.x];
  const std::int64_t tasks = (part.count + task_elements - 1) / task_elements;
  double total[norms_count] = {};
  for (std::int64_t i = threadIdx.x; i < tasks; i += threads) {
#pragma unroll
    for (int j = 0; j < norms_count; ++j) total[j] += sums[(part.first_task + i) * norms_count + j];
  }
#pragma unroll
  for (int j = 0; j < norms_count; ++j) total[j] = block_sum_double(total[j], shared[j]);
  if (threadIdx.x != 0) return;
  double* to = norms + static_cast<std::int64_t>(part.row) * norms_count;
  to[norms_gradient] = total[norms_gradient] * (gradient_scale * gradient_scale);
  to[norms_update] = total[norms_update];
  to[norms_parameter] = total[norms_parameter];
}

/// One part alone.
__global__ void __launch_bounds__(threads, 2)
    update_part_kernel(DevicePart part, std::int64_t tasks, float* parameter, const float* gradient,
                       const DynamicMaps* maps, AdamNumbers numbers) {
  __shared__ DynamicMaps shared_maps;
  if (part.is_8bit) load_maps(maps, shared_maps);
  for (std::int64_t task = blockIdx.x; task < tasks; task += gridDim.x)
    update_task(part, task, parameter, gradient, shared_maps, numbers);
}

std::int64_t tasks_of(std::int64_t count) {
  return (count + task_elements - 1) / task_elements;
}

AdamRule rule_of(const AdamStep& s) {
  AdamRule rule{};
  rule.learning_rate = s.learning_rate;
  rule.beta1 = s.beta1;
  rule.beta1_rest = 1 - s.beta1;
  rule.beta2 = s.beta2;
  rule.beta2_rest = 1 - s.beta2;
  rule.epsilon = s.epsilon;
  rule.keep = 1 - s.learning_rate * s.weight_decay;
  rule.gradient_scale = s.gradient_scale;
  rule.step = s.step;
  return rule;
}

AdamNumbers host_numbers(const AdamStep& s) {
  const double t = static_cast<double>(s.step);
  return numbers_of(rule_of(s), 1.0 - std::pow(static_cast<double>(s.beta1), t),
                    std::sqrt(1.0 - std::pow(static_cast<double>(s.beta2), t)));
}

DevicePart part_32bit(std::int64_t offset, std::int64_t count, TensorView m, TensorView v, bool decay_last) {
  DevicePart part{};
  part.offset = offset;
  part.count = count;
  part.decay_last = decay_last;
  part.m = m.as<float>();
  part.v = v.as<float>();
  return part;
}

DevicePart part_8bit(std::int64_t offset, std::int64_t count, const Adam8bitState& state) {
  DevicePart part{};
  part.offset = offset;
  part.count = count;
  part.is_8bit = true;
  part.m = state.m_absmax.as<float>();
  part.v = state.v_absmax.as<float>();
  part.m_codes = state.m_codes.as<std::uint8_t>();
  part.v_codes = state.v_codes.as<std::uint8_t>();
  return part;
}

/// Accesses of 16 bytes are possible (of 8 for codes, which begin at multiples of 8 elements).
void choose_width(DevicePart& part, const TensorView& parameters, const TensorView& gradients) {
  const auto aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
  part.vector = part.offset % 4 == 0 && aligned(parameters.data) && aligned(gradients.data);
  part.vector = part.vector && (part.is_8bit ? aligned(part.m_codes) && aligned(part.v_codes)
                                             : aligned(part.m) && aligned(part.v));
}

void check_8bit(const Adam8bitState& state, std::int64_t count, const char* name) {
  const std::int64_t blocks = (count + adam_block - 1) / adam_block;
  check_tensor(state.m_codes, DType::u8, state.m_codes.shape, name, "m_codes");
  check_tensor(state.v_codes, DType::u8, state.v_codes.shape, name, "v_codes");
  check(state.m_codes.elements() == count && state.v_codes.elements() == count, name,
        "the codes have another size than the parameter");
  check_tensor(state.m_absmax, DType::f32, {blocks}, name, "m_absmax");
  check_tensor(state.v_absmax, DType::f32, {blocks}, name, "v_absmax");
}

void check_32bit(const TensorView& m, const TensorView& v, std::int64_t count, const char* name) {
  check_tensor(m, DType::f32, m.shape, name, "m");
  check_tensor(v, DType::f32, v.shape, name, "v");
  check(m.elements() == count && v.elements() == count, name, "m and v have another size than the parameter");
}

/// Partial sums of squares of x in scratch memory.
double* start_squares(CudaBackend& backend, TensorView x, std::int64_t& chunks, const char* name) {
  chunks = (x.elements() + sum_chunk - 1) / sum_chunk;
  auto* partial = static_cast<double*>(backend.scratch().get(std::max<std::int64_t>(chunks, 1) * 8));
  launch(backend.stream(), name, is_aligned({x}) ? squares_kernel<4> : squares_kernel<1>,
         dim3(static_cast<unsigned>(chunks)), threads, 0, x.as<float>(), x.elements(), partial);
  return partial;
}

}  // namespace

/// What the optimiser keeps on the device: the dynamic maps, the table of parts as it was last given, and the
/// numbers that the decision leaves for the update.
struct CudaBackend::OptimizerState {
  explicit OptimizerState(CudaBackend& backend) : maps(backend.allocate({sizeof(DynamicMaps)}, DType::u8)) {
    DynamicMaps host{};
    host.m.fill(signed_dynamic_map().data());
    host.v.fill(unsigned_dynamic_map().data());
    backend.upload(maps, &host);
    numbers = backend.allocate({sizeof(AdamNumbers)}, DType::u8);
  }

  /// The table on the device; brought there again only when it differs from the last one.
  const DevicePart* table(CudaBackend& backend, const std::vector<DevicePart>& wanted) {
    if (wanted != host_parts) {
      const auto bytes = static_cast<std::int64_t>(wanted.size() * sizeof(DevicePart));
      if (parts.view().bytes() != static_cast<std::size_t>(bytes)) {
        parts = Tensor();
        parts = backend.allocate({bytes}, DType::u8);
      }
      backend.upload(parts, wanted.data());
      host_parts = wanted;
    }
    return parts.view().as<DevicePart>();
  }

  Tensor maps, numbers, parts;
  std::vector<DevicePart> host_parts;
};

CudaBackend::OptimizerState& CudaBackend::optimizer() {
  if (!optimizer_) optimizer_ = std::make_shared<OptimizerState>(*this);
  return *optimizer_;
}

void CudaBackend::sum_of_squares(TensorView x, TensorView sum) {
  constexpr const char* name = "sum_of_squares";
  check_tensor(x, DType::f32, x.shape, name, "x");
  check_tensor(sum, DType::f64, {1}, name, "sum");
  std::int64_t chunks = 0;
  const double* partial = start_squares(*this, x, chunks, name);
  launch(stream(), name, add_squares_kernel, dim3(1), threads, 0, partial, chunks, sum.as<double>());
}

void CudaBackend::adamw(TensorView parameter, TensorView gradient, TensorView m, TensorView v,
                        const AdamStep& step) {
  constexpr const char* name = "adamw";
  check_tensor(parameter, DType::f32, parameter.shape, name, "parameter");
  check_tensor(gradient, DType::f32, parameter.shape, name, "gradient");
  const std::int64_t count = parameter.elements();
  check_32bit(m, v, count, name);
  check(step.step >= 1, name, "step counts from 1");
  DevicePart part = part_32bit(0, count, m, v, step.decay_last);
  choose_width(part, parameter, gradient);
  launch(stream(), name, update_part_kernel, dim3(static_cast<unsigned>(tasks_of(count))), threads, 0, part,
         tasks_of(count), parameter.as<float>(), gradient.as<float>(), nullptr, host_numbers(step));
}

void CudaBackend::adamw_8bit(TensorView parameter, TensorView gradient, const Adam8bitState& state,
                             const AdamStep& step) {
  constexpr const char* name = "adamw_8bit";
  check_tensor(parameter, DType::f32, parameter.shape, name, "parameter");
  check_tensor(gradient, DType::f32, parameter.shape, name, "gradient");
  const std::int64_t count = parameter.elements();
  check_8bit(state, count, name);
  check(step.step >= 1, name, "step counts from 1");
  DevicePart part = part_8bit(0, count, state);
  choose_width(part, parameter, gradient);
  const std::int64_t blocks = std::min<std::int64_t>(tasks_of(count), multiprocessors_ * 4);
  launch(stream(), name, update_part_kernel, dim3(static_cast<unsigned>(blocks)), threads, 0, part,
         tasks_of(count), parameter.as<float>(), gradient.as<float>(),
         optimizer().maps.view().as<DynamicMaps>(), host_numbers(step));
}

void CudaBackend::guarded_adamw(TensorView parameters, TensorView gradients, std::span<const AdamPart> parts,
                                const AdamStep& step, float max_norm, TensorView loss_sum, TensorView outcome,
                                TensorView norms) {
  constexpr const char* name = "guarded_adamw";
  const auto rows = static_cast<std::int64_t>(parts.size());
  if (norms) check_tensor(norms, DType::f64, {rows, norms_count}, name, "norms");
  check(parameters.shape.rank() == 1, name, "parameters is [n]");
  check_tensor(parameters, DType::f32, parameters.shape, name, "parameters");
  check_tensor(gradients, DType::f32, parameters.shape, name, "gradients");
  check_tensor(loss_sum, DType::f64, {1}, name, "loss_sum");
  check_tensor(outcome, DType::f64, {outcome_count}, name, "outcome");
  check(step.step >= 1, name, "step counts from 1");
  std::vector<DevicePart> table;
  table.reserve(parts.size());
  std::int64_t tasks = 0;
  for (const AdamPart& part : parts) {
    check(part.offset >= 0 && part.count >= 0 && part.offset + part.count <= parameters.elements(), name,
          "a part lies outside the parameters");
    check(part.count > 0 || !norms, name, "a part without numbers has no norms");
    if (part.count == 0) continue;
    if (part.is_8bit) {
      check_8bit(part.eight, part.count, name);
      table.push_back(part_8bit(part.offset, part.count, part.eight));
    } else {
      check_32bit(part.m, part.v, part.count, name);
      table.push_back(part_32bit(part.offset, part.count, part.m, part.v, part.decay_last));
    }
    choose_width(table.back(), parameters, gradients);
    table.back().first_task = tasks;
    table.back().row = static_cast<int>(&part - parts.data());
    tasks += tasks_of(part.count);
  }
  OptimizerState& state = optimizer();
  const DevicePart* on_device = state.table(*this, table);
  std::int64_t chunks = 0;
  const double* partial = start_squares(*this, gradients, chunks, "guarded_adamw: norm");
  auto* numbers = state.numbers.view().as<AdamNumbers>();
  launch(stream(), "guarded_adamw: decide", decide_kernel, dim3(1), threads, 0, partial, chunks,
         loss_sum.as<double>(), static_cast<double>(max_norm), rule_of(step), outcome.as<double>(), numbers);
  const std::int64_t blocks = std::min<std::int64_t>(tasks, multiprocessors_ * 4);
  // The partial sums of the decision are no longer needed by then, so their memory is taken again.
  double* sums = norms ? static_cast<double*>(scratch().get(tasks * norms_count * 8)) : nullptr;
  launch(stream(), "guarded_adamw: update", norms ? update_parts_kernel<true> : update_parts_kernel<false>,
         dim3(static_cast<unsigned>(blocks)), threads, 0, on_device, static_cast<int>(table.size()), tasks,
         parameters.as<float>(), gradients.as<float>(), state.maps.view().as<DynamicMaps>(), numbers, sums);
  if (!norms) return;
  launch(stream(), "guarded_adamw: norms", add_tasks_kernel, dim3(static_cast<unsigned>(rows)), threads, 0,
         on_device, sums, static_cast<double>(step.gradient_scale), norms.as<double>());
}

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
// The next token of a chat, bit for bit as kernels/sampling.cpp draws it: penalty on the recent ids,
// temperature, top-k, top-p, min-p; id i32 [1], -1 when the largest logit is not finite. Logits f32 [V] are
// changed by the penalty.
//
// One block finds the largest logit (greedy ends here), takes the k most likely by radix selection, and sorts
// them by a stable radix sort of 32-bit keys, so equal logits stay in the order of their ids. Weights are
// made by many blocks, in f64 from operations that no compiler may fuse, and summed in the order of
// sampling_group: each block a group, the last block their sums, in which it draws. Only integer counts are
// made with atomics. Bytes: logits 4V, twice and once for each of the 4 digits of the selection; 32 n for n
// sorted candidates.
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/select.cuh"
#include "kernels/sampling.h"

namespace lorikeet::cuda {
namespace {

using select::Candidates;
using select::is_nan;
using select::threads;
using select::warps;
constexpr std::uint32_t no_index = 0xffffffffu;

/// What the three kernels share in device memory.
struct Work {
  Candidates first, second;  ///< sorted ones end in `first`
  double* weights;
  double* sums;          ///< of the weights of each group, then of all up to the end of the group
  std::int32_t* usable;  ///< 0 when the largest logit is not finite
  std::int64_t count;    ///< candidates
};

/// Each distinct id once; an id outside the vocabulary is passed over.
__device__ void apply_penalty(float* logits, std::int64_t vocabulary, const std::int32_t* recent,
                              std::int64_t count, float penalty) {
  for (std::int64_t i = threadIdx.x; i < count; i += threads) {
    const std::int32_t id = recent[i];
    bool earlier = false;
    for (std::int64_t j = 0; j < i && !earlier; ++j) earlier = recent[j] == id;
    if (earlier || id < 0 || id >= vocabulary) continue;
    const float logit = logits[id];
    logits[id] = logit > 0 ? logit / penalty : logit * penalty;
  }
}

struct Largest {
  float logit;
  std::uint32_t index;
};

__device__ __forceinline__ Largest larger(Largest a, Largest b) {
  return b.logit > a.logit || (b.logit == a.logit && b.index < a.index) ? b : a;
}

/// The first of the largest logits, NaN passed over; in every thread.
__device__ Largest find_largest(const float* logits, std::int64_t vocabulary) {
  __shared__ Largest of_warps[warps];
  Largest best{-INFINITY, no_index};
  for (std::int64_t i = threadIdx.x; i < vocabulary; i += threads) {
    best = larger(best, {logits[i], static_cast<std::uint32_t>(i)});
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    const Largest other{__shfl_xor_sync(full_warp, best.logit, offset),
                        __shfl_xor_sync(full_warp, best.index, offset)};
    best = larger(best, other);
  }
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = best;
  __syncthreads();
  best = of_warps[0];
  for (int i = 1; i < warps; ++i) best = larger(best, of_warps[i]);
  return best;
}

struct Rule {
  float penalty;
  bool greedy;
  double temperature, top_p, min_p, uniform;
};

__global__ void __launch_bounds__(threads)
    choose_kernel(float* logits, std::int64_t vocabulary, const std::int32_t* recent,
                  std::int64_t recent_count, Rule rule, Work work, std::int32_t* id) {
  if (rule.penalty != 1.0f) apply_penalty(logits, vocabulary, recent, recent_count, rule.penalty);
  __syncthreads();
  const Largest best = find_largest(logits, vocabulary);
  const bool usable = vocabulary > 0 && !is_nan(logits[0]) && isfinite(best.logit);
  if (threadIdx.x == 0) {
    id[0] = usable ? static_cast<std::int32_t>(best.index) : -1;
    if (!rule.greedy) work.usable[0] = usable ? 1 : 0;
  }
  if (rule.greedy || !usable) return;  // the whole block
  select::sort_largest(logits, vocabulary, work.count, work.first, work.second);
}

/// sampling_weight of kernels/sampling.cpp.
__device__ __forceinline__ double weight_of(double x, const WeightNumbers& numbers) {
  if (!(x > numbers.lowest)) return 0;
  const double n = rint(__dmul_rn(x, numbers.log2_e));
  const double r = __dsub_rn(__dsub_rn(x, __dmul_rn(n, numbers.ln2_high)), __dmul_rn(n, numbers.ln2_low));
  double value = numbers.factors[13];
#pragma unroll
  for (int i = 12; i >= 0; --i) value = __dadd_rn(__dmul_rn(value, r), numbers.factors[i]);
  const auto power = static_cast<long long>(n);
  const auto two_to = [](long long k) { return __longlong_as_double((k + 1023) << 52); };
  return power > -1000 ? __dmul_rn(value, two_to(power))
                       : __dmul_rn(__dmul_rn(value, two_to(power + 600)), two_to(-600));
}

constexpr int group = static_cast<int>(sampling_group);  // candidates, and threads of a block

/// values[0] + ... + values[size - 1], one after the other.
__device__ __forceinline__ double add_up(const double* values, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum = __dadd_rn(sum, values[i]);
  return sum;
}

__global__ void __launch_bounds__(group)
    weights_kernel(const float* logits, Work work, double temperature, WeightNumbers numbers) {
  __shared__ double values[group];
  if (work.usable[0] == 0) return;  // the whole block
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * group, i = first + threadIdx.x;
  if (i < work.count) {
    const double above = static_cast<double>(logits[work.first.ids[0]]);
    const double below = static_cast<double>(logits[work.first.ids[i]]);
    values[threadIdx.x] = weight_of(__ddiv_rn(__dsub_rn(below, above), temperature), numbers);
    work.weights[i] = values[threadIdx.x];
  }
  __syncthreads();
  if (threadIdx.x == 0)
    work.sums[blockIdx.x] = add_up(values, static_cast<int>(min(std::int64_t{group}, work.count - first)));
}

/// What draw_kernel works with: the candidates of one group at a time.
class Draw {
 public:
  __device__ explicit Draw(const Work& work) : work_(work) {}

  /// Makes of the groups' sums those of all before and in them.
  __device__ void add_groups() const {
    const std::int64_t groups = (work_.count + group - 1) / group;
    double sum = 0;
    for (std::int64_t first = 0; first < groups; first += group) {
      const int size = static_cast<int>(min(std::int64_t{group}, groups - first));
      double* const values = stage(work_.sums + first, size);
      if (threadIdx.x == 0) {
        for (int i = 0; i < size; ++i) values[i] = sum = __dadd_rn(sum, values[i]);
      }
      __syncthreads();
      if (static_cast<int>(threadIdx.x) < size) work_.sums[first + threadIdx.x] = values[threadIdx.x];
    }
    __syncthreads();
  }

  /// The sum of the first n > 0 weights.
  __device__ double sum_of(std::int64_t n) const {
    __shared__ double sum;
    const std::int64_t in = (n - 1) / group;
    const int size = static_cast<int>(n - in * group);
    const double* const values = stage(work_.weights + in * group, size);
    if (threadIdx.x == 0) sum = __dadd_rn(before(in), add_up(values, size));
    __syncthreads();
    return sum;
  }

  /// The least n > 0 whose sum_of(n) is `limit`, or beyond it when Beyond, or more; there is one.
  template <bool Beyond>
  __device__ std::int64_t reach(double limit) const {
    __shared__ int length;
    std::int64_t low = 0, high = (work_.count - 1) / group;  // the sums never fall
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (reaches<Beyond>(work_.sums[middle], limit)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    const int size = static_cast<int>(min(std::int64_t{group}, work_.count - low * group));
    const double* const values = stage(work_.weights + low * group, size);
    if (threadIdx.x == 0) {
      double sum = values[0];
      int n = 1;
      while (n < size && !reaches<Beyond>(__dadd_rn(before(low), sum), limit))
        sum = __dadd_rn(sum, values[n++]);
      length = n;
    }
    __syncthreads();
    return low * group + length;
  }

 private:
  template <bool Beyond>
  __device__ static bool reaches(double sum, double limit) {
    return Beyond ? sum > limit : sum >= limit;
  }
  __device__ double before(std::int64_t in) const { return in == 0 ? 0.0 : work_.sums[in - 1]; }
  /// `size` numbers in shared memory; those of the last call are gone.
  __device__ static double* stage(const double* from, int size) {
    __shared__ double values[group];
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < size) values[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    return values;
  }
  const Work& work_;
};

/// Number of leading candidates that top-p and min-p leave; at least one.
__device__ std::int64_t surviving(const Draw& draw, const Work& work, const Rule& rule) {
  __shared__ int unlikely;  // the first candidate that min-p refuses
  if (threadIdx.x == 0) unlikely = static_cast<int>(work.count);
  std::int64_t count = work.count;
  if (rule.top_p < 1.0) count = draw.reach<false>(__dmul_rn(rule.top_p, draw.sum_of(work.count)));
  __syncthreads();
  if (rule.min_p > 0.0) {
    const double limit = __dmul_rn(rule.min_p, work.weights[0]);
    for (std::int64_t i = threadIdx.x; i < count; i += group) {
      if (work.weights[i] >= limit) continue;
      atomicMin(&unlikely, static_cast<int>(i));
      break;
    }
  }
  __syncthreads();
  return max(std::int64_t{1}, min(count, static_cast<std::int64_t>(unlikely)));
}

__global__ void __launch_bounds__(group) draw_kernel(Work work, Rule rule, std::int32_t* id) {
  if (work.usable[0] == 0) return;  // the whole block
  const Draw draw(work);
  draw.add_groups();
  const double total = draw.sum_of(surviving(draw, work, rule)), target = __dmul_rn(total, rule.uniform);
  const std::int64_t drawn = target < total ? draw.reach<true>(target) : draw.reach<false>(total);
  if (threadIdx.x == 0) id[0] = work.first.ids[drawn - 1];
}

}  // namespace

void CudaBackend::sample(TensorView logits, TensorView recent, const SamplingRule& rule, double uniform,
                         TensorView id) {
  constexpr const char* name = "sample";
  check_tensor(logits, DType::f32, {logits.elements()}, name, "logits");
  check_tensor(recent, DType::i32, {recent.shape[0]}, name, "recent");
  check_tensor(id, DType::i32, {1}, name, "id");
  const std::int64_t vocabulary = logits.elements();
  const std::int64_t count = rule.top_k > 0 ? std::min(rule.top_k, vocabulary) : vocabulary;
  const Rule on_device{rule.repeat_penalty == 1.0 ? 1.0f : static_cast<float>(rule.repeat_penalty),
                       rule.greedy || rule.temperature <= 0,
                       rule.temperature,
                       rule.top_p,
                       rule.min_p,
                       uniform};
  Work work{};
  work.count = count;
  if (!on_device.greedy) {
    const std::int64_t groups = (count + sampling_group - 1) / sampling_group;
    char* memory = static_cast<char*>(scratch_.get(256 + count * 24 + groups * 8));
    work.usable = reinterpret_cast<std::int32_t*>(memory);
    work.weights = reinterpret_cast<double*>(memory + 256);
    work.sums = work.weights + count;
    work.first = {reinterpret_cast<std::uint32_t*>(work.sums + groups), nullptr};
    work.first.ids = reinterpret_cast<std::int32_t*>(work.first.keys + count);
    work.second = {reinterpret_cast<std::uint32_t*>(work.first.ids + count), nullptr};
    work.second.ids = reinterpret_cast<std::int32_t*>(work.second.keys + count);
  }
  std::int32_t* result = id.as<std::int32_t>();
  launch(stream(), name, choose_kernel, 1, threads, 0, logits.as<float>(), vocabulary,
         recent.as<std::int32_t>(), recent.elements(), on_device, work, result);
  if (on_device.greedy) return;
  launch(stream(), name, weights_kernel, static_cast<unsigned>((count + group - 1) / group), group, 0,
         logits.as<float>(), work, rule.temperature, WeightNumbers{});
  if (count > 0) launch(stream(), name, draw_kernel, 1, group, 0, work, on_device, result);
}

}  // namespace lorikeet::cuda

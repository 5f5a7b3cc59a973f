// SPDX-License-Identifier: Apache-2.0
// The next token of a chat, bit for bit as kernels/sampling.cpp draws it: penalty on the recent ids,
// temperature, top-k, top-p, min-p; id i32 [1], -1 when the largest logit is not finite. Logits f32 [V] are
// changed by the penalty.
//
// One block finds the largest logit (greedy ends here), takes the k most likely by radix selection, and sorts
// them by a stable radix sort of 32-bit keys, so equal logits stay in the order of their ids. Weights are
// made by many blocks, in f64 from operations that no compiler may fuse. The last block sums them one after
// the other, since the order of a sum decides its last bit, and draws. Only integer counts are made with
// atomics. Bytes: logits 4V, twice and once for each of the 4 digits of the selection; 48 n for n sorted
// candidates.
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/sampling.h"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 1024;
constexpr int warps = threads / 32;
constexpr int digits = 256;
constexpr std::uint32_t no_index = 0xffffffffu;

struct Candidates {
  std::uint32_t* keys;  ///< smaller = more likely
  std::int32_t* ids;
};

/// What the three kernels share in device memory.
struct Work {
  Candidates first, second;  ///< sorted ones end in `first`
  double* weights;
  double* sums;          ///< of the weights up to and with each
  std::int32_t* usable;  ///< 0 when the largest logit is not finite
  std::int64_t count;    ///< candidates
};

__device__ __forceinline__ bool is_nan(float v) {
  return v != v;
}

/// Ascending keys are descending logits; both zeros are one key, what is no number ranks with minus infinity.
__device__ __forceinline__ std::uint32_t key_of(float logit) {
  if (is_nan(logit)) logit = -INFINITY;
  const std::uint32_t bits = logit == 0.0f ? 0 : __float_as_uint(logit);
  return ~(bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u));
}

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

/// Lanes with the same digit; those without an element have a mask of their own kind.
__device__ __forceinline__ unsigned same_digit(bool valid, unsigned digit) {
  return __match_any_sync(full_warp, valid ? digit : digits + 1u);
}

struct Threshold {
  std::uint32_t key;    ///< of the least likely candidate
  std::int64_t equals;  ///< how many with this key belong to the candidates: those with the lowest ids
};

/// The key of rank `count`, digit by digit from the top.
__device__ Threshold find_threshold(const float* logits, std::int64_t vocabulary, std::int64_t count) {
  __shared__ std::uint32_t histogram[digits];
  __shared__ std::uint32_t chosen[2];
  std::uint32_t prefix = 0;
  std::uint32_t left = static_cast<std::uint32_t>(count);
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (threadIdx.x < digits) histogram[threadIdx.x] = 0;
    __syncthreads();
    for (std::int64_t first = threadIdx.x / 32 * 32; first < vocabulary; first += threads) {
      const std::int64_t i = first + threadIdx.x % 32;
      const std::uint32_t key = i < vocabulary ? key_of(logits[i]) : 0;
      const bool valid = i < vocabulary && (shift == 24 || key >> (shift + 8) == prefix);
      const unsigned digit = key >> shift & 255u;
      const unsigned peers = same_digit(valid, digit);
      if (valid && __ffs(peers) - 1 == static_cast<int>(threadIdx.x % 32))
        atomicAdd(&histogram[digit], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t digit = 0;
      while (histogram[digit] < left) left -= histogram[digit++];
      chosen[0] = digit;
      chosen[1] = left;
    }
    __syncthreads();
    prefix = prefix << 8 | chosen[0];
    left = chosen[1];
    __syncthreads();
  }
  return {prefix, left};
}

/// A stretch of elements for each warp, a multiple of 32 long.
__device__ __forceinline__ std::int64_t stretch_of(std::int64_t count) {
  return (count + threads - 1) / threads * 32;
}

/// The candidates in the order of their ids.
__device__ void collect(const float* logits, std::int64_t vocabulary, Threshold threshold, Candidates to) {
  __shared__ std::uint32_t below[warps], equal[warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t stretch = stretch_of(vocabulary);
  const std::int64_t begin = warp * stretch, end = min(vocabulary, begin + stretch);
  std::uint32_t lower = 0, same = 0;
  for (std::int64_t first = begin; first < end; first += 32) {
    const std::int64_t i = first + lane;
    const std::uint32_t key = i < end ? key_of(logits[i]) : 0;
    lower += __popc(__ballot_sync(full_warp, i < end && key < threshold.key));
    same += __popc(__ballot_sync(full_warp, i < end && key == threshold.key));
  }
  if (lane == 0) {
    below[warp] = lower;
    equal[warp] = same;
  }
  __syncthreads();
  std::int64_t lower_before = 0, same_before = 0;
  for (unsigned i = 0; i < warp; ++i) {
    lower_before += below[i];
    same_before += equal[i];
  }
  const unsigned earlier = (1u << lane) - 1;
  for (std::int64_t first = begin; first < end; first += 32) {
    const std::int64_t i = first + lane;
    const std::uint32_t key = i < end ? key_of(logits[i]) : 0;
    const unsigned lower_lanes = __ballot_sync(full_warp, i < end && key < threshold.key);
    const unsigned same_lanes = __ballot_sync(full_warp, i < end && key == threshold.key);
    const std::int64_t same_rank = same_before + __popc(same_lanes & earlier);
    if (i < end && (key < threshold.key || (key == threshold.key && same_rank < threshold.equals))) {
      const std::int64_t place =
          lower_before + __popc(lower_lanes & earlier) + min(same_rank, threshold.equals);
      to.keys[place] = key;
      to.ids[place] = static_cast<std::int32_t>(i);
    }
    lower_before += __popc(lower_lanes);
    same_before += __popc(same_lanes);
  }
  __syncthreads();
}

/// counts[w][d] becomes the place of the first element with digit d of warp w.
__device__ void digit_places(std::uint32_t (&counts)[warps][digits]) {
  __shared__ std::uint32_t totals[digits];
  if (threadIdx.x < digits) {
    std::uint32_t sum = 0;
    for (int w = 0; w < warps; ++w) {
      const std::uint32_t count = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = sum;
      sum += count;
    }
    totals[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 8; ++i) sum += totals[threadIdx.x * 8 + i];
    std::uint32_t until = sum;
    for (int offset = 1; offset < 32; offset <<= 1) {
      const std::uint32_t other = __shfl_up_sync(full_warp, until, offset);
      if (static_cast<int>(threadIdx.x) >= offset) until += other;
    }
    std::uint32_t place = until - sum;
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t count = totals[threadIdx.x * 8 + i];
      totals[threadIdx.x * 8 + i] = place;
      place += count;
    }
  }
  __syncthreads();
  if (threadIdx.x < digits) {
    for (int w = 0; w < warps; ++w) counts[w][threadIdx.x] += totals[threadIdx.x];
  }
  __syncthreads();
}

/// One stable pass by the digit at `shift`.
__device__ void sort_pass(Candidates from, Candidates to, std::int64_t count, int shift) {
  __shared__ std::uint32_t counts[warps][digits];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < warps * digits; i += threads) counts[i / digits][i % digits] = 0;
  __syncthreads();
  const std::int64_t stretch = stretch_of(count);
  const std::int64_t begin = warp * stretch, end = min(count, begin + stretch);
  for (std::int64_t first = begin; first < end; first += 32) {
    const bool valid = first + lane < end;
    const unsigned digit = valid ? from.keys[first + lane] >> shift & 255u : 0;
    const unsigned peers = same_digit(valid, digit);
    if (valid && __ffs(peers) - 1 == static_cast<int>(lane)) counts[warp][digit] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  digit_places(counts);
  for (std::int64_t first = begin; first < end; first += 32) {
    const bool valid = first + lane < end;
    const std::uint32_t key = valid ? from.keys[first + lane] : 0;
    const unsigned digit = key >> shift & 255u;
    const unsigned peers = same_digit(valid, digit);
    if (valid) {
      const std::uint32_t place = counts[warp][digit] + __popc(peers & ((1u << lane) - 1));
      to.keys[place] = key;
      to.ids[place] = from.ids[first + lane];
    }
    __syncwarp();
    if (valid && __ffs(peers) - 1 == static_cast<int>(lane)) counts[warp][digit] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
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
  const Threshold threshold = work.count < vocabulary ? find_threshold(logits, vocabulary, work.count)
                                                      : Threshold{0xffffffffu, vocabulary};
  collect(logits, vocabulary, threshold, work.first);
  for (int shift = 0; shift < 32; shift += 16) {
    sort_pass(work.first, work.second, work.count, shift);
    sort_pass(work.second, work.first, work.count, shift + 8);
  }
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

__global__ void __launch_bounds__(256)
    weights_kernel(const float* logits, Work work, double temperature, WeightNumbers numbers) {
  if (work.usable[0] == 0) return;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= work.count) return;
  const double above = static_cast<double>(logits[work.first.ids[0]]);
  const double below = static_cast<double>(logits[work.first.ids[i]]);
  work.weights[i] = weight_of(__ddiv_rn(__dsub_rn(below, above), temperature), numbers);
}

constexpr int draw_threads = 256;
constexpr int tile = 1024;

/// sums[i] = ((0 + w[0]) + w[1]) + ... + w[i].
__device__ void add_up(const Work& work) {
  __shared__ double values[tile];
  double sum = 0;
  for (std::int64_t first = 0; first < work.count; first += tile) {
    const int size = static_cast<int>(min(static_cast<std::int64_t>(tile), work.count - first));
    for (int i = threadIdx.x; i < size; i += draw_threads) values[i] = work.weights[first + i];
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 0; i < size; ++i) values[i] = sum = __dadd_rn(sum, values[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += draw_threads) work.sums[first + i] = values[i];
    __syncthreads();
  }
}

/// Number of leading candidates that top-p and min-p leave; at least one.
__device__ std::int64_t surviving(const Work& work, const Rule& rule) {
  __shared__ int unlikely;  // the first candidate that min-p refuses
  if (threadIdx.x == 0) unlikely = static_cast<int>(work.count);
  __syncthreads();
  std::int64_t count = work.count;
  if (rule.top_p < 1.0) {
    const double limit = __dmul_rn(rule.top_p, work.sums[work.count - 1]);
    std::int64_t low = 0,
                 high = work.count;  // the sums never fall: the first count whose sum reaches the limit
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      const double sum = middle == 0 ? 0.0 : work.sums[middle - 1];
      if (sum < limit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    count = low;
  }
  if (rule.min_p > 0.0) {
    const double limit = __dmul_rn(rule.min_p, work.weights[0]);
    for (std::int64_t i = threadIdx.x; i < count; i += draw_threads) {
      if (work.weights[i] >= limit) continue;
      atomicMin(&unlikely, static_cast<int>(i));
      break;
    }
  }
  __syncthreads();
  return max(std::int64_t{1}, min(count, static_cast<std::int64_t>(unlikely)));
}

__global__ void __launch_bounds__(draw_threads) draw_kernel(Work work, Rule rule, std::int32_t* id) {
  __shared__ double values[tile];
  __shared__ int drawn;
  if (work.usable[0] == 0) return;  // the whole block
  add_up(work);
  const std::int64_t count = surviving(work, rule);
  if (threadIdx.x == 0) drawn = -1;
  double left = __dmul_rn(work.sums[count - 1], rule.uniform);
  for (std::int64_t first = 0; first < count; first += tile) {
    const int size = static_cast<int>(min(static_cast<std::int64_t>(tile), count - first));
    for (int i = threadIdx.x; i < size; i += draw_threads) values[i] = work.weights[first + i];
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 0; i < size && drawn < 0; ++i) {
        left = __dsub_rn(left, values[i]);
        if (left < 0) drawn = static_cast<int>(first) + i;
      }
    }
    __syncthreads();
    if (drawn >= 0) break;
  }
  if (threadIdx.x == 0) id[0] = work.first.ids[drawn >= 0 ? drawn : count - 1];
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
    char* memory = static_cast<char*>(scratch_.get(256 + count * 32));
    work.usable = reinterpret_cast<std::int32_t*>(memory);
    work.weights = reinterpret_cast<double*>(memory + 256);
    work.sums = work.weights + count;
    work.first = {reinterpret_cast<std::uint32_t*>(work.sums + count), nullptr};
    work.first.ids = reinterpret_cast<std::int32_t*>(work.first.keys + count);
    work.second = {reinterpret_cast<std::uint32_t*>(work.first.ids + count), nullptr};
    work.second.ids = reinterpret_cast<std::int32_t*>(work.second.keys + count);
  }
  std::int32_t* result = id.as<std::int32_t>();
  launch(stream(), name, choose_kernel, 1, threads, 0, logits.as<float>(), vocabulary,
         recent.as<std::int32_t>(), recent.elements(), on_device, work, result);
  if (on_device.greedy) return;
  launch(stream(), name, weights_kernel, static_cast<unsigned>((count + 255) / 256), 256, 0,
         logits.as<float>(), work, rule.temperature, WeightNumbers{});
  if (count > 0) launch(stream(), name, draw_kernel, 1, draw_threads, 0, work, on_device, result);
}

}  // namespace lorikeet::cuda

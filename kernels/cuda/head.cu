// SPDX-License-Identifier: Apache-2.0
// The language model's head and its loss. With z = h head^T + bias (f32; with soft_cap cap tanh(z / cap)), of
// each row
//   loss = lse - z[target], lse = log sum exp z; dh = grad_scale (softmax(z) - one_hot(target)) cap'(z) head.
// sums f64 [2] += {loss, rows whose first largest logit is the target}. A target outside [0,V) gives NaN in
// its row's loss and gradient.
//
// Rows go in chunks whose f32 logits fit into 64 MiB: one product for the logits, one launch that makes loss
// and gradient of a row (maximum and sum of exponentials in one pass, f32), one product for dh. The gradient,
// in the compute type, is written over the logits it comes from. Row results are added up in f64 at the end,
// in a fixed order. A head that is not stored in the compute type is dequantised in slices of vocabulary
// rows; dh of several slices is then summed in f32. Bytes per chunk of R rows: head 2 V H twice (16 bit),
// logits 4 R V written and read twice, gradient 2 R V written and read, h and dh 2 R H.
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/dequantize.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/linear_group.h"
#include "kernels/cuda/small_product.h"
#include "kernels/weight_checks.h"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 512;
constexpr std::int64_t chunk_bytes = std::int64_t{64} << 20;  // of logits, and of a dequantised slice
constexpr std::int64_t chunk_row_multiple = 16;

struct Logits {
  float* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t columns = 0;
  const float* bias = nullptr;
  float soft_cap = 0;
};

struct RowResult {
  double loss, correct;
};

/// N logits of a row as the loss sees them.
template <int N>
__device__ __forceinline__ void read_logits(const Logits& logits, const float* row, std::int64_t column,
                                            float (&z)[N]) {
  load<N>(row + column, z);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (logits.bias != nullptr) z[i] += logits.bias[column + i];
    if (logits.soft_cap > 0) z[i] = logits.soft_cap * tanhf(z[i] / logits.soft_cap);
  }
}

/// Maximum so far, its first place, and the sum of exp(z - maximum).
struct Running {
  float largest = -INFINITY;
  float sum = 0;
  std::int64_t place = 0;

  template <int N>
  __device__ __forceinline__ void add(const float (&z)[N], std::int64_t column) {
    float top = z[0];
#pragma unroll
    for (int i = 1; i < N; ++i) top = fmaxf(top, z[i]);
    if (top > largest) {
      sum *= expf(largest - top);
      largest = top;
#pragma unroll
      for (int i = N - 1; i >= 0; --i) place = z[i] == top ? column + i : place;
    }
    const float base = largest == -INFINITY ? 0.0f : largest;
#pragma unroll
    for (int i = 0; i < N; ++i) sum += expf(z[i] - base);
  }
};

/// That of the whole row, in every thread.
__device__ Running over_block(Running mine) {
  __shared__ float of_warps[threads / 32];
  __shared__ long long places[threads / 32];
  Running all;
  all.largest = block_max(mine.largest, of_warps);
  long long place = mine.largest == all.largest ? mine.place : 0x7fffffffffffffffLL;
  for (int offset = 16; offset > 0; offset >>= 1)
    place = min(place, __shfl_xor_sync(full_warp, place, offset));
  if (threadIdx.x % 32 == 0) places[threadIdx.x / 32] = place;
  const float scaled = mine.largest == -INFINITY ? mine.sum : mine.sum * expf(mine.largest - all.largest);
  all.sum = block_sum(scaled, of_warps);  // a barrier, so `places` are there
  all.place = places[0];
  for (int i = 1; i < threads / 32; ++i) all.place = min(static_cast<long long>(all.place), places[i]);
  return all;
}

/// What a row's gradient needs.
struct RowLoss {
  float largest, inverse_sum, scale;
  std::int64_t target;
  float below;  ///< p(target) - 1
};

/// Writes N gradients; cap'(z) = 1 - (z / cap)^2 of the capped z.
template <typename T, int N>
__device__ __forceinline__ void store_gradient(const Logits& logits, const RowLoss& row, std::int64_t column,
                                               const float (&z)[N], T* to) {
  float gradient[N];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    float share = expf(z[i] - row.largest) * row.inverse_sum;
    if (column + i == row.target) share = row.below;
    if (logits.soft_cap > 0) {
      const float ratio = z[i] / logits.soft_cap;
      share *= 1.0f - ratio * ratio;
    }
    gradient[i] = share * row.scale;
  }
  store<N>(to + column, gradient);
}

/// The gradient over the row's own memory. In each round all logits of it are read before gradients are
/// written, which lie at or before the place of the first of them.
template <typename T>
__device__ void write_gradient(const Logits& logits, float* row, const RowLoss& loss) {
  T* to = reinterpret_cast<T*>(row);
  constexpr std::int64_t step = threads * 4;
  for (std::int64_t first = 0; first < logits.columns; first += step) {
    const std::int64_t column = first + threadIdx.x * 4;
    const bool whole = column + 4 <= logits.columns;
    float z[4] = {};
    if (whole) {
      read_logits<4>(logits, row, column, z);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float one[1];
        if (column + i < logits.columns) {
          read_logits<1>(logits, row, column + i, one);
          z[i] = one[0];
        }
      }
    }
    __syncthreads();
    if (whole) {
      store_gradient<T, 4>(logits, loss, column, z, to);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float one[1] = {z[i]};
        if (column + i < logits.columns) store_gradient<T, 1>(logits, loss, column + i, one, to);
      }
    }
  }
}

/// One block a row.
template <typename T>
__global__ void __launch_bounds__(threads, 1)
    loss_kernel(Logits logits, const std::int32_t* targets, float grad_scale, bool with_gradient,
                RowResult* results) {
  float* row = logits.data + blockIdx.x * logits.stride;
  Running mine;
  for (std::int64_t column = threadIdx.x * 4; column < logits.columns; column += threads * 4) {
    if (column + 4 <= logits.columns) {
      float z[4];
      read_logits<4>(logits, row, column, z);
      mine.add(z, column);
    } else {
      for (std::int64_t i = column; i < logits.columns; ++i) {
        float z[1];
        read_logits<1>(logits, row, i, z);
        mine.add(z, i);
      }
    }
  }
  const Running all = over_block(mine);
  const std::int64_t target = targets[blockIdx.x];
  const bool valid = target >= 0 && target < logits.columns;
  float at_target[1] = {NAN};
  if (valid) read_logits<1>(logits, row, target, at_target);
  const double lse = static_cast<double>(all.largest) + log(static_cast<double>(all.sum));
  const double below = static_cast<double>(at_target[0]) - lse;
  if (threadIdx.x == 0) results[blockIdx.x] = {-below, valid && all.place == target ? 1.0 : 0.0};
  if (!with_gradient) return;  // the whole grid
  __syncthreads();             // the target's logit has been read by all
  const float scale = valid ? grad_scale : NAN;
  write_gradient<T>(logits, row,
                    {all.largest, 1.0f / all.sum, scale, target, expm1f(static_cast<float>(below))});
}

/// sums += the rows' results, in a fixed order; one block.
__global__ void __launch_bounds__(256, 1)
    add_results_kernel(const RowResult* results, std::int64_t rows, double* sums) {
  __shared__ RowResult partial[256];
  RowResult mine{0, 0};
  for (std::int64_t row = threadIdx.x; row < rows; row += 256) {
    mine.loss += results[row].loss;
    mine.correct += results[row].correct;
  }
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      partial[threadIdx.x].loss += partial[threadIdx.x + half].loss;
      partial[threadIdx.x].correct += partial[threadIdx.x + half].correct;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    sums[0] += partial[0].loss;
    sums[1] += partial[0].correct;
  }
}

/// Bias and soft cap over finished products.
__global__ void __launch_bounds__(256, 1) finish_logits_kernel(Logits logits, std::int64_t rows) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x;
  if (column >= logits.columns) return;
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    float* at = logits.data + row * logits.stride;
    float z[1];
    read_logits<1>(logits, at, column, z);
    at[column] = z[0];
  }
}

/// The head's rows in the compute type: as they are stored, or slice after slice in working memory.
class HeadSlices {
 public:
  HeadSlices(CudaBackend& backend, const Weight& head, DType compute)
      : backend_(backend), head_(head), compute_(compute), in_place_(is_stored_in(head, compute)) {
    const std::int64_t row_bytes = head.in * static_cast<std::int64_t>(size_of(compute));
    rows_ = in_place_ ? head.out
                      : std::min(head.out, std::max<std::int64_t>(64, chunk_bytes / row_bytes / 64 * 64));
    if (!in_place_) memory_ = backend.weight_scratch().get(rows_ * row_bytes);
  }

  std::int64_t count() const { return (head_.out + rows_ - 1) / rows_; }
  std::int64_t first(std::int64_t slice) const { return slice * rows_; }
  /// (rows,H); valid until another slice is asked for.
  TensorView slice(std::int64_t index) {
    if (in_place_) return head_.values;
    const TensorView view{memory_, compute_, {std::min(rows_, head_.out - first(index)), head_.in}};
    if (loaded_ != index) {
      const DequantizeTask task{&head_, first(index), view};
      dequantize(backend_, {&task, 1});
      loaded_ = index;
    }
    return view;
  }
  /// logits (R,V) = h head^T.
  void multiply_logits(const TensorView& h, const TensorView& logits) {
    for (std::int64_t i = 0; i < count(); ++i) {
      const TensorView rows = slice(i);
      multiply(backend_, {h, rows, false, {}, logits.column_range(first(i), rows.rows())});
    }
  }
  /// to (R,H) = gradient (R,V) head, the slices from the last to the first, which is in memory already.
  void multiply_back(const TensorView& gradient, const TensorView& to) {
    for (std::int64_t i = count() - 1; i >= 0; --i) {
      const TensorView rows = slice(i);
      multiply(backend_, {gradient.column_range(first(i), rows.rows()), rows, true,
                          i == count() - 1 ? TensorView{} : to, to});
    }
  }

 private:
  CudaBackend& backend_;
  const Weight& head_;
  const DType compute_;
  const bool in_place_;
  std::int64_t rows_ = 0, loaded_ = -1;
  void* memory_ = nullptr;
};

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void check_head(const CudaBackend& backend, const TensorView& h, const Weight& head, const char* name) {
  check_compute(backend, h, name, "this device does not compute in h's type");
  check(h.shape.rank() == 2, name, "h is not a matrix");
  check_stored_weight(head, name);
  check_rows(h, h.dtype, {h.rows(), head.in}, name, "h");
}

}  // namespace

void CudaBackend::head_cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                                     TensorView sums, TensorView dh, float soft_cap) {
  constexpr const char* name = "head_cross_entropy";
  check_head(*this, h, head, name);
  const std::int64_t rows = h.rows();
  check_tensor(targets, DType::i32, {rows}, name, "targets");
  check_tensor(sums, DType::f64, {2}, name, "sums");
  if (dh) check_rows(dh, h.dtype, h.shape, name, "dh");
  if (rows == 0) return;

  HeadSlices slices(*this, head, h.dtype);
  const std::int64_t stride = rounded_up(head.out, 8);
  const std::int64_t chunk = std::min(
      rounded_up(rows, chunk_row_multiple),
      std::max(chunk_row_multiple, chunk_bytes / (4 * stride) / chunk_row_multiple * chunk_row_multiple));
  const bool sum_apart = dh && slices.count() > 1 && h.dtype != DType::f32;
  const std::int64_t results_at = rounded_up(chunk * stride * 4, 256);
  const std::int64_t dh_at = results_at + rounded_up(rows * std::int64_t{sizeof(RowResult)}, 256);
  char* memory = static_cast<char*>(scratch_.get(dh_at + (sum_apart ? chunk * head.in * 4 : 0)));
  auto* results = reinterpret_cast<RowResult*>(memory + results_at);
  for (std::int64_t first = 0; first < rows; first += chunk) {
    const std::int64_t count = std::min(chunk, rows - first);
    const TensorView logits{memory, DType::f32, {count, head.out}, stride};
    slices.multiply_logits(h.row_range(first, count), logits);
    const Logits operands{logits.as<float>(), stride, head.out, head.bias.view().as<float>(), soft_cap};
    with_compute_type(h.dtype, [&]<typename T>(std::type_identity<T>) {
      launch(stream(), name, loss_kernel<T>, static_cast<unsigned>(count), threads, 0, operands,
             targets.as<std::int32_t>() + first, grad_scale, static_cast<bool>(dh), results + first);
    });
    if (!dh) continue;
    const std::int64_t gradient_stride = stride * 4 / static_cast<std::int64_t>(size_of(h.dtype));
    const TensorView gradient{memory, h.dtype, {count, head.out}, gradient_stride};
    const TensorView to = dh.row_range(first, count);
    const TensorView sum = sum_apart ? TensorView{memory + dh_at, DType::f32, {count, head.in}} : to;
    slices.multiply_back(gradient, sum);
    if (sum_apart) copy(to, sum);
  }
  launch(stream(), name, add_results_kernel, 1, 256, 0, results, rows, sums.as<double>());
}

void CudaBackend::head_logits(TensorView h, const Weight& head, TensorView logits, float soft_cap) {
  constexpr const char* name = "head_logits";
  check_head(*this, h, head, name);
  const std::int64_t rows = h.rows();
  check_tensor(logits, DType::f32, {rows, head.out}, name, "logits");
  if (rows == 0) return;
  if (rows <= SmallProduct::most_gemv_rows) return SmallProduct::logits(*this, h, head, logits, soft_cap);
  HeadSlices(*this, head, h.dtype).multiply_logits(h, logits);
  if (!head.bias && soft_cap <= 0) return;
  const Logits operands{logits.as<float>(), head.out, head.out, head.bias.view().as<float>(), soft_cap};
  const dim3 grid(static_cast<unsigned>((head.out + 255) / 256),
                  static_cast<unsigned>(std::min<std::int64_t>(rows, 65535)));
  launch(stream(), name, finish_logits_kernel, grid, 256, 0, operands, rows);
}

}  // namespace lorikeet::cuda

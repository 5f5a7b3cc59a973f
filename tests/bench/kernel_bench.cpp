// SPDX-License-Identifier: Apache-2.0
// kernel_bench [threads] [part of a name]: speed of the operations at the shapes of SmolLM2-135M (9 heads on
// 3, head_dim 64, hidden 576, intermediate 1536) in a packed batch of 2 x 512 tokens, beside the most this
// processor does in a loop on registers and in a copy of memory. Quickest of many
// calls.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "kernels/base/random.h"
#include "tests/bench/peak.h"

using namespace lorikeet;

namespace {

/// With one thread its processor time, which other processes do not stretch; else what the clock says.
bool use_processor_time = false;

double seconds_now() {
  timespec now{};
  clock_gettime(use_processor_time ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds that a tenth of many calls in about a third of a second stay below: what a machine does when
/// nobody disturbs it, without the odd reading that is too small.
double best_seconds(const std::function<void()>& call) {
  call();
  std::vector<double> seconds;
  const double end = seconds_now() + 0.3;
  while (seconds.size() < 5 || seconds_now() < end) {
    const double start = seconds_now();
    call();
    seconds.push_back(seconds_now() - start);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 10];
}

class Bench {
 public:
  Bench(Backend& backend, std::string_view filter, DType dtype)
      : backend_(backend), filter_(filter), dtype_(dtype) {}

  /// Values in [-1, 1), enough to keep exp and products out of special cases.
  TensorView floats(Shape shape) { return floats(shape, dtype_); }
  TensorView floats(Shape shape, DType dtype) {
    Tensor single = backend_.allocate(shape, DType::f32);
    RandomStream stream({.seed = seed_++});
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      single.view().as<float>()[i] =
          static_cast<float>(stream.bits_at(static_cast<std::uint64_t>(i)) >> 8) * 0x1p-23f - 1;
    }
    kept_.push_back(backend_.allocate(shape, dtype));
    backend_.copy(kept_.back(), single);
    return kept_.back();
  }
  TensorView zeros(Shape shape, DType dtype) {
    kept_.push_back(backend_.allocate(shape, dtype));
    backend_.fill_zero(kept_.back());
    return kept_.back();
  }
  TensorView indices(const std::vector<std::int32_t>& values) {
    kept_.push_back(backend_.allocate({static_cast<std::int64_t>(values.size())}, DType::i32));
    backend_.upload(kept_.back(), values.data());
    return kept_.back();
  }

  void report(const std::string& name, double gflop, double gigabytes, const std::function<void()>& call) {
    const std::string full = fmt::format("{} {}", name, to_string(dtype_));
    if (full.find(filter_) == std::string::npos) return;
    const double seconds = best_seconds(call);
    fmt::print("{:<44} {:>10.1f} us", full, seconds * 1e6);
    if (gflop > 0) fmt::print(" {:>8.1f} GFLOP/s", gflop / seconds);
    if (gigabytes > 0) fmt::print(" {:>8.1f} GB/s", gigabytes / seconds);
    fmt::print("\n");
    std::fflush(stdout);
  }

  void attention(const std::string& name, const std::vector<std::int32_t>& lengths,
                 const AttentionShape& shape);
  void cached(std::int64_t position, std::int64_t queries, const AttentionShape& shape);
  void rows(std::int64_t tokens, std::int64_t hidden, std::int64_t intermediate);
  void optimizer(std::int64_t count);

 private:
  Backend& backend_;
  std::string_view filter_;
  DType dtype_;
  std::uint64_t seed_ = 1;
  std::vector<Tensor> kept_;
};

void Bench::attention(const std::string& name, const std::vector<std::int32_t>& lengths,
                      const AttentionShape& shape) {
  std::vector<std::int32_t> cu{0};
  double pairs = 0;
  for (const std::int32_t length : lengths) {
    cu.push_back(cu.back() + length);
    pairs += 0.5 * length * (length + 1);
  }
  const std::int64_t tokens = cu.back();
  const PackedRows rows{indices(cu), indices(std::vector<std::int32_t>(static_cast<std::size_t>(tokens), 0)),
                        static_cast<std::int64_t>(lengths.size()),
                        *std::max_element(lengths.begin(), lengths.end())};
  const Shape q_shape{tokens, shape.heads * shape.head_dim};
  const Shape kv_shape{tokens, shape.kv_heads * shape.head_dim};
  const TensorView q = floats(q_shape), k = floats(kv_shape), v = floats(kv_shape), out = floats(q_shape);
  const TensorView dout = floats(q_shape), dq = floats(q_shape), dk = floats(kv_shape), dv = floats(kv_shape);
  const TensorView lse = zeros({tokens, shape.heads}, DType::f32);
  const double product = 2e-9 * pairs * static_cast<double>(shape.heads * shape.head_dim);
  report("attention_forward " + name, 2 * product, 0,
         [&] { backend_.attention_forward(q, k, v, rows, shape, out, lse); });
  report("attention_backward " + name, 5 * product, 0,
         [&] { backend_.attention_backward(dout, q, k, v, out, lse, rows, shape, dq, dk, dv); });
}

void Bench::cached(std::int64_t position, std::int64_t queries, const AttentionShape& shape) {
  const TensorView q = floats({queries, shape.heads * shape.head_dim});
  const TensorView out = floats({queries, shape.heads * shape.head_dim});
  const Shape cache{position + queries, shape.kv_heads * shape.head_dim};
  const TensorView k = floats(cache), v = floats(cache);
  std::vector<std::int32_t> places;
  for (std::int64_t i = 0; i < queries; ++i) places.push_back(static_cast<std::int32_t>(position + i));
  const Tensor positions = backend_.allocate({queries}, DType::i32);
  backend_.upload(positions, places.data());
  report(fmt::format("attention_cached {} at {}", queries, position), 0,
         2e-9 * static_cast<double>(k.bytes()),
         [&] { backend_.attention_cached(q, k, v, positions, position + queries, shape, out); });
}

void Bench::rows(std::int64_t tokens, std::int64_t hidden, std::int64_t intermediate) {
  const TensorView x = floats({tokens, hidden}), y = floats({tokens, hidden}), dy = floats({tokens, hidden});
  const TensorView weight = floats({hidden}, DType::f32), rstd = floats({tokens}, DType::f32);
  const double row_bytes = 1e-9 * static_cast<double>(x.bytes());
  report("rms_norm_forward", 0, 2 * row_bytes, [&] { backend_.rms_norm_forward(x, weight, 1e-5f, y, rstd); });
  report("rms_norm_backward, added", 0, 4 * row_bytes,
         [&] { backend_.rms_norm_backward(dy, x, weight, rstd, y, Write::accumulate); });
  report("add", 0, 3 * row_bytes, [&] { backend_.add(y, x); });
  std::vector<std::int32_t> order(static_cast<std::size_t>(tokens));
  std::iota(order.begin(), order.end(), 0);
  const TensorView positions = indices(order);
  const TensorView cosine = floats({tokens, 32}, DType::f32), sine = floats({tokens, 32}, DType::f32);
  report("rope", 0, 2 * row_bytes, [&] {
    backend_.rope(x.reshaped({tokens, hidden / 64, 64}), positions, cosine, sine, false);
  });
  const TensorView gate = floats({tokens, intermediate}), up = floats({tokens, intermediate});
  const TensorView h = floats({tokens, intermediate}), dgate = floats({tokens, intermediate});
  const TensorView dup = floats({tokens, intermediate});
  const double wide_bytes = 1e-9 * static_cast<double>(gate.bytes());
  report("glu_forward", 0, 3 * wide_bytes, [&] { backend_.glu_forward(gate, up, h); });
  report("glu_backward", 0, 6 * wide_bytes, [&] { backend_.glu_backward(h, gate, up, dgate, dup, h); });
  const TensorView table = floats({4096, hidden}, DType::bf16);
  report("embedding_forward", 0, 2 * row_bytes, [&] { backend_.embedding_forward(table, positions, y); });
}

void Bench::optimizer(std::int64_t count) {
  const TensorView p = floats({count}, DType::f32), g = floats({count}, DType::f32);
  const TensorView m = zeros({count}, DType::f32), v = zeros({count}, DType::f32);
  const std::int64_t blocks = (count + 255) / 256;
  const Adam8bitState state{zeros({count}, DType::u8), zeros({count}, DType::u8), zeros({blocks}, DType::f32),
                            zeros({blocks}, DType::f32)};
  const TensorView sum = zeros({1}, DType::f64);
  const AdamStep step{.learning_rate = 1e-4f, .weight_decay = 0.01f, .step = 3};
  const double n = 1e-9 * static_cast<double>(count);
  report("adamw", 0, 28 * n, [&] { backend_.adamw(p, g, m, v, step); });
  report("adamw_8bit", 0, 16 * n, [&] { backend_.adamw_8bit(p, g, state, step); });
  report("sum_of_squares", 0, 4 * n, [&] { backend_.sum_of_squares(g, sum); });
}

void run(Backend& backend, std::string_view filter, DType dtype) {
  const AttentionShape smol{9, 3, 64, 0.125f, 0};
  Bench bench(backend, filter, dtype);
  bench.attention("2 x 512, 9/3 heads of 64", {512, 512}, smol);
  bench.attention("1 x 1024, 9/3 heads of 64", {1024}, smol);
  bench.attention("8 x 128, 9/3 heads of 64", std::vector<std::int32_t>(8, 128), smol);
  bench.attention("1 x 1024, 32/4 heads of 64", {1024}, {32, 4, 64, 0.125f, 0});
  bench.attention("1 x 1024, 8/8 heads of 128", {1024}, {8, 8, 128, 0.088388f, 0});
  bench.cached(1023, 1, smol);
  bench.cached(0, 512, smol);
  bench.rows(1024, 576, 1536);
  if (dtype == DType::f32) bench.optimizer(10 << 20);
}

}  // namespace

int main(int argc, char** argv) {
  BackendOptions options;
  options.device = "cpu";
  options.threads = argc > 1 ? std::atoi(argv[1]) : 0;
  const auto backend = make_backend(options);
  const DeviceInfo& device = backend->device();
  use_processor_time = device.threads == 1;
  fmt::print("{}, {}, {} threads\n", device.name, device.instruction_set, device.threads);
  fmt::print("one core: f32 {:.1f} GFLOP/s, bf16 operands {:.1f} GFLOP/s; memory read {:.1f} GB/s\n",
             bench::peak_f32(0.3), bench::peak_bf16(0.3), bench::read_bandwidth(device.threads));
  const char* filter = argc > 2 ? argv[2] : "";
  run(*backend, filter, DType::bf16);
  run(*backend, filter, DType::f32);
  return 0;
}

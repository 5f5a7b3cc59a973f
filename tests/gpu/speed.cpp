// SPDX-License-Identifier: Apache-2.0
// The table of speeds of a card: first what it can do (a large bf16 product, a copy), then steps of QLoRA and
// tokens of chat on random weights. LORIKEET_SPEED_TINY=1 runs a tiny model only, to see that all of it runs.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "kernels/base/error.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/gemm.h"
#include "tests/gpu/speed_model.h"
#include "tests/kernels/op_support.h"

using namespace lorikeet;
using namespace lorikeet::speed;

namespace {

constexpr std::int64_t rank = 32;

double seconds(Backend& backend, int times, const std::function<void()>& work) {
  backend.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  backend.synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

/// Operations a second of a large product in the compute type.
double measured_peak(Backend& backend, std::int64_t n) {
  const DType compute = backend.supports(DType::bf16) ? DType::bf16 : DType::f16;
  const auto matrix = [&](std::uint64_t seed) {
    Tensor tensor = backend.allocate({n, n}, compute);
    const Tensor block =
        testing::make_tensor(backend, {std::min<std::int64_t>(n * n, 1 << 16)}, compute,
                             testing::random_values(std::min<std::int64_t>(n * n, 1 << 16), seed));
    const TensorView flat = tensor.view().reshaped({n * n});
    for (std::int64_t i = 0; i < n * n; i += block.view().elements()) {
      const std::int64_t count = std::min(block.view().elements(), n * n - i);
      backend.copy(flat.row_range(i, count), block.view().row_range(0, count));
    }
    return tensor;
  };
  const Tensor a = matrix(1), b = matrix(2), d = backend.allocate({n, n}, compute);
  const cuda::Product product{a, b, false, {}, d};
  auto& device = static_cast<cuda::CudaBackend&>(backend);
  const auto work = [&] { cuda::multiply(device, product); };
  seconds(backend, 3, work);
  return 2 * std::pow(static_cast<double>(n), 3) / seconds(backend, 10, work);
}

/// Bytes a second, read and written.
double measured_bandwidth(Backend& backend, std::int64_t bytes) {
  const Tensor from = backend.allocate({bytes}, DType::u8), to = backend.allocate({bytes}, DType::u8);
  backend.fill_zero(from);
  const auto work = [&] { backend.copy(to, from); };
  seconds(backend, 3, work);
  return 2 * static_cast<double>(bytes) / seconds(backend, 10, work);
}

bool time_training(const ModelShape& shape, std::int64_t sequences, std::int64_t length, int steps,
                   double peak) {
  const auto backend = testing::test_backend(1);
  try {
    SpeedModel model(*backend, shape, rank);
    model.prepare_training(sequences, length);
    seconds(*backend, (steps + 3) / 4, [&] { model.step(); });
    const double step = seconds(*backend, steps, [&] { model.step(); });
    const double loss = model.loss(), tokens = static_cast<double>(sequences * length) / step;
    const double operations = tokens * shape.step_operations(static_cast<double>(length + 1) / 2, rank);
    std::printf(
        "train  %-14s %5lld x %-5lld %10.0f tokens/s %8.1f TFLOP/s %5.1f %% of the product %7.2f GB  loss "
        "%.3f\n",
        shape.name.c_str(), static_cast<long long>(sequences), static_cast<long long>(length), tokens,
        operations / 1e12, 100 * operations / peak, static_cast<double>(backend->budget().peak_bytes()) / 1e9,
        loss);
    return std::isfinite(loss);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    std::printf("train  %-14s %5lld x %-5lld does not fit\n", shape.name.c_str(),
                static_cast<long long>(sequences), static_cast<long long>(length));
    return true;
  }
}

bool time_chat(const ModelShape& shape, std::int64_t position, std::int64_t count, double bandwidth) {
  const auto backend = testing::test_backend(1);
  SpeedModel model(*backend, shape, rank);
  model.prepare_chat(position + count + 8);
  for (int i = 0; i < 4; ++i) model.decode(position + i);
  std::int64_t at = position + 4;
  const double token = seconds(*backend, static_cast<int>(count), [&] { model.decode(at++); });
  const double bytes = shape.decode_bytes(static_cast<double>(position), rank) / token;
  std::printf("chat   %-14s at %-10lld %10.0f tokens/s %8.1f GB/s %8.1f %% of the copy    %7.2f GB\n",
              shape.name.c_str(), static_cast<long long>(position), 1 / token, bytes / 1e9,
              100 * bytes / bandwidth, static_cast<double>(backend->budget().peak_bytes()) / 1e9);
  const std::int32_t last = model.last_token();
  return last >= 0 && last < shape.vocabulary;
}

int table() {
  const char* wish = std::getenv("LORIKEET_SPEED_TINY");
  const bool tiny = wish && *wish == '1';
  double peak = 0, bandwidth = 0;
  {
    const auto backend = testing::test_backend(1);
    std::printf("on %s, %s\n", backend->device().name.c_str(), backend->device().instruction_set.c_str());
    peak = measured_peak(*backend, tiny ? 64 : 8192);
    bandwidth = measured_bandwidth(*backend, tiny ? 1 << 16 : std::int64_t{1} << 30);
    std::printf("measured: product %.1f TFLOP/s, copy %.1f GB/s\n", peak / 1e12, bandwidth / 1e9);
  }
  bool good = true;
  if (tiny) {
    const ModelShape shape{"tiny", 96, 64, 128, 2, 2, 1, 32, true};
    good = time_training(shape, 2, 20, 3, peak) && good;
    return time_chat(shape, 5, 6, bandwidth) && good ? 0 : 1;
  }
  const std::vector<ModelShape> shapes = {{"SmolLM2-135M", 49152, 576, 1536, 30, 9, 3, 64, true},
                                          {"TinyLlama-1.1B", 32000, 2048, 5632, 22, 32, 4, 64, false},
                                          {"Llama-2-7B", 32000, 4096, 11008, 32, 32, 32, 128, false}};
  for (const ModelShape& shape : shapes) {
    for (const std::int64_t length : {512, 2048, 4096})
      good = time_training(shape, 2, length, 20, peak) && good;
    for (const std::int64_t position : {128, 2048}) good = time_chat(shape, position, 256, bandwidth) && good;
  }
  return good ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return table();
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == ErrorCode::unsupported ? 77 : 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Speed of linear layers and of the head, against what the processor can do at most. Not a test.
// usage: linear_bench [--threads N] [--rows T] [--seconds S] [--model smollm2|tinyllama] [--compute bf16|f32]
//                     [--clock wall|processor] [--only peak|training|head|small]

#include <algorithm>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "tests/bench/peak.h"

using namespace lorikeet;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that this process has computed, all threads together.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Layer {
  const char* name;
  std::int64_t out, in;
  int count;  ///< of them in the model
};

struct Model {
  std::vector<Layer> layers;
  std::int64_t hidden, vocabulary;
};

const std::map<std::string, Model>& models() {
  static const std::map<std::string, Model> list = {
      {"smollm2",
       {{{"q, o", 576, 576, 60},
         {"k, v", 192, 576, 60},
         {"gate, up", 1536, 576, 60},
         {"down", 576, 1536, 30}},
        576,
        49152}},
      {"tinyllama",
       {{{"q, o", 2048, 2048, 44},
         {"k, v", 256, 2048, 44},
         {"gate, up", 5632, 2048, 44},
         {"down", 2048, 5632, 22}},
        2048,
        32000}},
  };
  return list;
}

struct Options {
  int threads = 0;
  std::int64_t rows = 1024;
  double seconds = 0.3;
  std::string model = "smollm2";
  std::string only;
  bool processor_time = false;
  DType compute = DType::bf16;
  WeightFormat format = WeightFormat::nf4;
};

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        backend_(make_backend({"cpu", options.threads, 0})),
        model_(models().at(options.model)) {}

  void run() {
    const DeviceInfo& device = backend_->device();
    std::printf("%s, %s, %d threads\n", device.name.c_str(), device.instruction_set.c_str(), device.threads);
    peaks();
    if (wanted("training")) training();
    if (wanted("head")) head();
    if (wanted("small")) small();
  }

 private:
  bool wanted(const char* part) const { return options_.only.empty() || options_.only == part; }

  void peaks() {
    const double bf16 = bench::peak_bf16(0.2) * backend_->device().threads;
    const double f32 = bench::peak_f32(0.2) * backend_->device().threads;
    peak_ = options_.compute == DType::bf16 && bf16 > 0 ? bf16 : f32;
    bandwidth_ = bench::read_bandwidth(backend_->device().threads);
    std::printf("peak: bf16 %.0f GFLOP/s, f32 %.0f GFLOP/s, memory read %.1f GB/s\n", bf16, f32, bandwidth_);
  }

  /// On a machine that others use too, a thread's own time says more than the wall clock.
  double clock() const {
    return options_.processor_time ? processor_seconds() / backend_->device().threads : now();
  }

  /// Seconds of one call: the fastest fifth of many, whose median is taken.
  double time(const std::function<void()>& work) const {
    work();
    std::vector<double> seconds;
    for (const double end = now() + options_.seconds; now() < end || seconds.size() < 5;) {
      const double start = clock();
      work();
      seconds.push_back(clock() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 10];
  }

  Tensor random(Shape shape, DType dtype) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& value : values) value = uniform(engine_);
    Tensor f32 = backend_->allocate(shape, DType::f32);
    backend_->upload(f32, values.data());
    if (dtype == DType::f32) return f32;
    Tensor tensor = backend_->allocate(shape, dtype);
    backend_->copy(tensor, f32);
    return tensor;
  }

  Weight weight(WeightFormat format, std::int64_t out, std::int64_t in) {
    std::uniform_real_distribution<float> uniform(-0.1f, 0.1f);
    const auto read = [&](std::int64_t, std::span<float> values) {
      for (float& value : values) value = uniform(engine_);
    };
    return make_weight(*backend_, format, out, in, read, "w");
  }

  void training() {
    std::printf("\n%s, %lld rows, rank 32, %s, nf4: GFLOP/s of weights and branch together\n",
                options_.model.c_str(), static_cast<long long>(options_.rows), to_string(options_.compute));
    double total = 0;
    double operations = 0;
    for (const Layer& layer : model_.layers) {
      const std::int64_t m = options_.rows;
      const Weight w = weight(options_.format, layer.out, layer.in);
      const Tensor x = random({m, layer.in}, options_.compute), y = random({m, layer.out}, options_.compute);
      const Tensor dx = random({m, layer.in}, options_.compute);
      const Tensor a = random({32, layer.in}, DType::f32), b = random({layer.out, 32}, DType::f32);
      const Tensor da = random({32, layer.in}, DType::f32), db = random({layer.out, 32}, DType::f32);
      const Tensor xa = random({m, 32}, options_.compute);
      const LoraTerm term{a, b, 1, xa};
      const LoraGradient gradient{da, db};
      const double weights = 2.0 * static_cast<double>(m * layer.out * layer.in);
      const double branch = 2.0 * 32 * static_cast<double>(m * (layer.out + layer.in));
      const double plain = time([&] { backend_->linear_forward(x, w, {}, y, Write::overwrite); });
      const double forward = time([&] { backend_->linear_forward(x, w, {&term, 1}, y, Write::overwrite); });
      const double back_plain =
          time([&] { backend_->linear_backward(y, x, w, nullptr, nullptr, dx, Write::overwrite); });
      const double backward =
          time([&] { backend_->linear_backward(y, x, w, &term, &gradient, dx, Write::accumulate); });
      std::printf(
          "  %-9s %5lld x %5lld: forward %6.0f (no branch %6.0f), backward %6.0f (no branch %6.0f); %.3f + "
          "%.3f ms\n",
          layer.name, static_cast<long long>(layer.out), static_cast<long long>(layer.in),
          (weights + branch) / forward / 1e9, weights / plain / 1e9, (weights + 2 * branch) / backward / 1e9,
          weights / back_plain / 1e9, forward * 1e3, backward * 1e3);
      total += layer.count * (forward + backward);
      operations += layer.count * (2 * weights + 3 * branch);
    }
    std::printf("  all layers, forward and backward: %.1f ms, %.0f GFLOP/s = %.0f %% of peak\n", total * 1e3,
                operations / total / 1e9, 100 * operations / total / 1e9 / peak_);
  }

  void head() {
    const std::int64_t m = options_.rows;
    const WeightFormat format = options_.compute == DType::bf16 ? WeightFormat::bf16 : WeightFormat::f32;
    const Weight w = weight(format, model_.vocabulary, model_.hidden);
    const Tensor h = random({m, model_.hidden}, options_.compute),
                 dh = random({m, model_.hidden}, options_.compute);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(m), 7);
    const Tensor targets = backend_->allocate({m}, DType::i32);
    backend_->upload(targets, ids.data());
    const Tensor sums = backend_->allocate({2}, DType::f64);
    backend_->fill_zero(sums);
    const double operations = 4.0 * static_cast<double>(m * model_.vocabulary * model_.hidden);
    const double both = time([&] { backend_->head_cross_entropy(h, w, targets, 1, sums, dh); });
    const double loss = time([&] { backend_->head_cross_entropy(h, w, targets, 1, sums, {}); });
    std::printf(
        "\nhead and loss, %lld rows x %lld: %.1f ms, %.0f GFLOP/s = %.0f %% of peak; loss alone %.1f ms\n",
        static_cast<long long>(m), static_cast<long long>(model_.vocabulary), both * 1e3,
        operations / both / 1e9, 100 * operations / both / 1e9 / peak_, loss * 1e3);
  }

  void small() {
    std::printf(
        "\nfew rows, weights from memory (64 MiB or more of copies): GB/s of stored bytes, and GFLOP/s\n");
    for (const WeightFormat format : {WeightFormat::nf4, WeightFormat::nf4_single, WeightFormat::bf16,
                                      WeightFormat::f16, WeightFormat::f32}) {
      small_format(format);
    }
    small_branches();
  }

  void small_format(WeightFormat format) {
    constexpr std::int64_t out = 5632, in = 2048;
    const std::size_t copies =
        std::max<std::size_t>(1, (std::size_t{192} << 20) / weight_bytes(format, out, in));
    std::vector<Weight> weights;
    for (std::size_t i = 0; i < copies; ++i) weights.push_back(weight(format, out, in));
    for (const std::int64_t m : {1, 2, 4, 8, 16, 32, 64}) {
      const Tensor x = random({m, in}, options_.compute), y = random({m, out}, options_.compute);
      std::size_t next = 0;
      const double seconds = time([&] {
        backend_->linear_forward(x, weights[next], {}, y, Write::overwrite);
        next = (next + 1) % copies;
      });
      const double gigabytes = static_cast<double>(weights[0].bytes()) / seconds / 1e9;
      std::printf(
          "  %-10s M=%-3lld %7.1f us %6.1f GB/s = %3.0f %% of memory, %5.0f GFLOP/s, %.1f Gweights/s\n",
          to_string(format), static_cast<long long>(m), seconds * 1e6, gigabytes,
          100 * gigabytes / bandwidth_, 2.0 * static_cast<double>(m * out * in) / seconds / 1e9,
          static_cast<double>(out * in) / seconds / 1e9);
    }
  }

  /// One token through all layers of the model with an adapter of rank 32, and the head: what chat does.
  void small_branches() {
    struct Loaded {
      Weight weight;
      Tensor a, b, x, y, xa;
    };
    std::vector<Loaded> layers;
    double bytes = 0;
    for (const Layer& layer : model_.layers) {
      for (int i = 0; i < layer.count; ++i) {
        layers.push_back({weight(WeightFormat::nf4, layer.out, layer.in), random({32, layer.in}, DType::f32),
                          random({layer.out, 32}, DType::f32), random({1, layer.in}, options_.compute),
                          random({1, layer.out}, options_.compute), random({1, 32}, options_.compute)});
        bytes += static_cast<double>(layers.back().weight.bytes());
      }
    }
    const Weight head = weight(WeightFormat::bf16, model_.vocabulary, model_.hidden);
    const Tensor h = random({1, model_.hidden}, options_.compute),
                 logits = random({1, model_.vocabulary}, DType::f32);
    const double plain = time([&] {
      for (const Loaded& l : layers) backend_->linear_forward(l.x, l.weight, {}, l.y, Write::overwrite);
    });
    const double branch = time([&] {
      for (const Loaded& l : layers) {
        const LoraTerm term{l.a, l.b, 1, l.xa};
        backend_->linear_forward(l.x, l.weight, {&term, 1}, l.y, Write::overwrite);
      }
    });
    const double last = time([&] { backend_->head_logits(h, head, logits); });
    std::printf("  one token: layers %.2f ms (%.1f GB/s), with rank 32 %.2f ms, head %.2f ms (%.1f GB/s)\n",
                plain * 1e3, bytes / plain / 1e9, branch * 1e3, last * 1e3,
                static_cast<double>(head.bytes()) / last / 1e9);
  }

  Options options_;
  std::unique_ptr<Backend> backend_;
  const Model& model_;
  std::mt19937 engine_{1};
  double peak_ = 0;
  double bandwidth_ = 0;
};

bool read_options(int count, char** words, Options& options) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string key = words[i];
    const std::string value = words[i + 1];
    if (key == "--threads")
      options.threads = std::stoi(value);
    else if (key == "--rows")
      options.rows = std::stoll(value);
    else if (key == "--seconds")
      options.seconds = std::stod(value);
    else if (key == "--model" && models().count(value) > 0)
      options.model = value;
    else if (key == "--compute")
      options.compute = value == "f32" ? DType::f32 : DType::bf16;
    else if (key == "--clock")
      options.processor_time = value == "processor";
    else if (key == "--only")
      options.only = value;
    else
      return false;
  }
  return count % 2 == 1;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!read_options(count, words, options)) {
    std::fprintf(stderr,
                 "usage: linear_bench [--threads N] [--rows T] [--seconds S] [--model smollm2|tinyllama] "
                 "[--compute bf16|f32] [--only training|head|small]\n");
    return 2;
  }
  Bench(options).run();
  return 0;
}

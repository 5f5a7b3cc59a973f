// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/transfer_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace lorikeet::testing::transfers {
namespace {

constexpr std::size_t tensor_count = 5, buffer_count = 3;

/// Operations on tensors and buffers that keep to the rules of backend.h, and what they must give.
class Program {
 public:
  enum class Kind { add, copy, zero, download, upload, order };
  struct Step {
    Kind kind;
    std::size_t a = 0, b = 0;  ///< tensor or buffer, as the operation has them
  };

  explicit Program(std::mt19937_64& random, int steps) {
    // What an earlier run of the program has left under way.
    for (std::size_t i = 0; i < buffer_count; ++i) take({Kind::order, i, 0});
    while (steps-- > 0) {
      const Step step{static_cast<Kind>(random() % 6),
                      random() % (random() % 6 < 3 ? tensor_count : buffer_count), random() % tensor_count};
      if (allowed(step)) take(step);
    }
  }

  void give(Backend& backend, const std::vector<Tensor>& tensors,
            const std::vector<std::unique_ptr<HostBuffer>>& buffers) const {
    for (const Step& step : steps_) {
      switch (step.kind) {
        case Kind::add:
          backend.add(tensors[step.a], tensors[step.b]);
          break;
        case Kind::copy:
          backend.copy(tensors[step.a], tensors[step.b]);
          break;
        case Kind::zero:
          backend.fill_zero(tensors[step.a]);
          break;
        case Kind::download:
          backend.download_later(*buffers[step.a], tensors[step.b]);
          break;
        case Kind::upload:
          backend.upload_later(tensors[step.b], *buffers[step.a]);
          break;
        case Kind::order:
          backend.order_after(*buffers[step.a]);
          break;
      }
    }
  }

  void give(std::vector<Numbers>& tensors, std::vector<Numbers>& buffers) const {
    for (const Step& step : steps_) {
      switch (step.kind) {
        case Kind::add:
          for (std::size_t i = 0; i < tensors[step.a].size(); ++i) tensors[step.a][i] += tensors[step.b][i];
          break;
        case Kind::copy:
          tensors[step.a] = tensors[step.b];
          break;
        case Kind::zero:
          std::fill(tensors[step.a].begin(), tensors[step.a].end(), 0.0f);
          break;
        case Kind::download:
          buffers[step.a] = tensors[step.b];
          break;
        case Kind::upload:
          tensors[step.b] = buffers[step.a];
          break;
        case Kind::order:
          break;
      }
    }
  }

 private:
  /// Readers and writers of each tensor that are under way, by buffer.
  bool allowed(const Step& step) const {
    const auto free = [&](std::size_t tensor, bool writes) {
      for (const auto& buffer : under_way_) {
        if (buffer[tensor] == 2 || (writes && buffer[tensor] == 1)) return false;
      }
      return true;
    };
    switch (step.kind) {
      case Kind::add:
      case Kind::copy:
        return step.a < tensor_count && step.a != step.b && free(step.a, true) && free(step.b, false);
      case Kind::zero:
        return step.a < tensor_count && free(step.a, true);
      case Kind::download:
        return step.a < buffer_count && free(step.b, false);
      case Kind::upload:
        return step.a < buffer_count && free(step.b, true);
      case Kind::order:
        return step.a < buffer_count;
    }
    return false;
  }
  void take(const Step& step) {
    if (step.kind == Kind::download) under_way_[step.a][step.b] = std::max(under_way_[step.a][step.b], 1);
    if (step.kind == Kind::upload) under_way_[step.a][step.b] = 2;
    if (step.kind == Kind::order) under_way_[step.a] = {};
    steps_.push_back(step);
  }

  std::vector<Step> steps_;
  std::array<std::array<int, tensor_count>, buffer_count> under_way_{};
};

}  // namespace

Numbers random_numbers(std::mt19937_64& random, std::int64_t n) {
  Numbers numbers(static_cast<std::size_t>(n));
  for (float& number : numbers) number = static_cast<float>(static_cast<int>(random() % 2001) - 1000);
  return numbers;
}

Numbers read(HostBuffer& buffer) {
  const auto* numbers = static_cast<const float*>(buffer.data());
  return {numbers, numbers + buffer.bytes() / sizeof(float)};
}

/// Runs a random program several times, with other contents each time; true when all is as it must be.
bool runs_right(Backend& backend, std::uint64_t seed, bool repeated) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> tensors;
  std::vector<std::unique_ptr<HostBuffer>> buffers;
  std::vector<Numbers> tensors_wanted, buffers_wanted;
  for (std::size_t i = 0; i < tensor_count; ++i) {
    const Numbers& numbers = tensors_wanted.emplace_back(random_numbers(random));
    tensors.push_back(backend.allocate({length}, DType::f32));
    backend.upload(tensors.back(), numbers.data());
  }
  for (std::size_t i = 0; i < buffer_count; ++i) {
    const Numbers& numbers = buffers_wanted.emplace_back(random_numbers(random));
    buffers.push_back(backend.allocate_host(numbers.size() * sizeof(float)));
    std::memcpy(buffers.back()->data(), numbers.data(), buffers.back()->bytes());
  }
  const Program first(random, 30), second(random, 30);
  for (int round = 0; round < 5; ++round) {
    for (const Program* program : {&first, &second}) {
      program->give(tensors_wanted, buffers_wanted);
      const auto work = [&] { program->give(backend, tensors, buffers); };
      repeated ? backend.repeat(program == &first ? 1 : 2, work) : work();
      // One buffer is looked at and filled again; what else is under way is the next program's to wait for,
      // or waited for here, and then a tensor is uploaded over.
      const std::size_t i = random() % buffer_count, j = random() % tensor_count;
      backend.wait(*buffers[i]);
      if (!backend.arrived(*buffers[i]) || read(*buffers[i]) != buffers_wanted[i]) return false;
      buffers_wanted[i] = random_numbers(random);
      std::memcpy(buffers[i]->data(), buffers_wanted[i].data(), buffers[i]->bytes());
      if (seed % 2) continue;
      for (auto& buffer : buffers) backend.order_after(*buffer);
      tensors_wanted[j] = random_numbers(random);
      backend.upload(tensors[j], tensors_wanted[j].data());
    }
  }
  for (auto& buffer : buffers) backend.order_after(*buffer);
  for (std::size_t i = 0; i < tensor_count; ++i) {
    Numbers got(static_cast<std::size_t>(length));
    backend.download(got.data(), tensors[i]);
    if (got != tensors_wanted[i]) return false;
  }
  backend.forget_repeats();
  return true;
}

}  // namespace lorikeet::testing::transfers

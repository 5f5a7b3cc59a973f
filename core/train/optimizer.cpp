// SPDX-License-Identifier: Apache-2.0
#include "core/train/optimizer.h"

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t smallest_8bit = 4096;  // bitsandbytes' min_8bit_size
constexpr std::int64_t block = 256;

std::size_t aligned(std::int64_t bytes) {
  return (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
}

std::size_t part_bytes(std::int64_t count, bool is_8bit) {
  if (!is_8bit) return 2 * aligned(4 * count);
  return 2 * aligned(count) + 2 * aligned(4 * ((count + block - 1) / block));
}

}  // namespace

AdapterOptimizer::AdapterOptimizer(Backend& backend, const LoraAdapter& adapter, const std::string& kind)
    : backend_(backend) {
  std::size_t total = 0;
  for (const auto& module : adapter.modules()) {
    for (const TensorView& parameter : {module.a, module.b}) {
      Part part;
      part.parameter = parameter.reshaped({parameter.elements()});
      part.offset = parameter.as<float>() - adapter.parameters().as<float>();
      part.is_8bit = kind == "adamw-8bit" && parameter.elements() >= smallest_8bit;
      part.decay_last = kind == "adamw-8bit" && !part.is_8bit;
      total += part_bytes(parameter.elements(), part.is_8bit);
      parts_.push_back(part);
    }
  }
  state_ = backend.allocate({static_cast<std::int64_t>(total)}, DType::u8);
  backend.fill_zero(state_);
  char* at = state_.view().as<char>();
  const auto take = [&](std::int64_t count, DType dtype) {
    TensorView view{at, dtype, {count}};
    at += aligned(static_cast<std::int64_t>(view.bytes()));
    return view;
  };
  for (auto& part : parts_) {
    const std::int64_t count = part.parameter.elements(), blocks = (count + block - 1) / block;
    if (part.is_8bit) {
      part.eight = {take(count, DType::u8), take(count, DType::u8), take(blocks, DType::f32),
                    take(blocks, DType::f32)};
    } else {
      part.m = take(count, DType::f32);
      part.v = take(count, DType::f32);
    }
  }
}

void AdapterOptimizer::step(TensorView gradients, const AdamStep& step) {
  AdamStep numbers = step;
  for (const auto& part : parts_) {
    numbers.decay_last = part.decay_last;
    const TensorView gradient = gradients.row_range(part.offset, part.parameter.elements());
    if (part.is_8bit)
      backend_.adamw_8bit(part.parameter, gradient, part.eight, numbers);
    else
      backend_.adamw(part.parameter, gradient, part.m, part.v, numbers);
  }
}

std::vector<char> AdapterOptimizer::save() const {
  std::vector<char> bytes(state_.view().bytes());
  backend_.download(bytes.data(), state_);
  return bytes;
}

void AdapterOptimizer::restore(const std::vector<char>& state) {
  if (state.size() != state_.view().bytes()) {
    throw Error(ErrorCode::bad_format, "The optimiser state has " + std::to_string(state.size()) +
                                           " bytes, expected " + std::to_string(state_.view().bytes()));
  }
  backend_.upload(state_, state.data());
}

std::uint64_t AdapterOptimizer::bytes() const {
  return state_.view().bytes();
}

}  // namespace lorikeet

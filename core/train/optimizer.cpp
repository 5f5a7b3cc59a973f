// SPDX-License-Identifier: Apache-2.0
#include "core/train/optimizer.h"

#include <array>
#include <cmath>
#include <cstring>

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
    : backend_(backend), parameters_(adapter.parameters()) {
  std::size_t total = 0;
  for (const auto& module : adapter.modules()) {
    for (const TensorView& parameter : {module.a, module.b, module.m}) {
      if (!parameter) continue;
      AdamPart part;
      part.offset = parameter.as<float>() - parameters_.as<float>();
      part.count = parameter.elements();
      part.is_8bit = kind == "adamw-8bit" && part.count >= smallest_8bit;
      part.decay_last = kind == "adamw-8bit" && !part.is_8bit;  // the order of bitsandbytes' CUDA kernels
      total += part_bytes(part.count, part.is_8bit);
      parts_.push_back(part);
      layers_.push_back(module.layer);
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
    const std::int64_t blocks = (part.count + block - 1) / block;
    if (part.is_8bit) {
      part.eight = {take(part.count, DType::u8), take(part.count, DType::u8), take(blocks, DType::f32),
                    take(blocks, DType::f32)};
    } else {
      part.m = take(part.count, DType::f32);
      part.v = take(part.count, DType::f32);
    }
  }
}

void AdapterOptimizer::step(TensorView gradients, const AdamStep& step, float max_norm, TensorView loss_sum,
                            TensorView outcome, TensorView norms) {
  backend_.guarded_adamw(parameters_, gradients, parts_, step, max_norm, loss_sum, outcome, norms);
}

std::vector<LayerNorms> AdapterOptimizer::by_layer(const double* norms) const {
  std::vector<LayerNorms> layers;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto layer = static_cast<std::size_t>(layers_[part]);
    if (layers.size() <= layer) layers.resize(layer + 1);
    const double* sums = norms + part * norms_count;
    layers[layer].gradient += sums[norms_gradient];
    layers[layer].update += sums[norms_update];
    layers[layer].parameter += sums[norms_parameter];
  }
  for (auto& layer : layers) {
    layer = {std::sqrt(layer.gradient), std::sqrt(layer.update), std::sqrt(layer.parameter)};
  }
  return layers;
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

void AdapterOptimizer::require_finite(const std::vector<char>& state) const {
  const auto check = [&](TensorView values) {
    const char* at = state.data() + (values.as<char>() - state_.view().as<char>());
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      float value = 0;
      std::memcpy(&value, at + 4 * i, sizeof value);
      if (std::isfinite(value)) continue;
      throw Error(ErrorCode::numeric,
                  "The optimiser's state holds values that are not finite and is not saved", "",
                  "Go on from an earlier checkpoint, with a lower learning-rate");
    }
  };
  for (const AdamPart& part : parts_) {
    for (const TensorView& values :
         part.is_8bit ? std::array{part.eight.m_absmax, part.eight.v_absmax} : std::array{part.m, part.v})
      check(values);
  }
}

std::uint64_t AdapterOptimizer::bytes() const {
  return state_.view().bytes();
}

}  // namespace lorikeet

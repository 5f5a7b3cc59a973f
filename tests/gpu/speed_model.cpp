// SPDX-License-Identifier: Apache-2.0
// The model's numbers, its random weights and adapters, its steps; the operations are in speed_layers.cpp.
#include "tests/gpu/speed_model.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/random.h"
#include "tests/gpu/speed_state.h"

namespace lorikeet::speed {

std::array<std::array<std::int64_t, 2>, 7> ModelShape::linears() const {
  return {{{q_width(), hidden},
           {kv_width(), hidden},
           {kv_width(), hidden},
           {hidden, q_width()},
           {inner, hidden},
           {inner, hidden},
           {hidden, inner}}};
}

double ModelShape::linear_parameters() const {
  double sum = 0;
  for (const auto& [out, in] : linears()) sum += static_cast<double>(out * in);
  return sum * static_cast<double>(layers);
}

double ModelShape::lora_parameters(std::int64_t rank) const {
  double sum = 0;
  for (const auto& [out, in] : linears()) sum += static_cast<double>((out + in) * rank);
  return sum * static_cast<double>(layers);
}

double ModelShape::step_operations(double context, std::int64_t rank) const {
  const double n = linear_parameters(), head = head_parameters(), lora = lora_parameters(rank);
  const double down = static_cast<double>(inner * hidden * layers);
  const double attention = static_cast<double>(layers) * 2 * context * static_cast<double>(q_width());
  const double forward = 2 * n + 2 * head + 2 * lora + attention;
  const double backward = 2 * n + 2 * head + 4 * lora + 2.5 * attention;
  return forward + backward + 2 * (n - down) + 2 * lora + attention;
}

double ModelShape::decode_bytes(double position, std::int64_t rank) const {
  const double nf4 = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
  return nf4 * linear_parameters() + 2 * head_parameters() + 4 * lora_parameters(rank) +
         position * static_cast<double>(layers * kv_width()) * 4;
}

/// Normal numbers; big tensors repeat one block of a million.
Tensor SpeedModel::State::random(Shape extents, DType dtype, double scale, double mean) {
  Tensor tensor = backend.allocate(extents, dtype);
  const std::int64_t count = extents.elements(), block = std::min<std::int64_t>(count, 1 << 20);
  RandomStream stream({.seed = seed++, .use = RandomUse::test});
  std::vector<float> numbers(static_cast<std::size_t>(block));
  for (float& number : numbers) number = static_cast<float>(mean + scale * stream.next_normal());
  Tensor staged = backend.allocate({block}, DType::f32);
  backend.upload(staged, numbers.data());
  const TensorView flat = tensor.view().reshaped({count});
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t n = std::min(block, count - first);
    backend.copy(flat.row_range(first, n), staged.view().row_range(0, n));
  }
  return tensor;
}

Weight SpeedModel::State::nf4(std::int64_t out, std::int64_t in) {
  Weight weight;
  weight.format = WeightFormat::nf4;
  weight.out = out;
  weight.in = in;
  const auto bytes = [&](std::int64_t count) {
    Tensor tensor = backend.allocate({count}, DType::u8);
    RandomStream stream({.seed = seed++, .use = RandomUse::test});
    std::vector<std::uint8_t> codes(static_cast<std::size_t>(std::min<std::int64_t>(count, 1 << 20)));
    for (std::uint8_t& code : codes) code = static_cast<std::uint8_t>(stream.next_below(256));
    const auto block = static_cast<std::int64_t>(codes.size());
    for (std::int64_t first = 0; first < count; first += block)
      backend.upload(tensor.view().row_range(first, std::min(block, count - first)), codes.data());
    return tensor;
  };
  const std::int64_t blocks = (out * in + 63) / 64;
  weight.values = bytes((out * in + 1) / 2);
  weight.absmax = bytes(blocks);
  const double size = 1.5 / std::sqrt(static_cast<double>(in));
  weight.nested_absmax = random({(blocks + 255) / 256}, DType::f32, 0, 0.2 * size);
  weight.nested_offset = static_cast<float>(size);
  return weight;
}

void SpeedModel::State::make_adapter() {
  std::int64_t count = 0;
  for (const auto& [out, in] : shape.linears()) count += (out + in) * rank * shape.layers;
  parameters = random({count}, DType::f32, 0.01);
  gradients = backend.allocate({count}, DType::f32);
  adam_state = backend.allocate({2 * count + 8 * (count / 256 + 16 * shape.layers)}, DType::u8);
  backend.fill_zero(adam_state);
  std::int64_t at = 0, state_at = 0;
  const auto take = [&](std::int64_t n, std::int64_t columns, TensorView& value, TensorView& gradient) {
    value = parameters.view().row_range(at, n).reshaped({n / columns, columns});
    gradient = gradients.view().row_range(at, n).reshaped({n / columns, columns});
    AdamPart part{
        .offset = at, .count = n, .is_8bit = true, .decay_last = false, .m = {}, .v = {}, .eight = {}};
    const auto state = [&](DType dtype, std::int64_t elements) {
      TensorView view{adam_state.view().as<char>() + state_at, dtype, {elements}};
      state_at += elements * static_cast<std::int64_t>(size_of(dtype));
      return view;
    };
    part.eight = {state(DType::u8, n), state(DType::u8, n), {}, {}};
    state_at = (state_at + 3) / 4 * 4;
    part.eight.m_absmax = state(DType::f32, (n + 255) / 256);
    part.eight.v_absmax = state(DType::f32, (n + 255) / 256);
    parts.push_back(part);
    at += n;
  };
  for (Layer& layer : layers) {
    for (std::size_t i = 0; i < linear_count; ++i) {
      const auto [out, in] = shape.linears()[i];
      take(rank * in, in, layer.lora[i].a, layer.gradients[i].a);
      take(out * rank, rank, layer.lora[i].b, layer.gradients[i].b);
    }
  }
}

SpeedModel::SpeedModel(Backend& backend, ModelShape shape, std::int64_t rank)
    : state_(std::make_unique<State>(backend, std::move(shape), rank)) {
  State& s = *state_;
  const ModelShape& m = s.shape;
  s.embedding = s.random({m.vocabulary, m.hidden}, s.compute, 0.5);
  s.own_head.format = s.compute == DType::bf16 ? WeightFormat::bf16 : WeightFormat::f16;
  s.own_head.out = m.vocabulary;
  s.own_head.in = m.hidden;
  // A tied head is the embedding itself: its memory belongs to nobody here.
  class Borrowed final : public DeviceMemory {
    void deallocate(void*, std::size_t) noexcept override {}
  };
  static Borrowed borrowed;
  s.own_head.values =
      m.tied ? Tensor(&borrowed, s.embedding.view())
             : s.random({m.vocabulary, m.hidden}, s.compute, 1 / std::sqrt(static_cast<double>(m.hidden)));
  s.final_norm = s.random({m.hidden}, DType::f32, 0, 1);
  for (std::int64_t i = 0; i < m.layers; ++i) {
    Layer layer;
    for (std::size_t j = 0; j < linear_count; ++j) {
      layer.weights[j] = s.nf4(m.linears()[j][0], m.linears()[j][1]);
      layer.lora[j].scale = 1;
    }
    layer.norm_1 = s.random({m.hidden}, DType::f32, 0, 1);
    layer.norm_2 = s.random({m.hidden}, DType::f32, 0, 1);
    s.layers.push_back(std::move(layer));
  }
  s.make_adapter();
  s.sums = backend.allocate({2}, DType::f64);
  s.outcome = backend.allocate({outcome_count}, DType::f64);
  backend.fill_zero(s.outcome);
}

SpeedModel::~SpeedModel() {
  state_->backend.forget_repeats();
}

/// RoPE tables of `count` positions.
void SpeedModel::State::make_rows(std::int64_t count) {
  const std::int64_t half = shape.head_dim / 2;
  std::vector<float> c, s;
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
      c.push_back(static_cast<float>(std::cos(angle)));
      s.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  cosine = backend.allocate({count, half}, DType::f32);
  sine = backend.allocate({count, half}, DType::f32);
  backend.upload(cosine, c.data());
  backend.upload(sine, s.data());
}

void SpeedModel::prepare_training(std::int64_t sequences, std::int64_t length) {
  State& s = *state_;
  const ModelShape& m = s.shape;
  s.backend.forget_repeats();
  const std::int64_t t = s.tokens = sequences * length;
  s.make_rows(length);
  std::vector<std::int32_t> ids, targets, positions, starts;
  RandomStream stream({.seed = 5, .use = RandomUse::test});
  for (std::int64_t i = 0; i < t; ++i) {
    ids.push_back(static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(m.vocabulary))));
    targets.push_back(static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(m.vocabulary))));
    positions.push_back(static_cast<std::int32_t>(i % length));
  }
  for (std::int64_t i = 0; i <= sequences; ++i) starts.push_back(static_cast<std::int32_t>(i * length));
  const auto indices = [&](Tensor& tensor, const std::vector<std::int32_t>& values) {
    tensor = s.backend.allocate({static_cast<std::int64_t>(values.size())}, DType::i32);
    s.backend.upload(tensor, values.data());
  };
  indices(s.ids, ids);
  indices(s.targets, targets);
  indices(s.positions, positions);
  indices(s.cu_seqlens, starts);
  s.rows = {s.cu_seqlens, s.positions, sequences, length};
  const std::int64_t r = s.rank, q = m.q_width(), kv = m.kv_width();
  const auto wide = [&](std::int64_t width, std::int64_t ranks) {
    return Wide(s.backend, t, width, ranks, s.compute);
  };
  s.inputs.clear();
  for (std::int64_t i = 0; i <= m.layers; ++i)
    s.inputs.push_back(s.backend.allocate({t, m.hidden}, s.compute));
  for (Tensor& xa : s.xa) xa = s.backend.allocate({t, r}, s.compute);
  for (Layer& layer : s.layers) {
    for (std::size_t i = 0; i < linear_count; ++i) layer.lora[i].xa = s.xa[i];
  }
  s.norm = wide(m.hidden, 3 * r);
  s.attention = wide(q, r);
  s.middle_norm = wide(m.hidden, 2 * r);
  s.h = wide(m.inner, r);
  s.qkv = wide(q + 2 * kv, 3 * r);
  s.gate_up = wide(2 * m.inner, 2 * r);
  s.dx = wide(m.hidden, r);
  s.dqkv = wide(q + 2 * kv, 3 * r);
  s.dh = wide(m.inner, r);
  s.dattention = wide(q, r);
  s.middle = s.backend.allocate({t, m.hidden}, s.compute);
  s.dnorm = s.backend.allocate({t, m.hidden}, s.compute);
  s.head_norm = s.backend.allocate({t, m.hidden}, s.compute);
  s.head_gradient = s.backend.allocate({t, m.hidden}, s.compute);
  s.lse = s.backend.allocate({t, m.heads}, DType::f32);
  for (Tensor* rstd : {&s.rstd_1, &s.rstd_2, &s.rstd_final}) *rstd = s.backend.allocate({t}, DType::f32);
}

void SpeedModel::step() {
  State& s = *state_;
  s.backend.repeat(1, [&s] {
    s.backend.fill_zero(s.gradients);
    s.backend.embedding_forward(s.embedding, s.ids, s.inputs[0]);
    for (std::size_t i = 0; i < s.layers.size(); ++i) s.layer_forward(i, s.inputs[i], s.inputs[i + 1]);
    s.head(s.inputs.back());
    for (std::size_t i = s.layers.size(); i-- > 0;) s.layer_backward(i, s.inputs[i]);
  });
  AdamStep numbers;
  numbers.learning_rate = 1e-4f;
  numbers.step = ++s.steps;
  s.backend.guarded_adamw(s.parameters, s.gradients, s.parts, numbers, 1, s.sums.view().row_range(0, 1),
                          s.outcome);
}

double SpeedModel::loss() {
  double sums[2] = {};
  state_->backend.download(sums, state_->sums);
  return sums[0] / static_cast<double>(state_->tokens);
}

void SpeedModel::prepare_chat(std::int64_t context) {
  prepare_training(1, 1);
  State& s = *state_;
  s.make_rows(context);
  s.context = context;
  s.k_cache.clear();
  s.v_cache.clear();
  for (std::int64_t i = 0; i < s.shape.layers; ++i) {
    for (auto* cache : {&s.k_cache, &s.v_cache}) {
      cache->push_back(s.backend.allocate({context, s.shape.kv_width()}, s.compute));
      s.backend.fill_zero(cache->back());
    }
  }
  s.logits = s.backend.allocate({1, s.shape.vocabulary}, DType::f32);
}

void SpeedModel::decode(std::int64_t position) {
  State& s = *state_;
  const auto at = static_cast<std::int32_t>(position);
  s.backend.upload(s.positions, &at);
  // The bound of the context is part of a recording: one for each 256 positions.
  const std::int64_t limit = std::min(s.context, position / 256 * 256 + 256);
  SamplingRule greedy;
  greedy.greedy = true;
  s.backend.repeat(static_cast<std::uint64_t>(1000 + limit), [&s, &greedy, limit] {
    s.backend.embedding_forward(s.embedding, s.ids, s.inputs[0]);
    for (std::size_t i = 0; i < s.layers.size(); ++i) s.chat_layer(i, s.inputs[i], s.inputs[i + 1], limit);
    s.backend.rms_norm_forward(s.inputs.back(), s.final_norm, 1e-5f, s.head_norm, s.rstd_final);
    s.backend.head_logits(s.head_norm, s.head_weight(), s.logits);
    const TensorView no_ids{nullptr, DType::i32, {0}};
    s.backend.sample(s.logits.view().reshaped({s.shape.vocabulary}), no_ids, greedy, 0, s.ids);
  });
}

std::int32_t SpeedModel::last_token() {
  std::int32_t token = -1;
  state_->backend.download(&token, state_->ids);
  return token;
}

}  // namespace lorikeet::speed

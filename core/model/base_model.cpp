// SPDX-License-Identifier: Apache-2.0
#include "core/model/base_model.h"

#include <cmath>
#include <numbers>

#include "core/model/storage.h"
#include "core/model/weight_source.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Loads the tensors of one model, one after the other.
class Loader {
 public:
  Loader(Backend& backend, const WeightSource& source, std::stop_token stop,
         const BaseModel::Progress& progress)
      : backend_(backend), source_(source), stop_(std::move(stop)), progress_(progress) {
    for (const auto& tensor : source.tensors()) total_ += tensor.bytes.size();
  }

  Weight matrix(const std::string& name, std::int64_t out, std::int64_t in, WeightFormat format,
                bool has_bias = false) {
    const SourceTensor& tensor = need(name + ".weight", {out, in});
    Weight weight = make_weight(backend_, format, out, in, reader(tensor), name + ".weight");
    finish(tensor);
    if (has_bias) weight.bias = vector(name + ".bias", out);
    return weight;
  }

  Tensor vector(const std::string& name, std::int64_t length) {
    const SourceTensor& tensor = need(name, {length});
    std::vector<float> values(static_cast<std::size_t>(length));
    read_elements(tensor, 0, values);
    for (const float value : values) {
      if (!std::isfinite(value))
        throw Error(ErrorCode::numeric, "The tensor holds a value that is not finite", name);
    }
    Tensor result = backend_.allocate({length}, DType::f32);
    backend_.upload(result, values.data());
    finish(tensor);
    return result;
  }

 private:
  const SourceTensor& need(const std::string& name, const std::vector<std::int64_t>& shape) const {
    if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "Loading was stopped");
    return require_tensor(source_, name, shape);
  }

  static ElementReader reader(const SourceTensor& tensor) {
    return [&tensor](std::int64_t first, std::span<float> out) { read_elements(tensor, first, out); };
  }

  void finish(const SourceTensor& tensor) {
    source_.forget(tensor);
    done_ += tensor.bytes.size();
    if (progress_) progress_(done_, total_);
  }

  Backend& backend_;
  const WeightSource& source_;
  std::stop_token stop_;
  const BaseModel::Progress& progress_;
  std::uint64_t done_ = 0, total_ = 0;
};

}  // namespace

BaseModel BaseModel::load(Backend& backend, const ModelSpec& spec, const WeightSource& source,
                          WeightFormat linear, WeightFormat wide, std::stop_token stop,
                          const Progress& progress) {
  Loader loader(backend, source, std::move(stop), progress);
  BaseModel model;
  model.backend_ = &backend;
  model.spec_ = spec;
  const std::int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  model.embedding_ = loader.matrix("model.embed_tokens", spec.vocab_size, hidden, wide);
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const bool attention_bias = spec.attention_bias, mlp_bias = spec.mlp_bias;
    LayerWeights weights;
    weights.input_norm = loader.vector(layer + "input_layernorm.weight", hidden);
    weights.q = loader.matrix(layer + "self_attn.q_proj", query, hidden, linear, attention_bias);
    weights.k = loader.matrix(layer + "self_attn.k_proj", key, hidden, linear, attention_bias);
    weights.v = loader.matrix(layer + "self_attn.v_proj", key, hidden, linear, attention_bias);
    weights.o = loader.matrix(layer + "self_attn.o_proj", hidden, query, linear, attention_bias);
    weights.post_attention_norm = loader.vector(layer + "post_attention_layernorm.weight", hidden);
    weights.gate = loader.matrix(layer + "mlp.gate_proj", inner, hidden, linear, mlp_bias);
    weights.up = loader.matrix(layer + "mlp.up_proj", inner, hidden, linear, mlp_bias);
    weights.down = loader.matrix(layer + "mlp.down_proj", hidden, inner, linear, mlp_bias);
    model.layers_.push_back(std::move(weights));
  }
  model.final_norm_ = loader.vector("model.norm.weight", hidden);
  if (!spec.tied_head) model.head_ = loader.matrix("lm_head", spec.vocab_size, hidden, wide);
  return model;
}

std::uint64_t BaseModel::bytes() const {
  std::uint64_t total = embedding_.bytes() + head_.bytes() + final_norm_.view().bytes();
  total += rope_cosine_.view().bytes() + rope_sine_.view().bytes();
  for (const auto& layer : layers_) {
    for (const Weight* weight :
         {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down}) {
      total += weight->bytes();
    }
    total += layer.input_norm.view().bytes() + layer.post_attention_norm.view().bytes();
  }
  return total;
}

TensorView BaseModel::embedding() const {
  return embedding_.values;
}

const Weight& BaseModel::head() const {
  return spec_.tied_head ? embedding_ : head_;
}

void BaseModel::prepare_positions(std::int64_t positions, double linear_factor) {
  if (rope_cosine_ && rope_cosine_.view().rows() >= positions && linear_factor == linear_factor_) return;
  const auto frequencies = rope_inverse_frequencies(spec_.rope, linear_factor);
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  std::vector<float> cosine(static_cast<std::size_t>(positions * pairs)), sine(cosine.size());
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      // The angle is rounded to f32 as Hugging Face does; at far positions that is the angle the model was
      // trained with.
      const float angle = static_cast<float>(position) * frequencies[static_cast<std::size_t>(pair)];
      const auto at = static_cast<std::size_t>(position * pairs + pair);
      cosine[at] = static_cast<float>(std::cos(static_cast<double>(angle)));
      sine[at] = static_cast<float>(std::sin(static_cast<double>(angle)));
    }
  }
  // Where memory runs out the tables of before stay, both of them.
  Tensor cosine_table = backend_->allocate({positions, pairs}, DType::f32);
  Tensor sine_table = backend_->allocate({positions, pairs}, DType::f32);
  backend_->upload(cosine_table, cosine.data());
  backend_->upload(sine_table, sine.data());
  backend_->forget_repeats();  // they name the tables that go now
  rope_cosine_ = std::move(cosine_table);
  rope_sine_ = std::move(sine_table);
  linear_factor_ = linear_factor;
}

std::vector<float> rope_inverse_frequencies(const RopeSpec& rope, double linear_factor) {
  std::vector<float> frequencies(static_cast<std::size_t>(rope.rotary_dim / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(rope.rotary_dim);
    double frequency = static_cast<float>(1.0 / std::pow(rope.theta, exponent));
    if (rope.kind == RopeSpec::Kind::linear) frequency /= rope.factor;
    if (rope.kind == RopeSpec::Kind::llama3) {
      const double wavelength = 2.0 * std::numbers::pi / frequency;
      const auto original = static_cast<double>(rope.original_context);
      if (wavelength > original / rope.low_freq_factor) {
        frequency /= rope.factor;
      } else if (wavelength >= original / rope.high_freq_factor) {
        const double smooth =
            (original / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
        frequency = (1.0 - smooth) * frequency / rope.factor + smooth * frequency;
      }
    }
    if (!rope.divisors.empty()) frequency /= static_cast<double>(rope.divisors[i]);
    frequencies[i] = static_cast<float>(frequency / linear_factor);
  }
  return frequencies;
}

}  // namespace lorikeet

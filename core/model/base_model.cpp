// SPDX-License-Identifier: Apache-2.0
#include "core/model/base_model.h"

#include <cmath>

#include "core/model/rope.h"
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

  /// The layer's weights into the roles they have. Rows that cannot be lent because quantised blocks cross
  /// their boundary are quantised by themselves.
  void linear(const std::string& layer, const LinearModule& module, WeightFormat format,
              LayerWeights& weights) {
    const std::string name = layer + module.name;
    if (module.rows.size() == 1) {
      weights.linear[module.rows[0].role] = matrix(name, module.out, module.in, format, module.bias);
      return;
    }
    bool lends = true;
    for (const LinearRows& rows : module.rows)
      lends = lends && is_row_boundary(format, module.in, rows.first);
    if (lends) {
      const Weight& whole =
          weights.fused.emplace_back(matrix(name, module.out, module.in, format, module.bias));
      for (const LinearRows& rows : module.rows)
        weights.linear[rows.role] = rows_of(whole, rows.first, rows.count);
      return;
    }
    const SourceTensor& tensor = need(name + ".weight", {module.out, module.in});
    for (const LinearRows& rows : module.rows) {
      const auto read = [&](std::int64_t first, std::span<float> out) {
        read_elements(tensor, rows.first * module.in + first, out);
      };
      weights.linear[rows.role] =
          make_weight(backend_, format, rows.count, module.in, read, name + ".weight");
      if (module.bias)
        weights.linear[rows.role].bias = vector(name + ".bias", module.out, rows.first, rows.count);
    }
    finish(tensor);
  }

  NormWeights norm(const std::string& name, std::int64_t width, NormKind kind) {
    NormWeights result;
    result.weight = vector(name + ".weight", width);
    if (kind == NormKind::layer) result.bias = vector(name + ".bias", width);
    return result;
  }

  Tensor vector(const std::string& name, std::int64_t length) { return vector(name, length, 0, length); }

  /// Numbers [first, first + count) of a tensor of one dimension.
  Tensor vector(const std::string& name, std::int64_t length, std::int64_t first, std::int64_t count) {
    const SourceTensor& tensor = need(name, {length});
    std::vector<float> values(static_cast<std::size_t>(count));
    read_elements(tensor, first, values);
    for (const float value : values) {
      if (!std::isfinite(value))
        throw Error(ErrorCode::numeric, "The tensor holds a value that is not finite", name);
    }
    Tensor result = backend_.allocate({count}, DType::f32);
    backend_.upload(result, values.data());
    if (first + count == length) finish(tensor);
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
  const std::int64_t hidden = spec.hidden_size;
  model.embedding_ = loader.matrix("model.embed_tokens", spec.vocab_size, hidden, wide);
  const std::vector<LinearModule> modules = linear_modules(spec);
  const std::vector<NormModule> norms = norm_modules(spec);
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    LayerWeights weights;
    for (const NormModule& norm : norms)
      weights.norms[norm.role] = loader.norm(layer + norm.name, norm.width, spec.norm);
    for (const LinearModule& module : modules) loader.linear(layer, module, linear, weights);
    model.layers_.push_back(std::move(weights));
  }
  model.final_norm_ = loader.norm(final_norm_name(spec), hidden, spec.norm);
  if (!spec.tied_head) model.head_ = loader.matrix("lm_head", spec.vocab_size, hidden, wide, spec.head_bias);
  return model;
}

std::uint64_t LayerWeights::bytes() const {
  std::uint64_t total = 0;
  // Of fused layers the whole matrix counts, not the rows that are lent.
  std::array<bool, linear_count> lent{};
  for (const Weight& whole : fused) {
    total += whole.bytes();
    const char* first = whole.values.view().as<char>();
    for (std::size_t which = 0; which < linear_count; ++which) {
      const char* at = linear[which].values.view().as<char>();
      if (at >= first && at < first + whole.values.view().bytes()) lent[which] = true;
    }
  }
  for (std::size_t which = 0; which < linear_count; ++which) total += lent[which] ? 0 : linear[which].bytes();
  for (const NormWeights& norm : norms) total += norm.weight.view().bytes() + norm.bias.view().bytes();
  return total;
}

std::uint64_t BaseModel::bytes() const {
  std::uint64_t total = embedding_.bytes() + head_.bytes();
  total += final_norm_.weight.view().bytes() + final_norm_.bias.view().bytes();
  total += rope_cosine_.view().bytes() + rope_sine_.view().bytes();
  for (const LayerWeights& layer : layers_) total += layer.bytes();
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
  const auto frequencies = rope_inverse_frequencies(spec_.rope, positions, linear_factor);
  const auto pairs = static_cast<std::int64_t>(frequencies.size());
  std::vector<float> cosine(static_cast<std::size_t>(positions * pairs)), sine(cosine.size());
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      // The angle is rounded to f32 as Hugging Face does; at far positions that is the angle the model was
      // trained with.
      const float angle = static_cast<float>(position) * frequencies[static_cast<std::size_t>(pair)];
      const auto at = static_cast<std::size_t>(position * pairs + pair);
      cosine[at] = static_cast<float>(std::cos(static_cast<double>(angle)) * spec_.rope.attention_factor);
      sine[at] = static_cast<float>(std::sin(static_cast<double>(angle)) * spec_.rope.attention_factor);
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

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/model/adapter_start.h"

#include <algorithm>

#include "core/model/dora.h"
#include "core/model/lora_adapter.h"
#include "core/model/storage.h"
#include "core/model/truncated_svd.h"
#include "core/model/weight_source.h"
#include "core/train/settings.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// What quantisation took from a linear layer: the source's numbers less those the base has.
Weight lost_part(BaseModel& model, const LoraModule& module, const SourceTensor& from) {
  Backend& backend = model.backend();
  const LayerWeights& layer = model.layers()[static_cast<std::size_t>(module.layer)];
  std::vector<float> stored;
  const auto read = [&](std::int64_t first, std::span<float> to) {
    read_elements(from, first, to);
    const auto end = first + static_cast<std::int64_t>(to.size());
    for (const LinearRows& rows : module.rows) {  // of a fused layer the base has several weights
      const std::int64_t row = std::max(first / module.in, rows.first);
      const std::int64_t last = std::min((end - 1) / module.in + 1, rows.first + rows.count);
      if (row >= last) continue;
      const Tensor device = backend.allocate({last - row, module.in}, DType::f32);
      backend.dequantize_rows(linear_weight(layer, rows.role), row - rows.first, device);
      stored.resize(static_cast<std::size_t>(device.view().elements()));
      backend.download(stored.data(), device);
      for (std::int64_t at = std::max(first, row * module.in); at < std::min(end, last * module.in); ++at)
        to[static_cast<std::size_t>(at - first)] -= stored[static_cast<std::size_t>(at - row * module.in)];
    }
  };
  return make_weight(backend, WeightFormat::f32, module.out, module.in, read, from.name);
}

void start_module(BaseModel& model, const LoraModule& module, const WeightSource& source, std::uint64_t seed,
                  const std::function<void()>& between) {
  Backend& backend = model.backend();
  const std::string name = "model.layers." + std::to_string(module.layer) + "." + module.name + ".weight";
  const SourceTensor& from = require_tensor(source, name, {module.out, module.in});
  const Weight lost = lost_part(model, module, from);
  source.forget(from);
  const std::int64_t rank = std::min(module.rank, std::min(module.out, module.in));
  const TruncatedSvd svd = truncated_svd(backend, lost, rank, seed, between);
  // Rows of A that nothing was lost in keep their random start, or they would never learn.
  std::vector<float> a(static_cast<std::size_t>(module.a.elements())),
      b(static_cast<std::size_t>(module.b.elements()));
  backend.download(a.data(), module.a);
  for (std::int64_t r = 0; r < rank; ++r) {
    if (svd.singular[static_cast<std::size_t>(r)] <= 1e-12 * svd.singular.front()) continue;
    for (std::int64_t k = 0; k < module.in; ++k) {
      const auto at = static_cast<std::size_t>(r * module.in + k);
      a[at] = static_cast<float>(svd.a[at]);
    }
    for (std::int64_t j = 0; j < module.out; ++j) {
      b[static_cast<std::size_t>(j * module.rank + r)] =
          static_cast<float>(svd.b[static_cast<std::size_t>(j * rank + r)]);
    }
  }
  backend.upload(module.a, a.data());
  backend.upload(module.b, b.data());
}

}  // namespace

void start_adapter(BaseModel& model, LoraAdapter& adapter, const WeightSource& source,
                   const Settings& settings, const std::function<void()>& between,
                   const std::function<void(std::int64_t done, std::int64_t total)>& progress) {
  if (settings.init == "loftq") {
    require_loftq(source, model.spec(), settings);
    const auto total = static_cast<std::int64_t>(adapter.modules().size());
    for (std::int64_t i = 0; i < total; ++i) {
      start_module(model, adapter.modules()[static_cast<std::size_t>(i)], source,
                   settings.seed + static_cast<std::uint64_t>(i), between);
      if (progress) progress(i + 1, total);
    }
  }
  start_magnitudes(model, adapter);
}

void require_loftq(const WeightSource& source, const ModelSpec& spec, const Settings& settings) {
  if (settings.init != "loftq") return;
  if (settings.quantization == "none") {
    throw Error(ErrorCode::unsupported,
                "init loftq makes up for what quantisation loses, and nothing is quantised", "init",
                "Set quantization to nf4, or leave init at default");
  }
  for (const LinearModule& module : linear_modules(spec)) {
    const std::string name = "model.layers.0." + module.name + ".weight";
    const SourceTensor& tensor = require_tensor(source, name, {module.out, module.in});
    if (tensor.type == StorageType::f32 || tensor.type == StorageType::f16 ||
        tensor.type == StorageType::bf16)
      continue;
    throw Error(ErrorCode::unsupported,
                "init loftq needs the base in 16 or 32 bits; this one is quantised already (" + tensor.dtype +
                    "), and what that lost is not known",
                source.path() + ": " + name, "Take the 16-bit base, or leave init at default");
  }
}

void require_fitting_base(const AdapterNotes& notes, const std::string& quantization,
                          const std::string& folder) {
  if (notes.init != "loftq" || notes.quantization == quantization) return;
  throw Error(ErrorCode::invalid_argument,
              "This adapter was started by LoftQ and fits its base quantised to " + notes.quantization +
                  ", not to " + quantization,
              folder, "Set quantization to " + notes.quantization);
}

}  // namespace lorikeet

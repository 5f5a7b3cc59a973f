// SPDX-License-Identifier: Apache-2.0
// W + scale * B A for every adapted layer, with DoRA m / norm o (W + scale * B A), the norm of each row of
// that sum: in f32 from the base as stored, rounded once to the target type. Goes through each matrix in
// blocks of rows, so memory stays at a few MiB and one module's A and B.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/base/atomic_folder.h"
#include "core/base/files.h"
#include "core/model/adapter_tensors.h"
#include "core/model/check_model.h"
#include "core/model/compute_choice.h"
#include "core/model/storage.h"
#include "core/model/weight_source.h"
#include "core/publish/export.h"
#include "core/publish/export_files.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/base/half.h"

namespace lorikeet {
namespace {

constexpr std::int64_t block_elements_wanted = 1 << 20;
constexpr std::uint64_t spare_disk_bytes = 64u << 20;

/// One module's low-rank pair on the host.
struct LowRank {
  std::int64_t rank = 0, in = 0;
  float scale = 1;
  std::vector<float> a, b;  ///< (r,in), (out,r)
  std::vector<float> m;     ///< [out], DoRA's magnitudes; empty without them

  /// Changes the rows [first, first + count) of the weight, `rows`, as the adapter does; gives the largest
  /// change.
  double add_rows(std::int64_t first, std::int64_t count, float* rows) const {
    double largest = 0;
#pragma omp parallel reduction(max : largest)
    {
      std::vector<float> delta(static_cast<std::size_t>(in));
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < count; ++i) {
        std::fill(delta.begin(), delta.end(), 0.0f);
        for (std::int64_t r = 0; r < rank; ++r) {
          const float factor = b[static_cast<std::size_t>((first + i) * rank + r)];
          const float* from = a.data() + r * in;
          for (std::int64_t k = 0; k < in; ++k) delta[static_cast<std::size_t>(k)] += factor * from[k];
        }
        float* row = rows + i * in;
        const double gain = gain_of(first + i, row, delta);
        for (std::int64_t k = 0; k < in; ++k) {
          const float change = scale * delta[static_cast<std::size_t>(k)];
          const float merged = static_cast<float>(gain * static_cast<double>(row[k] + change));
          largest = std::max(largest, static_cast<double>(std::abs(merged - row[k])));
          row[k] = merged;
        }
      }
    }
    return largest;
  }

 private:
  /// m / norm of a row of W + scale * B A; 1 without magnitudes, 0 where the norm is 0 as in training.
  double gain_of(std::int64_t j, const float* row, const std::vector<float>& delta) const {
    if (m.empty()) return 1;
    double squares = 0;
    for (std::int64_t k = 0; k < in; ++k) {
      const double value =
          static_cast<double>(row[k]) + static_cast<double>(scale * delta[static_cast<std::size_t>(k)]);
      squares += value * value;
    }
    return squares == 0 ? 0 : static_cast<double>(m[static_cast<std::size_t>(j)]) / std::sqrt(squares);
  }
};

/// Rounds to the bytes of a safetensors type.
std::vector<std::byte> rounded(std::span<const float> values, const std::string& dtype,
                               const std::string& where) {
  const bool wide = dtype == "F32";
  std::vector<std::byte> bytes(values.size() * (wide ? 4 : 2));
  bool finite = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float back = values[i];
    if (wide) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else {
      const std::uint16_t bits = dtype == "F16" ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
      back = dtype == "F16" ? f16_to_f32(bits) : bf16_to_f32(bits);
    }
    finite = finite && std::isfinite(back);
  }
  if (!finite) {
    throw Error(ErrorCode::numeric, "A merged weight is too large for the type or not finite", where,
                dtype == "F16" ? "Export as bf16 or f32" : "");
  }
  return bytes;
}

/// Writes the merged weights shard by shard.
class Merger {
 public:
  Merger(const ExportRequest& request, const ExportFiles& files, std::stop_token stop,
         const ExportProgress& progress)
      : dtype_(merged_dtype(request.type)),
        source_(open_weight_source(request.model_path)),
        adapter_(request.adapter_path, files.spec, files.config),
        dora_(files.config.dora),
        loftq_(files.notes.init == "loftq"),
        quantization_(files.notes.quantization),
        stop_(std::move(stop)),
        progress_(progress) {
    for (const AdapterModule& module : adapter_.modules()) modules_[module.path() + ".weight"] = &module;
    for (const auto& shard : files.shards) total_ += static_cast<std::int64_t>(shard.layout.tensors.size());
  }

  void write(const std::string& path, const SafetensorsLayout& layout) {
    SafetensorsWriter writer(path, layout);
    for (const SafetensorsEntry& tensor : layout.tensors) {
      write_tensor(tensor, writer);
      if (progress_) progress_(++done_, total_);
    }
    writer.commit();
  }

  /// Merges some rows of one tensor of each kind: of layer 3's q_proj as of layer 0's.
  void try_one_of_each(const SafetensorsLayout& layout, const std::function<void()>& between) {
    constexpr std::int64_t most_rows = 64;
    for (const SafetensorsEntry& tensor : layout.tensors) {
      std::string kind = tensor.name;
      std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
      if (!tried_.insert(kind).second) continue;
      if (between) between();
      const SourceTensor& from = require_tensor(*source_, tensor.name, tensor.shape);
      const LowRank change = low_rank(tensor.name);
      const Weight stored = loftq_ && change.rank > 0 ? quantised(from) : Weight{};
      merged_rows(from, change, stored, 0, std::min(most_rows, from.shape[0]));
      source_->forget(from);
    }
  }

  /// An adapter that changes no weight means that something went wrong before.
  void require_change() const {
    if (largest_change_ > 0) return;
    throw Error(ErrorCode::numeric, "The adapter changes nothing: all its B matrices are zero", "",
                "Check that it was saved after training");
  }

 private:
  void write_tensor(const SafetensorsEntry& tensor, SafetensorsWriter& writer) {
    const SourceTensor& from = require_tensor(*source_, tensor.name, tensor.shape);
    const std::int64_t rows = from.shape[0], columns = from.elements() / rows;
    const LowRank change = low_rank(tensor.name);
    const bool as_quantised = loftq_ && change.rank > 0;
    const Weight stored = as_quantised ? quantised(from) : Weight{};
    const std::int64_t step = std::max<std::int64_t>(1, block_elements_wanted / columns);
    for (std::int64_t first = 0; first < rows; first += step) {
      if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "The export was stopped");
      writer.write(merged_rows(from, change, stored, first, std::min(step, rows - first)));
    }
    source_->forget(from);
  }

  Weight quantised(const SourceTensor& from) {
    if (!quantizer_) quantizer_ = make_backend({.device = "cpu"});
    const auto read = [&](std::int64_t first, std::span<float> to) { read_elements(from, first, to); };
    return make_weight(*quantizer_, linear_format(quantization_, DType::f32), from.shape[0], from.shape[1],
                       read, from.name);
  }

  /// Rows [first, first + count) of a weight with its change; `stored` is the weight as training saw it where
  /// that counts, else empty.
  std::vector<std::byte> merged_rows(const SourceTensor& from, const LowRank& change, const Weight& stored,
                                     std::int64_t first, std::int64_t count) {
    const std::int64_t columns = from.elements() / from.shape[0];
    std::vector<float> values(static_cast<std::size_t>(count * columns));
    if (stored.values) {
      const Tensor some = quantizer_->allocate({count, columns}, DType::f32);
      quantizer_->dequantize_rows(stored, first, some);
      quantizer_->download(values.data(), some);
    } else {
      read_elements(from, first * columns, values);
    }
    if (change.rank > 0)
      largest_change_ = std::max(largest_change_, change.add_rows(first, count, values.data()));
    return rounded(values, dtype_, from.name);
  }

  LowRank low_rank(const std::string& tensor) const {
    const auto found = modules_.find(tensor);
    if (found == modules_.end()) return {};
    const AdapterModule& module = *found->second;
    LowRank change{module.rank,
                   module.in,
                   static_cast<float>(module.scale),
                   adapter_.read(module, 'A'),
                   adapter_.read(module, 'B'),
                   {}};
    if (dora_) change.m = adapter_.read(module, 'M');
    return change;
  }

  std::string dtype_;
  std::unique_ptr<WeightSource> source_;
  AdapterTensors adapter_;
  bool dora_;
  bool loftq_;  ///< the adapter fits the base as it was quantised, so that is what it is merged into
  std::string quantization_;
  std::unique_ptr<Backend> quantizer_;
  std::map<std::string, const AdapterModule*> modules_;  ///< by the name of the weight they change
  std::stop_token stop_;
  const ExportProgress& progress_;
  std::int64_t done_ = 0, total_ = 0;
  double largest_change_ = 0;
  std::set<std::string> tried_;
};

void require_disk(const ExportRequest& request, std::uint64_t needed) {
  const std::uint64_t free = disk_free_bytes(request.out);
  if (needed + spare_disk_bytes <= free) return;
  throw Error(ErrorCode::disk_full,
              "The export needs " + std::to_string((needed + spare_disk_bytes) >> 20) +
                  " MiB, the disk has " + std::to_string(free >> 20) + " MiB free",
              request.out, "Free some space or choose another disk");
}

}  // namespace

std::uint64_t rehearse_export(const ExportRequest& request, const std::function<void()>& between) {
  const ExportFiles files = lay_out_export(request);
  if (request.kind == "merged") {
    const ExportProgress none;
    Merger merger(request, files, {}, none);
    for (const ExportFiles::Shard& shard : files.shards) merger.try_one_of_each(shard.layout, between);
  } else {
    AdapterTensors(request.adapter_path, files.spec, files.config);
  }
  return files.bytes();
}

void run_export(const ExportRequest& request, std::stop_token stop, const ExportProgress& progress) {
  const ExportFiles files = lay_out_export(request);
  require_disk(request, files.bytes());
  AtomicFolder target(request.out);
  if (request.kind == "merged") {
    Merger merger(request, files, stop, progress);
    for (const ExportFiles::Shard& shard : files.shards)
      merger.write(target.folder() + "/" + shard.name, shard.layout);
    merger.require_change();
  } else {
    AdapterTensors(request.adapter_path, files.spec, files.config);
  }
  for (const auto& [name, content] : files.texts)
    write_file_atomically(target.folder() + "/" + name, content);
  for (const auto& [name, from] : files.copies) {
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "The export was stopped");
    copy_file_synced(from, target.folder() + "/" + name);
  }
  if (request.kind == "merged") {
    // What stands on the disk now has to be a whole model by our own reading.
    const ModelSpec written = read_model_spec(target.folder());
    require_complete_model(written, *open_weight_source(target.folder()));
  }
  target.commit(false);
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "core/model/model_files.h"
#include "core/model/safetensors.h"
#include "core/model/weight_source.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// A folder of safetensors files.
class HfSource : public WeightSource {
 public:
  explicit HfSource(ModelFiles files) : files_(std::move(files)) {
    shards_.reserve(files_.weights.size());
    for (const std::string& path : files_.weights) {
      shards_.emplace_back(path);
      add(shards_.back());
    }
    check_index();
  }

  const std::string& path() const override { return files_.path; }
  const std::vector<SourceTensor>& tensors() const override { return tensors_; }
  const SourceTensor* find(const std::string& name) const override {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second.tensor];
  }
  void forget(const SourceTensor& tensor) const override {
    const auto found = by_name_.find(tensor.name);
    if (found == by_name_.end()) return;
    const SafetensorsFile& shard = shards_[found->second.shard];
    if (const SafetensorsEntry* entry = shard.find(tensor.name)) shard.forget(*entry);
  }

 private:
  struct Place {
    std::size_t tensor = 0, shard = 0;
  };

  void add(const SafetensorsFile& shard) {
    for (const SafetensorsEntry& entry : shard.tensors()) {
      const auto [place, fresh] =
          by_name_.try_emplace(entry.name, Place{tensors_.size(), shards_.size() - 1});
      if (!fresh) {
        throw Error(ErrorCode::bad_format, "A tensor stands in two files",
                    entry.name + " in " + shards_[place->second.shard].path() + " and " + shard.path());
      }
      SourceTensor tensor;
      tensor.name = entry.name;
      tensor.type = storage_type_of(entry.dtype->name);
      tensor.dtype = entry.dtype->name;
      tensor.shape = entry.shape;
      tensor.bytes = shard.bytes(entry);
      tensors_.push_back(std::move(tensor));
    }
  }

  /// The index and the shards have to name the same tensors in the same files.
  void check_index() const {
    if (files_.index.empty()) return;
    for (const auto& [tensor, file] : files_.index) {
      const auto found = by_name_.find(tensor);
      if (found == by_name_.end() || shards_[found->second.shard].path() != files_.path + "/" + file) {
        throw Error(ErrorCode::bad_format, "The index names a tensor that its file lacks",
                    files_.path + "/" + file + ": " + tensor);
      }
    }
    for (const SourceTensor& tensor : tensors_) {
      if (files_.index.count(tensor.name)) continue;
      throw Error(ErrorCode::bad_format, "A file holds a tensor that the index lacks",
                  files_.path + ": " + tensor.name);
    }
  }

  ModelFiles files_;
  std::vector<SafetensorsFile> shards_;
  std::vector<SourceTensor> tensors_;
  std::unordered_map<std::string, Place> by_name_;
};

}  // namespace

std::unique_ptr<WeightSource> open_hf_folder(ModelFiles files) {
  return std::make_unique<HfSource>(std::move(files));
}

}  // namespace lorikeet

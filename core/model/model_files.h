// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace lorikeet {

class WeightSource;

/// The files a model path stands for.
struct ModelFiles {
  enum class Kind : std::uint8_t { folder, gguf };
  Kind kind = Kind::folder;
  std::string path;                  ///< the folder, or the .gguf file
  std::vector<std::string> weights;  ///< paths of the weight files, sorted
  std::map<std::string, std::string>
      index;                         ///< tensor → file name within the folder; empty when there is one file
  std::vector<std::string> ignored;  ///< weight files that lie there and are not read, by name
};

/// Finds what to read for a path: a folder with config.json and safetensors (the index decides when there is
/// one), a GGUF file, or a folder with a single GGUF file and no config.json. Throws Error: not_found,
/// bad_format (an adapter, a hostile or incomplete index), unsupported (only pickle weights).
ModelFiles locate_model(const std::string& path);

/// A name for people that is no path of this machine: "org/name" inside a Hugging Face cache, else the
/// folder's or the file's name.
std::string model_name(const std::string& path);

/// Whether a file begins with GGUF's magic bytes; false when it cannot be read.
bool is_gguf_file(const std::string& path);

/// Files beside the weights of a model folder that belong to it, by name, sorted: configuration and
/// tokenizer.
std::vector<std::string> companion_files(const std::string& folder);
/// Licence, notice and use-policy files of a model folder, by name, sorted.
std::vector<std::string> licence_files(const std::string& folder);

/// Weights of a folder found by locate_model. Checks that the index and the shards agree both ways.
std::unique_ptr<WeightSource> open_hf_folder(ModelFiles files);
/// Weights of a GGUF file under Hugging Face names.
std::unique_ptr<WeightSource> open_gguf_weights(const std::string& path);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/model/model_files.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/foreign_file.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_index_bytes = 32u << 20;
constexpr const char* index_name = "model.safetensors.index.json";

std::vector<std::string> file_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  }
  if (error) throw system_error("Cannot list", folder, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && std::string_view(text).substr(text.size() - end.size()) == end;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// tensor → file of the index, with every file name checked: it comes from a stranger.
std::map<std::string, std::string> read_index(const std::string& path) {
  JsonLimits limits;
  limits.refuse_duplicate_keys = true;
  const Json json = read_json_file(path, max_index_bytes, limits);
  const auto found = json.is_object() ? json.find("weight_map") : json.end();
  if (found == json.end() || !found->is_object() || found->empty()) {
    throw Error(ErrorCode::bad_format, "The index has no weight_map", path);
  }
  std::map<std::string, std::string> index;
  for (const auto& [tensor, file] : found->items()) {
    const std::string where = path + ": weight_map: " + tensor;
    if (!file.is_string()) throw Error(ErrorCode::bad_format, "Expected a file name", where);
    const auto name = file.get<std::string>();
    if (!is_safe_relative_name(name) || name.find('/') != std::string::npos ||
        !ends_with(name, ".safetensors")) {
      throw Error(ErrorCode::bad_format,
                  "\"" + name + "\" is not the name of a safetensors file of this folder", where);
    }
    index.emplace_hint(index.end(), tensor, name);
  }
  return index;
}

[[noreturn]] void no_weights(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "adapter_config.json" || name == "adapter_model.safetensors") {
      throw Error(ErrorCode::bad_format, "This folder is an adapter, not a base model", folder,
                  "Give the base model here and the adapter with --adapter");
    }
  }
  for (const std::string& name : names) {
    const std::string ending = lower(fs::path(name).extension().string());
    if (ending == ".bin" || ending == ".pt" || ending == ".pth" || ending == ".ckpt" || ending == ".pkl") {
      throw pickle_error(folder + "/" + name);
    }
  }
  for (const std::string& name : names) {
    if (!ends_with(name, ".safetensors")) continue;
    throw Error(ErrorCode::bad_format,
                std::string("The folder has ") + name + " but neither model.safetensors nor " + index_name,
                folder, "Get the missing file; a sharded model needs its index");
  }
  throw Error(ErrorCode::not_found, "The folder has no model weights", folder,
              "A model folder holds config.json and model.safetensors; or give a .gguf file");
}

ModelFiles locate_folder(const std::string& folder) {
  const std::vector<std::string> names = file_names(folder);
  const auto has = [&](const char* name) {
    return std::binary_search(names.begin(), names.end(), std::string(name));
  };
  ModelFiles files;
  files.path = folder;
  std::set<std::string> weights;
  if (has(index_name)) {
    files.index = read_index(folder + "/" + index_name);
    for (const auto& [tensor, file] : files.index) weights.insert(file);
    for (const std::string& file : weights) {
      if (!std::binary_search(names.begin(), names.end(), file)) {
        throw Error(ErrorCode::not_found, "A shard named by the index is missing", folder + "/" + file,
                    "Get the missing file; the download may be incomplete");
      }
    }
  } else if (has("model.safetensors")) {
    weights.insert("model.safetensors");
  } else {
    std::vector<std::string> gguf;
    for (const std::string& name : names) {
      if (ends_with(lower(name), ".gguf")) gguf.push_back(name);
    }
    if (gguf.size() == 1) return locate_model(folder + "/" + gguf[0]);
    if (gguf.size() > 1) {
      throw Error(ErrorCode::invalid_argument,
                  "The folder has " + std::to_string(gguf.size()) + " GGUF files", folder,
                  "Give one of them, for example " + gguf[0]);
    }
    no_weights(folder, names);
  }
  for (const std::string& name : weights) files.weights.push_back(folder + "/" + name);
  for (const std::string& name : names) {
    const bool weight =
        ends_with(name, ".safetensors") || ends_with(name, ".gguf") || ends_with(name, ".bin");
    if (weight && !weights.count(name)) files.ignored.push_back(name);
  }
  return files;
}

/// First bytes of a file, at most `count`; empty when it cannot be read.
std::string first_bytes(const std::string& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

}  // namespace

bool is_gguf_file(const std::string& path) {
  return first_bytes(path, 4) == "GGUF";
}

ModelFiles locate_model(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw Error(ErrorCode::not_found, "There is no such model", path, "Give a model folder or a .gguf file");
  }
  std::string clean = path;
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  if (fs::is_directory(status)) return locate_folder(clean);
  if (is_gguf_file(clean)) {
    ModelFiles files;
    files.kind = ModelFiles::Kind::gguf;
    files.path = clean;
    files.weights = {clean};
    return files;
  }
  refuse_foreign_file(MappedFile(clean).bytes(), clean);
  const bool part =
      ends_with(clean, ".safetensors") || ends_with(clean, ".json") || ends_with(clean, ".model");
  throw Error(ErrorCode::bad_format, "This file is not a GGUF model", path,
              part ? "Give the folder that holds it" : "Give a model folder or a .gguf file");
}

std::string model_name(const std::string& path) {
  fs::path place = fs::absolute(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  for (fs::path folder = place; folder.has_relative_path(); folder = folder.parent_path()) {
    std::string name = folder.filename().string();
    if (name.rfind("models--", 0) != 0) continue;
    name.erase(0, std::strlen("models--"));
    if (const auto dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
    if (!name.empty()) return name;
  }
  if (lower(place.extension().string()) == ".gguf") return place.stem().string();
  return place.filename().string();
}

std::vector<std::string> companion_files(const std::string& folder) {
  static const std::set<std::string> known = {"config.json",
                                              "generation_config.json",
                                              "tokenizer.json",
                                              "tokenizer.model",
                                              "tokenizer_config.json",
                                              "special_tokens_map.json",
                                              "added_tokens.json",
                                              "vocab.json",
                                              "merges.txt",
                                              "chat_template.jinja",
                                              "chat_template.json"};
  std::vector<std::string> found;
  for (const std::string& name : file_names(folder)) {
    if (known.count(name)) found.push_back(name);
  }
  return found;
}

std::vector<std::string> licence_files(const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : file_names(folder)) {
    const std::string plain = lower(name);
    for (const char* start :
         {"license", "licence", "notice", "use_policy", "use-policy", "usage_policy", "copying"}) {
      if (plain.rfind(start, 0) != 0) continue;
      found.push_back(name);
      break;
    }
  }
  return found;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/library/base_id.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/model_files.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// What a file is recognised by when it was hashed before.
Json fingerprint(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw system_error("Cannot read", path, errno);
  return {static_cast<std::int64_t>(info.st_size), static_cast<std::int64_t>(info.st_mtim.tv_sec),
          static_cast<std::int64_t>(info.st_mtim.tv_nsec), static_cast<std::uint64_t>(info.st_ino)};
}

/// Hashes kept between runs: path → [size, mtime s, mtime ns, inode, hash].
class HashCache {
 public:
  explicit HashCache(const std::string& home) : path_(home.empty() ? "" : home + "/cache/hashes.json") {
    std::error_code ignored;
    if (path_.empty() || !fs::exists(path_, ignored)) return;
    try {
      entries_ = read_json_file(path_);
    } catch (const Error&) {
      // Only a cache: a broken one is made anew.
    }
    if (!entries_.is_object()) entries_ = Json::object();
  }

  std::string hash(const std::string& path) {
    Json key = fingerprint(path);
    if (const auto found = entries_.find(path);
        found != entries_.end() && found->is_array() && found->size() == 5) {
      Json known = *found;
      const Json value = known.back();
      known.erase(4);
      if (known == key && value.is_string() && value.get<std::string>().size() == 64)
        return value.get<std::string>();
    }
    const std::string hex = sha256_file(path);
    key.push_back(hex);
    entries_[path] = key;
    changed_ = true;
    return hex;
  }

  void save() const {
    if (path_.empty() || !changed_) return;
    std::error_code ignored;
    fs::create_directories(fs::path(path_).parent_path(), ignored);
    try {
      write_file_atomically(path_, dump_json(entries_, 1));
    } catch (const Error&) {
      // A disk that takes no cache costs time at the next start, nothing else.
    }
  }

 private:
  std::string path_;
  Json entries_ = Json::object();
  bool changed_ = false;
};

}  // namespace

std::string base_id(const std::string& model_path, const std::string& home) {
  const ModelFiles files = locate_model(model_path);
  std::map<std::string, std::string> paths;  // sorted by name
  for (const auto& path : files.weights) paths[fs::path(path).filename().string()] = path;
  if (files.kind == ModelFiles::Kind::folder) {
    for (const auto& name : companion_files(files.path)) paths[name] = files.path + "/" + name;
  }
  HashCache cache(home);
  Sha256 hash;
  for (const auto& [name, path] : paths) {
    const std::string line = name + "\n" + cache.hash(path) + "\n";
    hash.update(line.data(), line.size());
  }
  cache.save();
  return hash.hex();
}

}  // namespace lorikeet

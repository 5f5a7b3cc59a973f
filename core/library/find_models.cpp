// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/library/library.h"
#include "core/model/model_files.h"
#include "core/model/model_spec.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

constexpr int deepest = 3;  ///< models/org/name/file.gguf

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Hugging Face's cache of repositories (formats.md §9.4).
std::string hub_cache() {
  if (const std::string cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = variable("HF_HOME"); !home.empty()) return home + "/hub";
  std::string cache = variable("XDG_CACHE_HOME");
  if (cache.empty()) cache = variable("HOME") + "/.cache";
  return cache + "/huggingface/hub";
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Collects paths that a model can be read from, each once.
class Finder {
 public:
  void look_in(const fs::path& folder, const std::string& repository, int depth = 0) {
    std::error_code ignored;
    if (fs::exists(folder / "config.json", ignored)) {
      add(folder.string(), repository.empty() ? model_name(folder.string()) : repository);
    }
    for (const fs::path& entry : entries(folder)) {
      if (entry.extension() == ".gguf" && !is_folder(entry)) {
        const std::string file = entry.filename().string();
        add(entry.string(), repository.empty() ? model_name(entry.string()) : repository + "/" + file);
      } else if (depth < deepest && is_folder(entry)) {
        look_in(entry, repository, depth + 1);
      }
    }
  }

  /// A repository of the cache: the snapshot that "main" points to, else the newest one.
  void look_in_repository(const fs::path& repository) {
    fs::path snapshot;
    try {
      std::string commit = read_file((repository / "refs" / "main").string(), 256);
      commit.erase(commit.find_last_not_of(" \r\n") + 1);
      if (is_safe_relative_name(commit)) snapshot = repository / "snapshots" / commit;
    } catch (const Error&) {  // no main
    }
    if (snapshot.empty() || !is_folder(snapshot)) {
      fs::file_time_type newest = fs::file_time_type::min();
      for (const fs::path& entry : entries(repository / "snapshots")) {
        std::error_code error;
        const auto time = fs::last_write_time(entry, error);
        if (!is_folder(entry) || error || time < newest) continue;
        newest = time;
        snapshot = entry;
      }
    }
    if (is_folder(snapshot)) look_in(snapshot, model_name(repository.string()));
  }

  std::vector<FoundModel> take() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    return std::move(found_);
  }

 private:
  void add(const std::string& path, const std::string& name) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error || !seen_.insert(real.string()).second) return;
    try {
      read_model_spec(path);
      found_.push_back({name, path});
    } catch (const Error&) {  // half a download, an adapter, a family that is not built: nothing to offer
    }
  }

  std::vector<FoundModel> found_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<FoundModel> find_base_models() {
  Finder finder;
  for (const fs::path& entry : entries(hub_cache())) {
    if (entry.filename().string().starts_with("models--")) finder.look_in_repository(entry);
  }
  finder.look_in(home_folder() + "/models", "");
  return finder.take();
}

}  // namespace lorikeet

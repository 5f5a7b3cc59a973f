// SPDX-License-Identifier: Apache-2.0
#include "core/train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/train/run_folder.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// Step number of "step-N", -1 for any other name.
std::int64_t step_of(const std::string& name) {
  constexpr std::string_view prefix = "step-";
  std::int64_t step = -1;
  if (!name.starts_with(prefix)) return -1;
  const char* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + prefix.size(), end, step);
  return result.ec == std::errc{} && result.ptr == end ? step : -1;
}

/// Checkpoint folders of a run by step, newest first.
std::vector<std::pair<std::int64_t, std::string>> step_folders(const RunFolder& run) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(run.path() + "/checkpoints", error), end; !error && entry != end;
       entry.increment(error)) {
    if (const std::int64_t step = step_of(entry->path().filename().string()); step >= 0) {
      found.emplace_back(step, entry->path().string());
    }
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

void move_to_broken(const RunFolder& run, const fs::path& folder) {
  const fs::path broken = fs::path(run.path()) / "checkpoints" / "broken";
  std::error_code ignored;
  fs::create_directories(broken, ignored);
  fs::path target = broken / folder.filename();
  for (int i = 2; fs::exists(target, ignored); ++i)
    target = broken / (folder.filename().string() + "-" + std::to_string(i));
  fs::rename(folder, target, ignored);
}

}  // namespace

void CheckpointWriter::add_file(const std::string& name, const std::vector<char>& content) {
  write_file_atomically(folder() + "/" + name, {content.data(), content.size()});
}

void CheckpointWriter::commit(std::int64_t step) {
  Json files = Json::object();
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder(), error), end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) throw system_error("Cannot read", folder(), error.value());
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    const std::string path = folder() + "/" + name;
    const auto bytes = fs::file_size(path, error);
    if (error) throw system_error("Cannot read", path, error.value());
    files[name] = {{"bytes", bytes}, {"sha256", sha256_file(path)}};
  }
  const Json manifest = {{"format", 1}, {"step", step}, {"files", files}};
  write_file_atomically(folder() + "/manifest.json", dump_json(manifest, 2) + "\n");
  folder_.commit(true);
}

void verify_checkpoint(const std::string& folder) {
  const std::string name = folder + "/manifest.json";
  const Json manifest = read_json_file(name);
  if (json_int(manifest, "format", 0, 0, INT64_MAX, name) != 1 || !manifest.contains("files") ||
      !manifest["files"].is_object()) {
    throw Error(ErrorCode::bad_format, "The manifest is not one this version knows", name);
  }
  for (const auto& [file, facts] : manifest["files"].items()) {
    const std::string path = folder + "/" + file;
    if (!is_safe_relative_name(file))
      throw Error(ErrorCode::bad_format, "The manifest names a file outside its folder", name);
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    if (error == std::errc::no_such_file_or_directory)
      throw Error(ErrorCode::bad_format, "The checkpoint lacks a file", path);
    if (error) throw system_error("Cannot read", path, error.value());
    if (static_cast<std::int64_t>(bytes) != json_int(facts, "bytes", -1, 0, INT64_MAX, name)) {
      throw Error(ErrorCode::bad_format, "The file has another size than the manifest says", path);
    }
    if (sha256_file(path) != json_string(facts, "sha256", "", name)) {
      throw Error(ErrorCode::bad_format, "The file has another content than the manifest says", path);
    }
  }
}

std::string newest_checkpoint(const RunFolder& run, std::vector<std::string>* findings) {
  const auto say = [&](std::string what) {
    if (findings) findings->push_back(std::move(what));
  };
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(run.path() + "/checkpoints", error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().find(".tmp-") != std::string::npos)
      leftovers.push_back(entry->path());
  }
  for (const auto& folder : leftovers) {
    fs::remove_all(folder, error);
    say("Removed " + folder.filename().string() +
        ": it was being written or removed when the engine was killed");
  }
  for (const auto& [step, folder] : step_folders(run)) {
    try {
      verify_checkpoint(folder);
      return folder;
    } catch (const Error& broken) {
      if (broken.code() != ErrorCode::bad_format && broken.code() != ErrorCode::not_found) throw;
      move_to_broken(run, folder);  // the next older one is used
      say(std::string("A checkpoint is broken and was moved to checkpoints/broken, an older one is used: ") +
          broken.what());
    }
  }
  return {};
}

void remove_old_checkpoints(const RunFolder& run, std::int64_t keep,
                            const std::vector<std::string>& protect) {
  std::int64_t kept = 0;
  for (const auto& [step, folder] : step_folders(run)) {
    if (kept < keep || std::find(protect.begin(), protect.end(), folder) != protect.end()) {
      ++kept;
      continue;
    }
    std::error_code ignored;
    // First out of the way by one rename, so that a half-deleted folder never looks like a checkpoint.
    const std::string doomed = temporary_name(folder);
    fs::rename(folder, doomed, ignored);
    if (!ignored) fs::remove_all(doomed, ignored);
  }
}

}  // namespace lorikeet

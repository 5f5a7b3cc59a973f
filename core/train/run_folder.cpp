// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<ControlRequest, const char*> request_names[] = {
    {ControlRequest::stop, "stop"},
    {ControlRequest::pause, "pause"},
    {ControlRequest::resume, "resume"},
    {ControlRequest::checkpoint, "checkpoint"},
};

std::string request_path(const std::string& run, ControlRequest request) {
  for (const auto& [value, name] : request_names) {
    if (value == request) return run + "/control/" + name;
  }
  return {};
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw system_error("Cannot make the folder", path, error.value());
}

}  // namespace

Json job_to_json(const Job& job) {
  Json machine = Json::object();
  for (const auto& [key, value] : job.machine) machine[key] = value;
  Json changes = Json::array();
  for (const auto& change : job.shape_changes) {
    changes.push_back({{"from_step", change.from_step},
                       {"micro_batch_tokens", change.shape.micro_batch_tokens},
                       {"recomputed_layers", change.shape.recomputed_layers}});
  }
  return {{"format", 1},
          {"name", job.name},
          {"model", job.model_path},
          {"data", job.data_path},
          {"adapter", job.adapter_path},
          {"adapter_sha256", job.adapter_sha256},
          {"base_id", job.base_id},
          {"base_name", job.base_name},
          {"data_sha256", job.data_sha256},
          {"eval_data_sha256", job.eval_data_sha256},
          {"template_hash", job.template_hash},
          {"engine_version", job.engine_version},
          {"question", job.question},
          {"settings", settings_to_json(job.settings)},
          {"machine", machine},
          {"less_memory", changes}};
}

namespace {

std::vector<StepShapeChange> shape_changes_from(const Json& list, const std::string& name) {
  std::vector<StepShapeChange> changes;
  if (!list.is_array()) throw Error(ErrorCode::bad_format, "less_memory is not a list", name);
  for (const Json& entry : list) {
    StepShapeChange change;
    change.from_step = json_int(entry, "from_step", 1, 1, INT64_MAX, name);
    change.shape.micro_batch_tokens = json_int(entry, "micro_batch_tokens", 1, 1, INT64_MAX, name);
    change.shape.recomputed_layers = json_int(entry, "recomputed_layers", 0, 0, INT64_MAX, name);
    changes.push_back(change);
  }
  return changes;
}

}  // namespace

Job job_from_json(const Json& json, const std::string& name, const Settings& base) {
  if (!json.is_object()) throw Error(ErrorCode::bad_format, "A job is a JSON object", name);
  const auto version = json_int(json, "format", 1, 1, INT64_MAX, name);
  if (version != 1) {
    throw Error(ErrorCode::unsupported,
                "This job was written by a newer Lorikeet (format " + std::to_string(version) + ")", name,
                "Update Lorikeet");
  }
  Job job;
  job.settings = base;
  job.name = json_string(json, "name", "", name);
  job.model_path = json_string(json, "model", "", name);
  job.data_path = json_string(json, "data", "", name);
  job.adapter_path = json_string(json, "adapter", "", name);
  job.adapter_sha256 = json_string(json, "adapter_sha256", "", name);
  job.base_id = json_string(json, "base_id", "", name);
  job.base_name = json_string(json, "base_name", "", name);
  job.data_sha256 = json_string(json, "data_sha256", "", name);
  job.eval_data_sha256 = json_string(json, "eval_data_sha256", "", name);
  job.template_hash = json_string(json, "template_hash", "", name);
  job.engine_version = json_string(json, "engine_version", "", name);
  job.question = json_string(json, "question", "", name);
  if (json.contains("settings")) job.settings = settings_from_json(json["settings"], name, base);
  if (json.contains("machine") && json["machine"].is_object()) {
    for (const auto& [key, value] : json["machine"].items()) {
      if (value.is_string()) job.machine.emplace_back(key, value.get<std::string>());
    }
  }
  if (json.contains("less_memory")) job.shape_changes = shape_changes_from(json["less_memory"], name);
  return job;
}

RunFolder RunFolder::create(const std::string& path, const Job& job) {
  std::error_code ignored;
  if (fs::exists(path + "/events.jsonl", ignored)) {
    throw Error(ErrorCode::invalid_argument, "A run is already there", path,
                "Choose another folder, or go on with: lorikeet resume " + path);
  }
  if (fs::exists(path, ignored) && !fs::is_directory(path, ignored)) {
    throw Error(ErrorCode::invalid_argument, "The run folder is a file", path, "Choose another folder");
  }
  make_folder(path + "/control");
  make_folder(path + "/checkpoints");
  RunFolder run(path);
  run.write_job(job);
  return run;
}

RunFolder RunFolder::open(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path + "/job.json", ignored)) {
    throw Error(ErrorCode::not_found, "This is not a run folder, it holds no job.json", path,
                "Check the path");
  }
  return RunFolder(path);
}

std::string RunFolder::checkpoint_path(std::int64_t step) const {
  return path_ + "/checkpoints/step-" + std::to_string(step);
}

Job RunFolder::read_job() const {
  return job_from_json(read_json_file(path_ + "/job.json"), path_ + "/job.json");
}

void RunFolder::write_job(const Job& job) const {
  write_file_atomically(path_ + "/job.json", dump_json(job_to_json(job), 2) + "\n");
}

RunHistory RunFolder::read_history() const {
  EventReader reader;
  std::error_code ignored;
  if (fs::exists(path_ + "/events.jsonl", ignored)) reader.feed(read_file(path_ + "/events.jsonl"));
  return reader.history();
}

bool RunFolder::is_alive() const {
  return FileLock::is_held(path_ + "/lock");
}

bool RunFolder::was_killed() const {
  if (is_alive()) return false;
  std::error_code ignored;
  if (!fs::exists(path_ + "/events.jsonl", ignored)) return false;  // never started
  const RunState state = read_history().state;
  return state != RunState::done && state != RunState::failed;
}

void RunFolder::request(ControlRequest request) const {
  make_folder(path_ + "/control");
  write_file_atomically(request_path(path_, request), "");
}

void RunFolder::lock() {
  const Json content = {{"pid", ::getpid()}, {"started", unix_seconds()}};
  lock_ = std::make_unique<FileLock>(path_ + "/lock", content.dump());
  open_events();
  remove_left_overs(path_ + "/job.json");
}

void RunFolder::open_events() {
  events_ = OwnedDescriptor(::open(events_path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (events_.value() < 0) throw system_error("Cannot write", events_path(), errno);
}

/// A descriptor outlives its folder: what is written after somebody removed or moved it would be lost without
/// a word.
void RunFolder::follow_events() {
  struct stat here {
  }, there{};
  if (::fstat(events_.value(), &here) != 0) throw system_error("Cannot write", events_path(), errno);
  if (::stat(events_path().c_str(), &there) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) throw system_error("Cannot write", events_path(), errno);
    throw Error(ErrorCode::not_found, "The run folder was moved or removed", path_, "Put it back");
  }
  if (here.st_ino == there.st_ino && here.st_dev == there.st_dev) return;
  lock();  // a copy of it
  cut_torn_line();
  torn_at_ = -1;
}

void RunFolder::append(const Json& event) {
  Json line = event;
  line["time"] = unix_seconds();
  const std::string text = dump_json(line) + "\n";
  follow_events();
  cut_torn_append();
  // Mostly one call: a reader sees whole lines.
  const off_t before = ::lseek(events_.value(), 0, SEEK_END);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(events_.value(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      if (rest.size() < text.size()) torn_at_ = before;
      cut_torn_append();
      throw system_error("Cannot write", events_path(), reason);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void RunFolder::cut_torn_append() {
  if (torn_at_ < 0) return;
  if (::ftruncate(events_.value(), torn_at_) != 0) throw system_error("Cannot write", events_path(), errno);
  torn_at_ = -1;
}

void RunFolder::sync_events() {
  if (::fsync(events_.value()) != 0) throw system_error("Cannot write", events_path(), errno);
}

void RunFolder::cut_torn_line() {
  const std::string text = read_file(events_path());
  const std::size_t last = text.rfind('\n');
  const std::size_t whole = last == std::string::npos ? 0 : last + 1;
  if (whole == text.size()) return;
  if (::ftruncate(events_.value(), static_cast<off_t>(whole)) != 0) {
    throw system_error("Cannot write", events_path(), errno);
  }
}

std::optional<ControlRequest> RunFolder::pending_request() const {
  for (const auto& [request, name] : request_names) {
    if (::access(request_path(path_, request).c_str(), F_OK) == 0) return request;
  }
  return std::nullopt;
}

void RunFolder::acknowledge(ControlRequest request) {
  std::error_code ignored;
  fs::remove(request_path(path_, request), ignored);
}

std::vector<std::string> list_runs(const std::string& runs_folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator entry(runs_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const fs::path job = entry->path() / "job.json";
    const auto time = fs::last_write_time(job, ignored);
    if (!ignored) found.emplace_back(time, entry->path().string());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> paths;
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

}  // namespace lorikeet

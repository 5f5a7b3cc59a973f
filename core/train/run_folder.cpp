// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_folder.h"

#include <fcntl.h>
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
  return {{"format", 1},
          {"name", job.name},
          {"model", job.model_path},
          {"data", job.data_path},
          {"adapter", job.adapter_path},
          {"adapter_sha256", job.adapter_sha256},
          {"base_id", job.base_id},
          {"base_name", job.base_name},
          {"data_sha256", job.data_sha256},
          {"template_hash", job.template_hash},
          {"engine_version", job.engine_version},
          {"question", job.question},
          {"settings", settings_to_json(job.settings)},
          {"machine", machine}};
}

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
  job.template_hash = json_string(json, "template_hash", "", name);
  job.engine_version = json_string(json, "engine_version", "", name);
  job.question = json_string(json, "question", "", name);
  if (json.contains("settings")) job.settings = settings_from_json(json["settings"], name, base);
  if (json.contains("machine") && json["machine"].is_object()) {
    for (const auto& [key, value] : json["machine"].items()) {
      if (value.is_string()) job.machine.emplace_back(key, value.get<std::string>());
    }
  }
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
  const std::string events = path_ + "/events.jsonl";
  events_ = OwnedDescriptor(::open(events.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (events_.value() < 0) throw system_error("Cannot write", events, errno);
}

void RunFolder::append(const Json& event) {
  Json line = event;
  line["time"] = unix_seconds();
  const std::string text = dump_json(line) + "\n";
  // One write call: a reader sees whole lines, and a full disk leaves at most one torn line, which is cut
  // again here.
  const off_t before = ::lseek(events_.value(), 0, SEEK_END);
  const ssize_t written = ::write(events_.value(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  const int reason = written < 0 ? errno : ENOSPC;
  if (written > 0 && ::ftruncate(events_.value(), before) != 0) {
    throw system_error("Cannot write", path_ + "/events.jsonl", errno);
  }
  throw system_error("Cannot write", path_ + "/events.jsonl", reason);
}

void RunFolder::sync_events() {
  if (::fsync(events_.value()) != 0) throw system_error("Cannot write", path_ + "/events.jsonl", errno);
}

void RunFolder::cut_torn_line() {
  const std::string text = read_file(path_ + "/events.jsonl");
  const std::size_t last = text.rfind('\n');
  const std::size_t whole = last == std::string::npos ? 0 : last + 1;
  if (whole == text.size()) return;
  if (::ftruncate(events_.value(), static_cast<off_t>(whole)) != 0) {
    throw system_error("Cannot write", path_ + "/events.jsonl", errno);
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

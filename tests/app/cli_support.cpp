// SPDX-License-Identifier: Apache-2.0
#include "tests/app/cli_support.h"

#include <QElapsedTimer>
#include <QThread>
#include <filesystem>
#include <sstream>

#include "core/base/files.h"

namespace lorikeet::test {
namespace {

constexpr int patience_ms = 60'000;

std::vector<Json> event_lines(const std::string& run) {
  std::vector<Json> events;
  if (!std::filesystem::exists(run + "/events.jsonl")) return events;
  std::istringstream text(read_file(run + "/events.jsonl"));
  for (std::string line; std::getline(text, line);) {
    if (text.eof()) break;  // a last line without its end is still being written
    events.push_back(parse_json(line, "events.jsonl"));
  }
  return events;
}

template <typename Condition>
bool wait_until(QProcess& process, Condition condition) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < patience_ms) {
    if (condition()) return true;
    if (process.waitForFinished(2)) return condition();
  }
  return false;
}

}  // namespace

CliResult run_cli(const QStringList& arguments, const QByteArray& input) {
  const auto process = start_cli(arguments);
  process->write(input);
  process->closeWriteChannel();
  CliResult result;
  if (!process->waitForFinished(120'000)) {
    process->kill();
    process->waitForFinished();
    return result;
  }
  result.code = process->exitStatus() == QProcess::NormalExit ? process->exitCode() : -2;
  result.out = process->readAllStandardOutput().toStdString();
  result.err = process->readAllStandardError().toStdString();
  return result;
}

std::unique_ptr<QProcess> start_cli(const QStringList& arguments) {
  auto process = std::make_unique<QProcess>();
  process->start(LORIKEET_ENGINE, arguments);
  process->waitForStarted();
  return process;
}

TinyModel cli_model() {
  TinyModel model;
  model.context = 512;
  return model;
}

void write_alpaca(const std::string& path, int rows) {
  Json list = Json::array();
  for (int row = 0; row < rows; ++row) {
    list.push_back(
        {{"instruction", "Say number " + std::to_string(row)},
         {"input", row % 3 == 0 ? "briefly" : ""},
         {"output", std::string(static_cast<std::size_t>(3 + row % 7), static_cast<char>('a' + row % 26))}});
  }
  write_file_atomically(path, list.dump());
}

bool wait_for_step(const std::string& run, int step, QProcess& process) {
  return wait_until(process, [&] {
    const auto events = event_lines(run);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if ((*event)["type"] == "resume") return false;
      if ((*event)["type"] == "step") return (*event)["step"].get<int>() >= step;
    }
    return false;
  });
}

bool wait_for_state(const std::string& run, const std::string& state, QProcess& process) {
  return wait_until(process, [&] {
    const auto events = event_lines(run);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if ((*event)["type"] == "state") return (*event)["state"] == state;
    }
    return false;
  });
}

std::vector<std::string> comparable_events(const std::string& run) {
  std::vector<std::pair<int, std::string>> kept;
  for (Json event : event_lines(run)) {
    const std::string type = event["type"];
    // What an engine ended with is said as well, and the next one goes on.
    if (type == "state" || type == "warning" || type == "memory" || type == "error") continue;
    if (type == "resume") {
      // As readers do; the end is said anew as well.
      std::erase_if(kept, [&](const auto& line) {
        return line.first > event["from_step"].get<int>() ||
               line.second.find("\"done\"") != std::string::npos;
      });
      continue;
    }
    const int step = event.value("step", 0);
    for (const char* key : {"time", "elapsed_seconds", "tokens_per_second", "memory_bytes"}) event.erase(key);
    kept.emplace_back(step, event.dump());
  }
  std::vector<std::string> lines;
  for (auto& [step, line] : kept) lines.push_back(std::move(line));
  return lines;
}

}  // namespace lorikeet::test

// SPDX-License-Identifier: Apache-2.0
#include "app/engine/command.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/library/library.h"
#include "kernels/base/error.h"

namespace lorikeet {

namespace fs = std::filesystem;

CLI::App* add_command(CLI::App& app, CommandContext& context, const std::string& name,
                      const std::string& help) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_flag("--json", context.json, "Print JSON: one object, or one a line for streams");
  return command;
}

void print_json(const Json& json) {
  const std::string line = dump_json(json) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

void print_text(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

std::string absolute_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

std::string resolve_model(const std::string& model, const std::string& home) {
  std::error_code ignored;
  if (fs::exists(model, ignored)) {
    std::string path = absolute_path(model);
    if (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }
  if (model.find('/') == std::string::npos || model.find("models--") == std::string::npos) {
    for (const auto& found : find_base_models()) {
      if (found.name == model) return found.path;
    }
    if (fs::exists(home + "/library.db", ignored)) {
      for (const auto& base : Library(home).bases()) {
        if (base.name == model || base.id == model) return base.path;
      }
    }
  }
  throw Error(ErrorCode::not_found, "There is no base model at this path or of this name", model,
              "Give a folder with config.json, a .gguf file, or a name from the Hugging Face cache");
}

std::string resolve_adapter(const std::string& adapter, const std::string& home) {
  std::error_code ignored;
  if (fs::exists(adapter, ignored)) {
    const std::string path = absolute_path(adapter);
    const bool is_run = fs::exists(path + "/job.json", ignored) && fs::exists(path + "/adapter", ignored);
    return is_run ? path + "/adapter" : path;
  }
  if (fs::exists(home + "/library.db", ignored)) {
    if (const auto known = Library(home).find(adapter)) return known->path;
  }
  throw Error(
      ErrorCode::not_found, "There is no adapter at this path or of this name", adapter,
      "Give a folder with adapter_config.json, a run's folder, or a name that lorikeet library ls shows");
}

}  // namespace lorikeet

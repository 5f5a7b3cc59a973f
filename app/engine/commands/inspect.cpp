// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "core/model/inspect.h"

namespace lorikeet {
namespace {

/// A value for people: text without quotes, six digits of a number that is not whole.
std::string value_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return dump_json(value);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value.get<double>());
  return text;
}

/// A problem as errors are said elsewhere: what, where, what to do.
std::string problem_of(const Json& item) {
  const auto part = [&](const char* key, const char* before) {
    const std::string text = item.value(key, "");
    return text.empty() ? text : before + text;
  };
  return part("what", "") + part("where", ": ") + part("hint", ". ");
}

/// One line: text as it is, a problem as a sentence, another object as "key value, key value".
std::string line_of(const Json& item) {
  if (!item.is_object()) return value_of(item);
  if (item.contains("what")) return problem_of(item);
  std::string line;
  for (const auto& [key, value] : item.items()) {
    if (value.is_object() && value.empty()) continue;
    line += (line.empty() ? "" : ", ") + key + " " + value_of(value);
  }
  return line;
}

/// Nested members as "key: value" lines, indented.
void print_members(const Json& json, const std::string& indent) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      print_text(indent + key + ":\n");
      print_members(value, indent + "  ");
    } else if (value.is_array()) {
      print_text(indent + key + ":" + (value.empty() ? " none\n" : "\n"));
      for (const auto& item : value) print_text(indent + "  - " + line_of(item) + "\n");
    } else {
      print_text(indent + key + ": " + value_of(value) + "\n");
    }
  }
}

int run_inspect(const CommandContext& context, const std::string& path) {
  const Json result = inspect_path(absolute_path(path));
  if (context.json)
    print_json(result);
  else
    print_members(result, "");
  const bool is_fine = !result.contains("problems") || result["problems"].empty();
  return is_fine ? exit_done : exit_error;
}

}  // namespace

void add_inspect(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "inspect", "What a file or folder is, and all that is wrong with it");
  auto path = std::make_shared<std::string>();
  command->add_option("path", *path, "Model, adapter, run or data set")->required();
  command->callback(
      [&context, path] { context.action = [&context, path] { return run_inspect(context, *path); }; });
}

}  // namespace lorikeet

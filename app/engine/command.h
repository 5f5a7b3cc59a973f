// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stop_token>
#include <string>

#include "core/base/json.h"

namespace lorikeet {

/// What every subcommand gets from main: nothing global.
struct CommandContext {
  bool json = false;            ///< --json: one object, or JSON lines for streams
  std::stop_token stop;         ///< set by Ctrl-C and SIGTERM
  std::string home;             ///< LORIKEET_HOME or the XDG data folder
  std::function<int()> action;  ///< set by the subcommand that was chosen; returns the exit code
};

/// Exit codes (design.md §6).
inline constexpr int exit_done = 0, exit_error = 1, exit_wrong_use = 2, exit_stopped = 130;

/// Makes a subcommand with --json; each file in commands/ adds one or a few.
CLI::App* add_command(CLI::App& app, CommandContext& context, const std::string& name,
                      const std::string& help);

void add_devices(CLI::App& app, CommandContext& context);
void add_inspect(CLI::App& app, CommandContext& context);
void add_tokenize(CLI::App& app, CommandContext& context);
void add_render(CLI::App& app, CommandContext& context);
void add_plan(CLI::App& app, CommandContext& context);
void add_train(CLI::App& app, CommandContext& context);
void add_run_control(CLI::App& app, CommandContext& context);  ///< resume, pause, stop
void add_chat(CLI::App& app, CommandContext& context);
void add_eval(CLI::App& app, CommandContext& context);
void add_export(CLI::App& app, CommandContext& context);
void add_library(CLI::App& app, CommandContext& context);

/// One JSON line on standard output, flushed.
void print_json(const Json& json);
/// Text on standard output.
void print_text(const std::string& text);

/// A model argument: a path as given (made absolute), else a name known to the library or the Hugging Face
/// cache. Throws Error(not_found) saying what was looked for.
std::string resolve_model(const std::string& model, const std::string& home);
/// An adapter argument: an adapter's folder as given (made absolute), a run's folder (its finished adapter),
/// else a name or id known to the library. Throws Error(not_found).
std::string resolve_adapter(const std::string& adapter, const std::string& home);
/// The same path, absolute and without "..".
std::string absolute_path(const std::string& path);

}  // namespace lorikeet

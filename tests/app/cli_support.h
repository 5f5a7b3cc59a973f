// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/support/tiny_model.h"

namespace lorikeet::test {

/// What a finished command left.
struct CliResult {
  int code = -1;
  std::string out, err;
  Json json() const { return parse_json(out, "output"); }
};

/// Runs the engine with these arguments and this standard input, and waits for it.
CliResult run_cli(const QStringList& arguments, const QByteArray& input = {});
/// Starts it and does not wait.
std::unique_ptr<QProcess> start_cli(const QStringList& arguments);

/// A tiny model whose context takes an Alpaca prompt in bytes.
TinyModel cli_model();
/// An Alpaca file with this many short rows.
void write_alpaca(const std::string& path, int rows);
/// Waits until events.jsonl of a run has a step event of this number or more, or the process ends; false
/// after 60 s.
bool wait_for_step(const std::string& run, int step, QProcess& process);
/// Waits until the last state line says this; false after 60 s.
bool wait_for_state(const std::string& run, const std::string& state, QProcess& process);
/// Events without state lines and without what may differ between two equal runs (time, speed, memory). Lines
/// that a resume dropped are left out, and the resume lines themselves.
std::vector<std::string> comparable_events(const std::string& run);

}  // namespace lorikeet::test

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "core/library/library.h"

namespace lorikeet {
namespace {

int list_library(const CommandContext& context) {
  const Library library(context.home);
  Json list = Json::array();
  for (const auto& adapter : library.adapters()) {
    if (context.json) {
      list.push_back({{"id", adapter.id},
                      {"group", adapter.group},
                      {"name", adapter.name},
                      {"version", adapter.version},
                      {"base_id", adapter.base_id},
                      {"base_name", adapter.base_name},
                      {"data_name", adapter.data_name},
                      {"path", adapter.path},
                      {"run", adapter.run_path},
                      {"bytes", adapter.bytes},
                      {"steps", adapter.steps},
                      {"loss", adapter.loss ? Json(*adapter.loss) : Json(nullptr)},
                      {"eval_loss", adapter.eval_loss ? Json(*adapter.eval_loss) : Json(nullptr)},
                      {"created_ms", adapter.created_ms},
                      {"missing", adapter.missing}});
    } else {
      const std::string loss = adapter.eval_loss ? fmt::format("evaluation loss {:.3f}", *adapter.eval_loss)
                               : adapter.loss    ? fmt::format("loss {:.3f}", *adapter.loss)
                                                 : std::string("no loss");
      print_text(fmt::format("{}  v{}  {}  {} steps, {}{}\n  {}\n", adapter.group, adapter.version,
                             adapter.name, adapter.steps, loss, adapter.missing ? ", files are missing" : "",
                             adapter.path));
    }
  }
  if (context.json)
    print_json({{"adapters", list}});
  else if (library.adapters().empty())
    print_text("No adapters yet. Train one: lorikeet train --help\n");
  return exit_done;
}

}  // namespace

void add_library(CLI::App& app, CommandContext& context) {
  CLI::App* library = app.add_subcommand("library", "The adapters on this machine");
  library->require_subcommand(1);
  CLI::App* list = library->add_subcommand("ls", "List them, newest first");
  list->add_flag("--json", context.json, "Print one JSON object");
  list->callback([&context] { context.action = [&context] { return list_library(context); }; });
}

}  // namespace lorikeet

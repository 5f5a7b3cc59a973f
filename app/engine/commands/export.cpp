// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "core/publish/export.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

int start_export(const CommandContext& context, ExportRequest request) {
  for (const char* later : {"gguf", "lora-gguf", "bundle"}) {
    if (request.kind == later) {
      throw Error(ErrorCode::unsupported, "Export as " + request.kind + " is not built yet", "--as",
                  "Use adapter or merged");
    }
  }
  if (request.kind != "adapter" && request.kind != "merged") {
    throw Error(ErrorCode::invalid_argument, "\"" + request.kind + "\" is no kind of export", "--as",
                "Use adapter or merged");
  }
  request.model_path = resolve_model(request.model_path, context.home);
  request.adapter_path = resolve_adapter(request.adapter_path, context.home);
  request.out = absolute_path(request.out);
  const bool draws = !context.json && ::isatty(STDERR_FILENO) != 0;
  run_export(request, context.stop, [&](std::int64_t done, std::int64_t total) {
    if (context.json) print_json({{"type", "progress"}, {"done", done}, {"total", total}});
    if (draws)
      std::fprintf(stderr, "\r\x1b[K%lld of %lld tensors%s", static_cast<long long>(done),
                   static_cast<long long>(total), done == total ? "\n" : "");
  });
  if (context.json)
    print_json({{"type", "done"}, {"path", request.out}});
  else
    print_text("Written to " + request.out + "\n");
  return exit_done;
}

}  // namespace

void add_export(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "export", "Write an adapter, or base and adapter merged, for use elsewhere");
  auto request = std::make_shared<ExportRequest>();
  command->add_option("--model", request->model_path, "Folder, GGUF file or name of the base model")
      ->required();
  command
      ->add_option("--adapter", request->adapter_path,
                   "Adapter folder, run folder (RUN/best is its best adapter), or a name of the library")
      ->required();
  command->add_option("--as", request->kind, "adapter or merged")->required();
  command->add_option("--out", request->out, "Folder to write, new or empty")->required();
  command->add_option("--type", request->type, "Number type of merged weights: bf16, f16 or f32")
      ->capture_default_str();
  command->add_option("--shard-bytes", request->shard_bytes, "Largest size of one weights file")
      ->capture_default_str();
  command->callback([&context, request] {
    context.action = [&context, request] { return start_export(context, *request); };
  });
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/engine/command.h"
#include "core/text/tokenizer.h"

namespace lorikeet {
namespace {

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text;
  bool raw = false;
};

int run_tokenize(const CommandContext& context, const TokenizeOptions& options) {
  const auto tokenizer = load_tokenizer(resolve_model(options.model, context.home));
  const std::string text =
      options.text ? *options.text
                   : std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  EncodeOptions encode;
  encode.add_special = !options.raw;
  encode.parse_special = !options.raw;
  const auto ids = tokenizer->encode(text, encode);
  std::vector<std::string> pieces;
  for (const TokenId id : ids) pieces.push_back(tokenizer->piece(id));
  print_json({{"ids", ids}, {"pieces", pieces}});
  return exit_done;
}

}  // namespace

void add_tokenize(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "tokenize", "Token ids and pieces of a text, as one JSON object");
  auto options = std::make_shared<TokenizeOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name")->required();
  command->add_option("--text", options->text, "The text; without it standard input is read");
  command->add_flag("--raw", options->raw, "No begin and end tokens; special tokens in the text stay text");
  command->callback([&context, options] {
    context.action = [&context, options] { return run_tokenize(context, *options); };
  });
}

}  // namespace lorikeet

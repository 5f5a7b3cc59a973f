// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/version.h"

int main(int argc, char** argv) {
  CLI::App app{"Lorikeet fine-tunes small language models on your own machine"};
  app.set_version_flag("--version", std::string("lorikeet ") + lorikeet::version);
  CLI11_PARSE(app, argc, argv);
  std::fputs(app.help().c_str(), stdout);
  return 0;
}

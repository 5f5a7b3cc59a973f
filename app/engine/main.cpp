// SPDX-License-Identifier: Apache-2.0
// The engine: every command of Lorikeet without a screen. Also what the studio starts.
#include <malloc.h>
#include <unistd.h>

#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "app/engine/command.h"
#include "app/version.h"
#include "core/base/files.h"
#include "kernels/base/error.h"

namespace {

using namespace lorikeet;

/// OpenMP reads these before main: bound threads keep two of them from sharing one core; passive waiting
/// leaves the cores to others; and a short spin before it saves the 30 us that waking a thread costs,
/// thousands of times a step. Set once by starting again; a person's own values stand.
void restart_with_openmp_settings(char** argv) {
  constexpr std::pair<const char*, const char*> wanted[] = {
      {"OMP_PROC_BIND", "true"}, {"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "10000"}};
  bool complete = true;
  for (const auto& [name, value] : wanted) {
    complete = complete && std::getenv(name);
    ::setenv(name, value, 0);
  }
  if (complete) return;
  ::execv("/proc/self/exe", argv);
  // Without /proc the program goes on unbound: slower, not wrong.
}

/// Waits for Ctrl-C and SIGTERM on a thread of its own, so that the handler may do more than set a flag.
class StopOnSignal {
 public:
  StopOnSignal() {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    waiter_ = std::jthread([this](std::stop_token ended) {
      while (!ended.stop_requested()) {
        const timespec patience{0, 100'000'000};
        if (sigtimedwait(&signals_, nullptr, &patience) < 0) continue;
        if (source_.stop_requested()) std::_Exit(exit_stopped);  // asked a second time
        source_.request_stop();
      }
    });
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t signals_;
  std::stop_source source_;
  std::jthread waiter_;
};

int report(const CommandContext& context, const Error& error) {
  if (error.code() == ErrorCode::cancelled) return exit_stopped;
  if (context.json) {
    print_json({{"type", "error"},
                {"code", to_string(error.code())},
                {"what", error.message()},
                {"where", error.where()},
                {"hint", error.hint()}});
  }
  std::fprintf(stderr, "lorikeet: %s\n", error.what());
  return error.code() == ErrorCode::invalid_argument && error.where().starts_with("--") ? exit_wrong_use
                                                                                        : exit_error;
}

int run(int argc, char** argv, std::stop_token stop) {
  CLI::App app{"Lorikeet fine-tunes small language models on your own machine.", "lorikeet"};
  app.set_version_flag("--version", std::string("lorikeet ") + version);
  app.require_subcommand(1);
  CommandContext context;
  context.stop = std::move(stop);
  context.home = home_folder();
  for (const auto add : {add_devices, add_inspect, add_tokenize, add_render, add_plan, add_train,
                         add_run_control, add_chat, add_eval, add_export, add_library}) {
    add(app, context);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_wrong_use;
  }
  try {
    return context.action ? context.action() : exit_wrong_use;
  } catch (const Error& error) {
    return report(context, error);
  } catch (const std::bad_alloc&) {
    return report(context, Error(ErrorCode::out_of_memory, "The system has no memory left", {},
                                 "Close other programs, or lower batch-size or max-length"));
  } catch (const std::exception& error) {
    return report(context, Error(ErrorCode::io, error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  // Fixed, so that freed buffers of a MiB and more go back to the system: memory is what the plan says.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of write, not the end of a run
  StopOnSignal stop_on_signal;
  return run(argc, argv, stop_on_signal.token());
}

// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_control.h"

#include <thread>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using namespace std::chrono_literals;
constexpr auto look_every = 100ms;
constexpr auto retry_after = 5s;

}  // namespace

void RunControl::forget_old_requests() {
  while (const auto request = run_.pending_request()) run_.acknowledge(*request);
}

std::optional<ControlRequest> RunControl::take() {
  if (stop_.stop_requested()) return ControlRequest::stop;
  const auto request = run_.pending_request();
  if (!request) return std::nullopt;
  run_.acknowledge(*request);
  if (*request == ControlRequest::pause) paused_ = true;
  if (*request == ControlRequest::resume) paused_ = false;
  if (*request == ControlRequest::checkpoint) checkpoint_ = true;
  return request;
}

std::optional<ControlRequest> RunControl::poll() {
  const auto now = std::chrono::steady_clock::now();
  if (!stop_.stop_requested() && now - last_look_ < look_every) return std::nullopt;
  last_look_ = now;
  return take();
}

bool RunControl::take_checkpoint_request() {
  return std::exchange(checkpoint_, false);
}

void RunControl::throw_if_stopped(std::optional<ControlRequest> request) const {
  if (request == ControlRequest::stop) throw Error(ErrorCode::cancelled, "The run was stopped");
}

void RunControl::wait_while_paused() {
  while (paused_) {
    throw_if_stopped(take());
    if (paused_) std::this_thread::sleep_for(look_every);
  }
}

void RunControl::wait_for_retry() {
  const auto end = std::chrono::steady_clock::now() + retry_after;
  while (std::chrono::steady_clock::now() < end) {
    const auto request = take();
    throw_if_stopped(request);
    if (request == ControlRequest::resume) return;
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "core/train/run_folder.h"

namespace lorikeet {

/// Turns the files in control/ and the stop token into requests for the loop, and remembers a pause that was
/// asked for.
class RunControl {
 public:
  RunControl(RunFolder& run, std::stop_token stop) : run_(run), stop_(std::move(stop)) {}

  /// Requests that lie there from before this engine started are not meant for it.
  void forget_old_requests();
  /// Looks for a request, at most every 100 ms; takes it back from the folder and remembers it.
  std::optional<ControlRequest> poll();
  bool pause_requested() const { return paused_; }
  void pause() { paused_ = true; }  ///< as if it had been asked for
  bool checkpoint_requested() const { return checkpoint_; }
  bool take_checkpoint_request();
  /// Blocks until resume is asked for; throws Error(cancelled) when stop is.
  void wait_while_paused();
  /// Blocks for some seconds, or until resume is asked for; throws Error(cancelled) when stop is.
  void wait_for_retry();

 private:
  std::optional<ControlRequest> take();
  void throw_if_stopped(std::optional<ControlRequest> request) const;

  RunFolder& run_;
  std::stop_token stop_;
  bool paused_ = false;
  bool checkpoint_ = false;
  std::chrono::steady_clock::time_point last_look_{};
};

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <deque>
#include <vector>

#include "kernels/cuda/handle.h"

namespace lorikeet::cuda {

using Event = Handle<cudaEvent_t, cudaEventDestroy>;
/// An event without timing.
Event make_event();

using PinnedMemory = Handle<void*, cudaFreeHost>;
/// Page-locked memory of the host; throws Error(out_of_memory) when the system refuses it.
PinnedMemory make_pinned(std::size_t bytes);

/// Page-locked memory through which ordinary memory of the host goes to the device and back. An upload
/// returns once its bytes lie in a ring of pieces; the host waits only when the ring is full of pieces still
/// under way.
class Staging {
 public:
  static constexpr std::size_t ring_bytes = std::size_t{8} << 20;
  static constexpr std::size_t piece_bytes = std::size_t{2} << 20;

  /// Copies in the order of `stream`; `from` may change as soon as it returns.
  void upload(cudaStream_t stream, void* to, const void* from, std::size_t bytes);
  /// Copies in the order of `stream` and waits; one piece travels while the one before it is read.
  void download(cudaStream_t stream, void* to, const void* from, std::size_t bytes);

 private:
  struct Piece {
    std::size_t begin = 0, end = 0;
    Event done;
  };
  std::size_t take(std::size_t bytes);
  void retire_oldest(bool wait);

  PinnedMemory ring_, back_;
  std::size_t next_ = 0;         ///< where the next piece of the ring begins
  std::deque<Piece> under_way_;  ///< oldest first
  std::vector<Event> spare_;
  Event back_done_[2];
};

}  // namespace lorikeet::cuda

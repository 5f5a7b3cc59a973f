// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/streams.h"

namespace lorikeet::cuda {

using GraphExec = Handle<cudaGraphExec_t, cudaGraphExecDestroy>;

/// What repeat() knows of its keys.
struct CudaBackend::Recordings {
  static constexpr std::size_t most = 256;  ///< keys; the one not used for the longest time goes first

  struct Entry {
    GraphExec graph;       ///< empty: not recorded (yet)
    std::string obstacle;  ///< why it cannot be recorded
    std::uint64_t last_use = 0;
    std::vector<std::shared_ptr<Transfer>> waits, transfers;  ///< see Capture
  };

  /// Captures `work` into entry.graph, or leaves it empty and says why in entry.obstacle.
  static void record(Streams& streams, Entry& entry, const std::function<void()>& work);
  static void launch(Streams& streams, const Entry& entry);
  void make_room(Streams& streams);  ///< drops the key not used for the longest time when there are too many
  void forget(Streams& streams);

  std::map<std::uint64_t, Entry> entries;
  std::uint64_t uses = 0;
};

}  // namespace lorikeet::cuda

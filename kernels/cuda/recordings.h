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
///
/// A recording costs memory of the driver's for each of its operations, so all of them together are bounded.
/// With offloaded activations every layer has two keys a shape and up to 58 operations: 4,640 for 80 layers,
/// so that seven shapes of batches find room. A new recording takes the place of such that were not used
/// since the last call of its key, never of those in steady use: work that repeats more than there is room
/// for would else be recorded again and again.
struct CudaBackend::Recordings {
  static constexpr std::size_t most_operations = 32768;  ///< of all recordings
  static constexpr std::size_t most_keys = 8192;         ///< the one not used for the longest time goes first

  struct Entry {
    GraphExec graph;             ///< empty: not recorded (yet)
    std::size_t operations = 0;  ///< of the recording, or of the one that found no room; 0 = not known
    std::string obstacle;        ///< why it cannot be recorded
    std::uint64_t last_use = 0;
    std::vector<std::shared_ptr<Transfer>> waits, transfers;  ///< see Capture
  };

  /// Captures `work` into entry.graph, or leaves it empty and says why in entry.obstacle. Without memory for
  /// it, memory_is_short is set.
  void record(Streams& streams, Entry& entry, const std::function<void()>& work);
  /// False, and memory_is_short is set, when there is no memory for it: nothing has happened then.
  bool launch(Streams& streams, const Entry& entry);
  /// Whether `operations` more fit beside the recordings that were used since `since`.
  bool has_room(std::size_t operations, std::uint64_t since) const;
  /// Drops recordings not used since `since`, the oldest first, until entry.operations more fit.
  void make_room(Streams& streams, const Entry& entry, std::uint64_t since);
  void add_key(Streams& streams, std::uint64_t key);
  void forget(Streams& streams);

  std::map<std::uint64_t, Entry> entries;
  std::uint64_t uses = 0;
  bool memory_is_short = false;  ///< all stay eager until the recordings are forgotten by their user

 private:
  using Place = std::map<std::uint64_t, Entry>::iterator;
  void drop(Streams& streams, Place place);
};

}  // namespace lorikeet::cuda

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/handle.h"
#include "kernels/cuda/staging.h"

namespace lorikeet::cuda {

using Stream = Handle<cudaStream_t, cudaStreamDestroy>;

/// What a host buffer and the recordings that name it share.
struct Transfer {
  PinnedMemory memory;
  Event done;                   ///< of the last transfer, when it is not part of the recording being made
  Event inside;                 ///< of the last transfer in the recording being made
  bool used = false;            ///< `done` has been recorded
  std::uint64_t recording = 0;  ///< number of the recording that `inside` belongs to, 0 = none
};

/// The recording that repeat() is making.
struct Capture {
  std::uint64_t number = 0;  ///< counts recordings; 0 only before the first
  bool active = false;
  bool copies = false;                               ///< the copy stream has joined
  std::string obstacle;                              ///< why it cannot become a recording; empty = it can
  bool forget = false;                               ///< all recordings are to be forgotten after it
  std::vector<std::shared_ptr<Transfer>> waits;      ///< to be waited for before each launch
  std::vector<std::shared_ptr<Transfer>> transfers;  ///< made by each launch
  std::vector<void*> freed;                          ///< memory given back meanwhile, freed after it
  std::vector<std::shared_ptr<Transfer>> released;   ///< host buffers given back meanwhile, freed after it
};

/// The two queues of the device: `main` runs all operations, `copy` the transfers beside them.
struct CudaBackend::Streams {
  explicit Streams(int ordinal);

  /// Throws Error(unsupported) when a recording is being made, which `operation` cannot be part of.
  void refuse_in_recording(const char* operation) const;
  /// cudaFree once both streams are done. A lost device gives errors here that the next checked call tells.
  void free(void* data) noexcept;
  int ordinal = 0;
  Stream main, copy;
  Event ready;  ///< brings the copy stream behind the main one, and back at the end of a recording
  Staging staging;
  const std::shared_ptr<Capture> shared_capture =
      std::make_shared<Capture>();  ///< host buffers may outlive it
  Capture& capture = *shared_capture;
};

}  // namespace lorikeet::cuda

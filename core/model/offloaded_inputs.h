// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/backend.h"

namespace lorikeet {

/// Inputs of recomputed layers between forward and backward, in page-locked memory of the host. On the device
/// two matrices serve in turns, one for layers with an even number and one for the others: while a layer is
/// computed, the input of the one before it leaves, and in the backward that of the next one comes back.
/// Calls come in the order of the layers: 0, 1, ... in the forward, then down again.
class OffloadedInputs {
 public:
  OffloadedInputs() = default;
  /// `layers[i]`: the input of layer i, of at most `bytes`, is offloaded. All memory is taken here.
  OffloadedInputs(Backend& backend, std::vector<bool> layers, std::size_t bytes);

  /// Before layer `layer`'s input is written: its matrix has left.
  void make_room(std::size_t layer);
  /// Layer `layer`'s input has been written: it leaves.
  void leave(std::size_t layer, TensorView input);
  /// Layer `layer`'s input is wanted soon; the work given so far was the last to read what its matrix holds.
  void fetch(std::size_t layer, TensorView input);
  /// Work given from here on may read layer `layer`'s input.
  void arrive(std::size_t layer);

 private:
  bool holds(std::size_t layer) const { return layer < buffers_.size() && buffers_[layer]; }

  Backend* backend_ = nullptr;
  std::vector<std::unique_ptr<HostBuffer>> buffers_;  ///< of each layer, null where it is not offloaded
  std::array<std::int64_t, 2> inside_{-1, -1};        ///< the layer whose input a matrix holds
  std::array<bool, 2> leaving_{}, coming_{};
};

}  // namespace lorikeet

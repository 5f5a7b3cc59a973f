// SPDX-License-Identifier: Apache-2.0
#include "core/model/offloaded_inputs.h"

namespace lorikeet {

OffloadedInputs::OffloadedInputs(Backend& backend, std::vector<bool> layers, std::size_t bytes)
    : backend_(&backend), buffers_(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i]) buffers_[i] = backend.allocate_host(bytes);
  }
}

void OffloadedInputs::make_room(std::size_t layer) {
  if (!holds(layer)) return;
  const std::size_t turn = layer % 2;
  if (leaving_[turn] || coming_[turn])
    backend_->order_after(*buffers_[static_cast<std::size_t>(inside_[turn])]);
  leaving_[turn] = coming_[turn] = false;
  inside_[turn] = -1;
}

void OffloadedInputs::leave(std::size_t layer, TensorView input) {
  if (!holds(layer)) return;
  const std::size_t turn = layer % 2;
  backend_->download_later(*buffers_[layer], input);
  inside_[turn] = static_cast<std::int64_t>(layer);
  leaving_[turn] = true;
}

void OffloadedInputs::fetch(std::size_t layer, TensorView input) {
  if (!holds(layer)) return;
  const std::size_t turn = layer % 2;
  if (inside_[turn] == static_cast<std::int64_t>(layer))
    return;  // the last ones of the forward are still there
  make_room(layer);
  backend_->upload_later(input, *buffers_[layer]);
  inside_[turn] = static_cast<std::int64_t>(layer);
  coming_[turn] = true;
}

void OffloadedInputs::arrive(std::size_t layer) {
  if (!holds(layer)) return;
  const std::size_t turn = layer % 2;
  if (coming_[turn]) backend_->order_after(*buffers_[layer]);
  coming_[turn] = false;
}

}  // namespace lorikeet

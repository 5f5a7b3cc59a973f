// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lorikeet::cuda {

/// Memory of a whole card, in bytes.
struct BoardMemory {
  std::uint64_t free_bytes = 0, total_bytes = 0;
};

/// What NVIDIA's management library (libnvidia-ml.so.1, part of the driver) says of the card at this PCI bus
/// id
/// ("0000:01:00.0"). Unlike cudaMemGetInfo it takes no memory on the card. Nothing where the library is
/// missing or what it says makes no sense.
std::optional<BoardMemory> board_memory(const std::string& bus_id);

/// Release of the driver, for example "580.65.06"; empty where it is not known.
std::string driver_release();

}  // namespace lorikeet::cuda

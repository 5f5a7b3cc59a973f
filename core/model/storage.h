// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/weight_source.h"

namespace lorikeet {

/// Elements [first, first + out.size()) of a stored tensor as f32, exact for every type (formats.md §7.2). `bytes` is the
/// whole tensor; a range outside it throws Error(bad_format). Rows in GGUF's interleaved order are not put back here.
void read_elements(StorageType type, std::span<const std::byte> bytes, std::int64_t first, std::span<float> out);

}  // namespace lorikeet

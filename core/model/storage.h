// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/weight_source.h"

namespace lorikeet {

/// Elements [first, first + out.size()) of a stored tensor as f32, exact for every type (formats.md §7.2).
/// `bytes` is the whole tensor; a range outside it throws Error(bad_format). Rows in GGUF's interleaved order
/// are not put back by this one.
void read_elements(StorageType type, std::span<const std::byte> bytes, std::int64_t first,
                   std::span<float> out);

/// Elements [first, first + out.size()) of a source's tensor in the row-major order of its Hugging Face
/// shape: rows that GGUF interleaves are put back (formats.md §7.4).
void read_elements(const SourceTensor& tensor, std::int64_t first, std::span<float> out);

}  // namespace lorikeet

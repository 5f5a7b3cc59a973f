// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lorikeet {

/// Anonymous resident memory of this process now, in bytes (mapped files do not count); 0 where it cannot be
/// read.
std::int64_t anonymous_bytes();
/// Gives memory that was freed back to the system: what the plan counts is what is in use.
void release_free_memory();
/// The largest resident memory of this process so far, in bytes, mapped files included.
std::int64_t peak_resident_bytes();

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lorikeet::parquet {

/// Unpacks one page into `plain`, which is exactly `plain_bytes` long afterwards. Throws Error(unsupported)
/// naming a codec that is not read, and Error(bad_format) for damaged bytes or a page that grows beyond what
/// pages do (byte_source.h).
void unpack(std::int64_t codec, std::string_view packed, std::size_t plain_bytes, std::string& plain);

}  // namespace lorikeet::parquet

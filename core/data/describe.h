// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "core/base/json.h"
#include "core/data/dataset.h"

namespace lorikeet {

/// What a data file is, in a screenful: format, shape and how sure that is, which column is which text,
/// counts, the first row, and under "notes" what is wrong: refused rows by reason with the first of their
/// numbers. The file is streamed. Throws what reading throws.
Json describe_data(const std::string& path, const ReadOptions& options = {}, std::stop_token stop = {});

}  // namespace lorikeet

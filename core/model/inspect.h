// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/json.h"

namespace lorikeet {

/// What a path is and everything wrong with it, without loading weights: {"kind": "model" | "adapter" | "run"
/// | "data", facts..., "problems": [{"what", "where", "hint"}], "notes": [...]}. Never throws for what is
/// wrong with the content; throws Error(not_found) when there is nothing at the path.
Json inspect_path(const std::string& path);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/train/prepare.h"
#include "core/train/run_folder.h"

namespace lorikeet {

/// Something about a run that is allowed and most likely not wanted.
struct StartWarning {
  std::string code;
  std::string what;  ///< what, where and what to do
};

/// Looks at what a run is about to learn from: no end token in what is trained, and, where it goes on from an
/// adapter, another template, system text or base than that one was trained with. `adapter_folder` "" = a
/// fresh adapter; `base_id` "" = not known.
std::vector<StartWarning> start_warnings(const PreparedData& data, const std::string& adapter_folder,
                                         const std::string& base_id);

}  // namespace lorikeet

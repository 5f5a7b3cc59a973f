// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace lorikeet {

/// Chat templates known by name, written for this project after the rendered shapes of formats.md §5.3.
struct KnownTemplate {
  std::string_view name;
  std::string_view text;  ///< Jinja source
};

const std::vector<KnownTemplate>& known_templates();

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/built_code.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace lorikeet::cuda {
namespace {

struct Architecture {
  int capability = 0;
  bool has_binary = true, has_ptx = true;
  bool only_this = false;  ///< "90a": for 9.0 itself, neither earlier nor later
};

/// Empty when an entry is not a number.
std::vector<Architecture> parse(const std::string& list) {
  std::vector<Architecture> all;
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t end = std::min(list.find(',', from), list.size());
    const std::string_view entry = std::string_view(list).substr(from, end - from);
    from = end + 1;
    Architecture one;
    std::size_t at = 0;
    for (; at < entry.size() && std::isdigit(static_cast<unsigned char>(entry[at])); ++at)
      one.capability = 10 * one.capability + (entry[at] - '0');
    if (at == 0) return {};
    one.only_this = at < entry.size() && entry[at] == 'a';
    one.has_ptx = !entry.ends_with("-real");
    one.has_binary = !entry.ends_with("-virtual");
    all.push_back(one);
  }
  return all;
}

bool has_binary_for(const Architecture& code, int capability) {
  if (!code.has_binary || (code.only_this && code.capability != capability)) return false;
  return code.capability / 10 == capability / 10 && code.capability <= capability;
}

bool has_ptx_for(const Architecture& code, int capability) {
  if (!code.has_ptx || (code.only_this && code.capability != capability)) return false;
  return code.capability <= capability;
}

}  // namespace

std::string capability_text(int compute_capability) {
  return std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10);
}

std::string version_text(int version) {
  return version > 0 ? std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) : "";
}

std::string code_obstacle(const std::string& architectures, int compute_capability, int driver_version,
                          int toolkit_version) {
  const std::vector<Architecture> codes = parse(architectures);
  if (codes.empty()) return {};
  bool has_ptx = false;
  std::string known;
  for (const Architecture& code : codes) {
    if (has_binary_for(code, compute_capability)) return {};
    has_ptx = has_ptx || has_ptx_for(code, compute_capability);
    known += (known.empty() ? "" : ", ") + capability_text(code.capability);
  }
  const std::string wanted = "compute capability " + capability_text(compute_capability);
  if (has_ptx && driver_version >= toolkit_version) return {};
  if (has_ptx) {
    return "this build's code for " + wanted + " needs a driver for CUDA " + version_text(toolkit_version) +
           " or newer, this one is for " + version_text(driver_version);
  }
  return "this build has no code for " + wanted + ", only for " + known;
}

}  // namespace lorikeet::cuda

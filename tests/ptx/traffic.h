// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lorikeet::ptx {

enum class LaunchKind : std::uint8_t { kernel, product, copy, fill };

/// What launches of one name have moved. Kernels: distinct 32-byte sectors of each launch times 32, counted
/// only where that is switched on; products of cublasLt, copies and fills: their operands once.
struct LaunchTotals {
  std::string name;  ///< without namespaces and parameters: "rms_norm_forward<__half>"
  LaunchKind kind = LaunchKind::kernel;
  std::uint64_t launches = 0, bytes_read = 0, bytes_written = 0;
  std::uint64_t bytes() const { return bytes_read + bytes_written; }
};

/// Totals by name, in order of the first launch.
class Traffic {
 public:
  void add(const std::string& name, LaunchKind kind, std::uint64_t bytes_read, std::uint64_t bytes_written);
  void clear();
  const std::vector<LaunchTotals>& totals() const { return totals_; }
  bool count_bytes = false;

 private:
  std::map<std::string, std::size_t> index_;
  std::vector<LaunchTotals> totals_;
};

/// A mangled kernel name as people write it: no namespaces, no parameters.
std::string readable_kernel_name(const std::string& mangled);

}  // namespace lorikeet::ptx

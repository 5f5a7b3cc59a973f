// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/traffic.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lorikeet::ptx {
namespace {

/// Cuts every "name::" and, at depth 0 of brackets, what follows the template arguments.
std::string without_namespaces(const std::string& name) {
  std::string out;
  std::size_t word = 0;  // where the current name starts in `out`
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 2, "::") == 0) {
      out.resize(word);
      ++i;
      continue;
    }
    out += name[i];
    if (name[i] == '<' || name[i] == ',' || name[i] == ' ' || name[i] == '(') word = out.size();
  }
  return out;
}

}  // namespace

void Traffic::add(const std::string& name, LaunchKind kind, std::uint64_t bytes_read,
                  std::uint64_t bytes_written) {
  const auto [entry, is_new] = index_.emplace(name, totals_.size());
  if (is_new) totals_.push_back({name, kind, 0, 0, 0});
  LaunchTotals& totals = totals_[entry->second];
  ++totals.launches;
  totals.bytes_read += bytes_read;
  totals.bytes_written += bytes_written;
}

void Traffic::clear() {
  index_.clear();
  totals_.clear();
}

std::string readable_kernel_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (!plain) return mangled;
  std::string name = plain.get();
  const std::string hidden = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(hidden)) != std::string::npos;) name.erase(at, hidden.size());
  // The parameters: from the bracket that closes last, backwards to its partner.
  if (!name.empty() && name.back() == ')') {
    int depth = 0;
    std::size_t i = name.size();
    while (i-- > 0) {
      if (name[i] == ')') ++depth;
      if (name[i] == '(' && --depth == 0) break;
    }
    name.resize(i);
  }
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  return without_namespaces(name);
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_info.h"

#include <omp.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/base/error.h"

namespace lorikeet {

namespace {

constexpr Isa all_levels[] = {Isa::x86_64_v2, Isa::avx2, Isa::avx512, Isa::avx512_bf16};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr == text.data()) return std::nullopt;
  return value;
}

/// The number in a one-number file; nothing when it is missing or says "max".
std::optional<std::uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  return parse_number(word);
}

/// The value after `key` in a file of "key value" lines (memory.stat, meminfo).
std::optional<std::uint64_t> read_field(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  std::string value;
  std::string rest;
  while (file >> name >> value) {
    std::getline(file, rest);
    if (name == key) return parse_number(value);
  }
  return std::nullopt;
}

/// Folders of a control group and of all groups around it, innermost first; `base` is where the hierarchy is
/// mounted. Inside a container the path may not exist below the mount; the mount itself is then the group.
std::vector<std::string> group_folders(const std::string& base, std::string path) {
  std::vector<std::string> folders;
  while (path.size() > 1 && path.front() == '/') {
    folders.push_back(base + path);
    path.erase(path.find_last_of('/'));
  }
  folders.push_back(base);
  return folders;
}

struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  ///< key in memory.stat of page cache that is dropped first
};

void apply_group(MemoryState& state, const std::string& folder, const GroupFiles& files) {
  const auto limit = read_number(folder + "/" + files.limit);
  if (!limit || *limit >= state.total_bytes) return;
  const std::uint64_t usage = read_number(folder + "/" + files.usage).value_or(0);
  const std::uint64_t cache = read_field(folder + "/memory.stat", files.reclaimable).value_or(0);
  const std::uint64_t held = usage - std::min(usage, cache);
  state.total_bytes = *limit;
  state.free_bytes = std::min(state.free_bytes, *limit - std::min(*limit, held));
}

}  // namespace

const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::x86_64_v2:
      return "x86-64-v2";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::avx512_bf16:
      return "avx512-bf16";
  }
  return "unknown";
}

Isa detected_isa() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c"))
    return Isa::x86_64_v2;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (!avx512) return Isa::avx2;
  return __builtin_cpu_supports("avx512bf16") ? Isa::avx512_bf16 : Isa::avx512;
}

Isa chosen_isa() {
  const Isa best = detected_isa();
  const char* wanted = std::getenv("LORIKEET_ISA");
  if (wanted == nullptr || *wanted == '\0') return best;
  for (const Isa isa : all_levels) {
    if (std::string_view(wanted) != to_string(isa)) continue;
    if (isa <= best) return isa;
    throw Error(ErrorCode::unsupported, std::string("This processor has no ") + wanted, "LORIKEET_ISA",
                std::string("The best it can do is ") + to_string(best));
  }
  throw Error(ErrorCode::invalid_argument, std::string("Unknown instruction set ") + wanted, "LORIKEET_ISA",
              "Use x86-64-v2, avx2, avx512 or avx512-bf16");
}

// Not sched_getaffinity: with OMP_PROC_BIND the first thread is bound to one core before main begins. OpenMP
// knows what the process might use before that.
int usable_cores() {
  return std::max(1, omp_get_num_procs());
}

MemoryState memory_state(const std::string& root) {
  MemoryState state;
  const std::string meminfo = root + "/proc/meminfo";
  state.total_bytes = read_field(meminfo, "MemTotal:").value_or(0) * 1024;
  state.free_bytes = read_field(meminfo, "MemAvailable:").value_or(0) * 1024;

  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      for (const auto& folder : group_folders(mount, path)) {
        apply_group(state, folder, {"memory.max", "memory.current", "inactive_file"});
      }
    } else if (controllers == "memory") {
      for (const auto& folder : group_folders(mount + "/memory", path)) {
        apply_group(state, folder, {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"});
      }
    }
  }
  return state;
}

DeviceInfo cpu_device_info(Isa isa, int threads) {
  DeviceInfo info;
  info.kind = "cpu";
  info.name = "Processor";
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      info.name = line.substr(colon + 2);
      break;
    }
  }
  info.instruction_set = to_string(isa);
  info.threads = threads;
  const MemoryState memory = memory_state();
  info.memory_total_bytes = memory.total_bytes;
  info.memory_free_bytes = memory.free_bytes;
  info.has_bf16 = isa == Isa::avx512_bf16;
  return info;
}

}  // namespace lorikeet

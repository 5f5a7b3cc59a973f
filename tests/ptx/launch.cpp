// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tests/ptx/interpreter.h"
#include "tests/ptx/machine.h"

namespace lorikeet::ptx {

namespace {

std::string text_of(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::size_t shared_total(const Program& program, std::size_t dynamic) {
  if (dynamic == 0) return program.static_shared;
  return (program.static_shared + program.dynamic_align - 1) / program.dynamic_align * program.dynamic_align +
         dynamic;
}

}  // namespace

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
std::size_t shared_limit(int target) {
  switch (target) {
    case 75:
      return 64 * 1024;
    case 80:
    case 87:
      return 163 * 1024;
    case 90:
    case 100:
      return 227 * 1024;
    default:
      return 99 * 1024;  // 86, 89, 120
  }
}

Launch::Launch(const Program& what, Dim3 grid_size, Dim3 block_size, std::size_t dynamic,
               const std::vector<std::byte>& bytes, DeviceMemory& device, const LaunchOptions& chosen)
    : program(what),
      grid(grid_size),
      block(block_size),
      dynamic_shared_bytes(dynamic),
      shared_bytes(shared_total(what, dynamic)),
      parameters(bytes),
      memory(device),
      options(chosen),
      random(chosen.seed),
      ranges(what.code.size()) {
  check_limits();
}

void Launch::check_limits() const {
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error(program.name + ": the launch is refused: grid " + text_of(grid) + ", block " +
                             text_of(block) + ", " + std::to_string(dynamic_shared_bytes) +
                             " bytes of dynamic shared memory: " + why);
  };
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  if (threads == 0 || threads > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64) {
    refuse("a block has 1 to 1024 threads, at most 1024 x 1024 x 64");
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
    refuse("a grid has at most 2147483647 x 65535 x 65535 blocks");
  }
  if (program.static_shared > 48 * 1024) refuse("more than 48 KiB of static shared memory");
  if (shared_bytes > shared_limit(program.target)) {
    refuse("more shared memory than sm_" + std::to_string(program.target) + " has");
  }
  if (program.threads_at_most != 0 && threads > program.threads_at_most) refuse("more threads than .maxntid");
  const std::uint32_t* required = program.threads_required;
  if (required[0] != 0 && (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
    refuse("not the threads of .reqntid");
  }
  if (parameters.size() < program.parameters.bytes) refuse("too few bytes of parameters");
}

std::string Launch::describe(const Block& at, const Warp& warp, std::uint32_t lane,
                             const std::string& what) const {
  const std::uint32_t thread = warp.index * warp_size + lane;
  const Dim3 thread_index{thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
  std::string text = program.name + ", block " + text_of(at.index) + ", thread " + text_of(thread_index);
  if (const Instruction* i = warp.current()) {
    text += ", PTX line " + std::to_string(i->statement->line) + ", \"" + i->statement->text + "\"";
  }
  return text + ": " + what;
}

LaunchCounts Launch::run() {
  std::vector<std::uint64_t> order(std::size_t{grid.x} * grid.y * grid.z);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const bool races = options.check_races && order.size() > 1;
  if (races || options.count_bytes) accesses = std::make_unique<GlobalAccesses>(races);
  Block state(*this);
  for (const std::uint64_t number : order) {
    try {
      state.run(number);
    } catch (const Fault& fault) {
      throw std::runtime_error(describe(state, *state.running, fault.lane, fault.what));
    }
  }
  if (options.count_bytes) {
    counts.sectors_read = accesses->sectors_read();
    counts.sectors_written = accesses->sectors_written();
  }
  return counts;
}

LaunchCounts run(const Kernel& kernel, Dim3 grid, Dim3 block, std::size_t dynamic_shared_bytes,
                 const std::vector<std::byte>& parameters, DeviceMemory& memory,
                 const LaunchOptions& options) {
  return Launch(kernel.program, grid, block, dynamic_shared_bytes, parameters, memory, options).run();
}

const ParameterLayout& parameters_of(const Kernel& kernel) {
  return kernel.program.parameters;
}
std::size_t static_shared_bytes(const Kernel& kernel) {
  return kernel.program.static_shared;
}

}  // namespace lorikeet::ptx

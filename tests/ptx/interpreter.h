// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::ptx {

class DeviceMemory;

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// One entry function of a module.
class Kernel;

/// The PTX text that nvcc emitted for one source file, decoded. Throws std::runtime_error naming line and text for an
/// instruction, type or directive it does not know.
class Module {
 public:
  Module(std::string_view text, std::string name);
  ~Module();
  Module(Module&&) noexcept;

  const Kernel* find(const std::string& mangled_name) const;   ///< nullptr when absent
  std::vector<std::string> kernel_names() const;
  int target() const;                                          ///< 75, 80, 90, 120
  /// Address of a __constant__ or __device__ variable, 0 when absent; and its size.
  std::uint64_t variable(const std::string& name, std::size_t& bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Sizes and offsets of a kernel's parameters in the block of bytes a launch takes.
struct ParameterLayout {
  std::size_t bytes = 0;
  std::vector<std::pair<std::size_t, std::size_t>> offset_and_size;
};
const ParameterLayout& parameters_of(const Kernel& kernel);
std::size_t static_shared_bytes(const Kernel& kernel);

struct LaunchOptions {
  std::uint64_t seed = 1;          ///< order in which warps and blocks run
  bool check_races = true;         ///< shared memory within a block; global memory between blocks of a launch
  bool count_bytes = false;        ///< distinct sectors of 32 bytes, see LaunchCounts
  /// So many turns of 4096 backward branches may pass in a block in which no warp exits or arrives at a barrier; then
  /// it is taken for one that never ends.
  std::uint64_t turns_without_progress = 1u << 14;
};

struct LaunchCounts {
  std::uint64_t instructions = 0;        ///< per thread
  std::uint64_t sectors_read = 0;        ///< distinct 32-byte sectors of global memory read in the whole launch
  std::uint64_t sectors_written = 0;
};

/// Runs a whole grid, block after block. What it cannot find: faults of ptxas and of the card, the order and rounding of
/// sums inside a tensor core (here: f32, k ascending), the error of .approx functions (here: rounded results), contraction
/// of a mul and an add by ptxas, effects of caches and of weak memory order, and races through global memory between the
/// threads of one block.
/// Throws std::runtime_error "kernel, block, thread, PTX line and text: what" for an access outside an
/// allocation, a misaligned one, a read of a register or byte never written, a race, a barrier that not all reach, a trap,
/// a deadlock, a launch the architecture refuses.
LaunchCounts run(const Kernel& kernel, Dim3 grid, Dim3 block, std::size_t dynamic_shared_bytes,
                 const std::vector<std::byte>& parameters, DeviceMemory& memory, const LaunchOptions& options);

}  // namespace lorikeet::ptx

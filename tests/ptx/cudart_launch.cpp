// SPDX-License-Identifier: Apache-2.0
// What nvcc's host code calls to register and launch kernels. These entry points are internals of CUDA 12 and
// 13: a new major version may need a change here. A kernel is found by its mangled name in the PTX of the
// emulated architecture.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "tests/ptx/interpreter.h"
#include "tests/ptx/runtime.h"

namespace lorikeet::ptx {
namespace {

struct Function {
  std::string name;                ///< mangled
  const Kernel* kernel = nullptr;  ///< found at the first use
  int most_dynamic_shared = 0;     ///< set by cudaFuncSetAttribute; 0 = not set
};

struct Variable {
  std::string name;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

/// A mangled name without the two numbers that nvcc makes from the path and the content of the source: an
/// object that came out of a compiler cache may have those of another folder.
std::string without_numbers(std::string name) {
  const auto clear = [&](std::size_t at) {
    for (std::size_t i = at; i < at + 8 && i < name.size(); ++i) name[i] = '0';
  };
  for (const std::string_view marker : {"_GLOBAL__N__", "_INTERNAL_"}) {
    for (std::size_t at = name.find(marker); at != std::string::npos; at = name.find(marker, at + 1)) {
      clear(at + marker.size());
      const std::size_t end = name.find("_cu_", at);
      if (end != std::string::npos) clear(end + 4);
    }
  }
  return name;
}

/// All PTX of one architecture, decoded file by file as kernels are asked for.
class Library {
 public:
  static Library& get() {
    static Library library;
    return library;
  }
  /// Throws std::runtime_error when no file has the kernel.
  const Kernel* kernel(const std::string& name) {
    const Place& place = place_of(name);
    return module_at(place).find(place.name);
  }
  /// The same for a variable; 0 when there is none.
  std::uint64_t variable(const std::string& name, std::size_t& bytes) {
    const Place& place = place_of(name);
    return module_at(place).variable(place.name, bytes);
  }

  std::map<const void*, Function> functions;
  std::map<const void*, Variable> variables;
  std::vector<Configuration> configurations;

 private:
  struct Place {
    std::string file, name;  ///< the name as this file has it
  };
  const Place& place_of(const std::string& name) {
    if (!indexed_) make_index();
    const auto found = places_.find(without_numbers(name));
    if (found != places_.end()) return found->second;
    throw std::runtime_error("no PTX in " + folder() + " has " + name + "; is LORIKEET_PTX_FOLDER right?");
  }
  Module& module_at(const Place& place) {
    auto& module = modules_[place.file];
    if (!module) module = std::make_unique<Module>(text_of(place.file), place.file);
    return *module;
  }
  static std::string folder() {
    const char* folder = std::getenv("LORIKEET_PTX_FOLDER");
    return std::string(folder ? folder : ".") + "/sm_" + std::to_string(Runtime::get().card.architecture);
  }
  static std::string text_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Names of entries and module variables: the word before '(' or '[' of a line that declares one.
  void make_index() {
    indexed_ = true;
    if (!std::filesystem::is_directory(folder())) throw std::runtime_error("there is no folder " + folder());
    for (const auto& file : std::filesystem::directory_iterator(folder())) {
      if (file.path().extension() != ".ptx") continue;
      std::ifstream in(file.path());
      for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] != '.') continue;
        const bool entry_line = line.find(".entry ") != std::string::npos;
        if (!entry_line && line.find(".const ") == std::string::npos &&
            line.find(".global ") == std::string::npos) {
          continue;
        }
        const std::string head = line.substr(0, line.find_first_of("([=;"));
        const std::size_t end = head.find_last_not_of(" \t");
        if (end == std::string::npos) continue;
        const std::size_t begin = head.find_last_of(" \t", end) + 1;
        const std::string name = head.substr(begin, end - begin + 1);
        places_[without_numbers(name)] = {file.path().string(), name};
      }
    }
  }

  bool indexed_ = false;
  std::map<std::string, Place> places_;  ///< by name without numbers
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

Function* find_function(Runtime& r, const void* host) {
  Library& library = Library::get();
  const auto found = library.functions.find(host);
  if (found == library.functions.end()) {
    r.refuse(cudaErrorInvalidDeviceFunction, "not a kernel");
    return nullptr;
  }
  Function& function = found->second;
  try {
    if (!function.kernel) function.kernel = library.kernel(function.name);
    if (function.kernel) return &function;
    r.refuse(cudaErrorInvalidDeviceFunction, "no entry " + function.name);
  } catch (const std::exception& error) {
    r.refuse(cudaErrorInvalidDeviceFunction, error.what());
  }
  return nullptr;
}

/// Empty when a card would start this, else what it refuses.
std::string wrong_configuration(const Card& card, const Function& f, const Configuration& c) {
  const auto text = [](const dim3& d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
  };
  if (c.grid.x == 0 || c.grid.y == 0 || c.grid.z == 0 || c.grid.x > 2147483647u || c.grid.y > 65535 ||
      c.grid.z > 65535) {
    return "a grid of " + text(c.grid);
  }
  const std::uint64_t threads = std::uint64_t{c.block.x} * c.block.y * c.block.z;
  if (threads == 0 || threads > 1024 || c.block.x > 1024 || c.block.y > 1024 || c.block.z > 64) {
    return "a block of " + text(c.block);
  }
  const auto fixed = static_cast<int>(static_shared_bytes(*f.kernel));
  const int most = std::max(f.most_dynamic_shared, card.shared_per_block - fixed);
  if (c.shared_bytes > static_cast<std::size_t>(std::max(most, 0)) || fixed > card.shared_per_block) {
    return std::to_string(c.shared_bytes) + " bytes of dynamic shared memory where " + std::to_string(most) +
           " are allowed beside " + std::to_string(fixed) + " static";
  }
  return "";
}

cudaError_t launch(const void* host, const Configuration& c, void** arguments) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = r.code_status(); status != cudaSuccess) return status;
    const Function* function = find_function(r, host);
    if (!function) return cudaErrorInvalidDeviceFunction;
    if (const std::string wrong = wrong_configuration(r.card, *function, c); !wrong.empty()) {
      return r.refuse(cudaErrorInvalidConfiguration, readable_kernel_name(function->name) + ": " + wrong);
    }
    const ParameterLayout& layout = parameters_of(*function->kernel);
    std::vector<std::byte> parameters(layout.bytes);
    for (std::size_t i = 0; i < layout.offset_and_size.size(); ++i) {
      std::memcpy(parameters.data() + layout.offset_and_size[i].first, arguments[i],
                  layout.offset_and_size[i].second);
    }
    const Dim3 grid{c.grid.x, c.grid.y, c.grid.z}, block{c.block.x, c.block.y, c.block.z};
    const auto work = [&r, kernel = function->kernel, grid, block, shared = c.shared_bytes,
                       name = readable_kernel_name(function->name), parameters = std::move(parameters)] {
      LaunchOptions options;
      options.seed = r.seed + ++r.clock;
      options.count_bytes = r.traffic.count_bytes;
      LaunchCounts counts;
      try {
        counts = run(*kernel, grid, block, shared, parameters, r.memory, options);
      } catch (const std::exception& error) {  // "mangled name, block ...": readable instead
        const std::string text = error.what();
        throw std::runtime_error(name + text.substr(std::min(text.find(", "), text.size())));
      }
      r.traffic.add(name, LaunchKind::kernel, counts.sectors_read * 32, counts.sectors_written * 32);
    };
    return r.submit(c.stream, work);
  });
}

cudaError_t symbol_copy(Runtime& r, const void* symbol, std::size_t offset, std::size_t bytes,
                        Variable*& variable) {
  Library& library = Library::get();
  const auto found = library.variables.find(symbol);
  if (found == library.variables.end())
    return r.refuse(cudaErrorInvalidSymbol, "not a variable of the device");
  variable = &found->second;
  if (variable->address == 0) {
    try {
      variable->address = library.variable(variable->name, variable->bytes);
    } catch (const std::exception& error) {
      return r.refuse(cudaErrorInvalidSymbol, error.what());
    }
  }
  if (variable->address == 0) return r.refuse(cudaErrorInvalidSymbol, "no variable " + variable->name);
  if (offset > variable->bytes || bytes > variable->bytes - offset) {
    return r.refuse(cudaErrorInvalidValue, "beyond the end of " + variable->name);
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace lorikeet::ptx

using namespace lorikeet::ptx;

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* device_name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  Library::get().functions[host].name = device_name;
}
void __cudaRegisterVar(void**, char* host, char*, const char* device_name, int, std::size_t, int, int) {
  Library::get().variables[host].name = device_name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, CUstream_st* stream) {
  Library::get().configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  std::vector<Configuration>& stack = Library::get().configurations;
  const Configuration top = stack.back();
  stack.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared_bytes, stream}, arguments);
}
cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t stream) {
  return launch(host, {grid, block, shared_bytes, stream}, arguments);
}

cudaError_t cudaFuncSetAttribute(const void* host, cudaFuncAttribute attribute, int value) {
  return entry([&](Runtime& r) {
    Function* function = find_function(r, host);
    if (!function) return cudaErrorInvalidDeviceFunction;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      return cudaSuccess;  // wishes, without effect here
    if (value < 0 ||
        value + static_cast<int>(static_shared_bytes(*function->kernel)) > r.card.shared_per_block_most) {
      return r.refuse(cudaErrorInvalidValue, readable_kernel_name(function->name) + ": " +
                                                 std::to_string(value) + " bytes of dynamic shared memory");
    }
    function->most_dynamic_shared = value;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* host) {
  return entry([&](Runtime& r) {
    if (const cudaError_t status = r.code_status(); status != cudaSuccess) return status;
    const Function* function = find_function(r, host);
    if (!function) return cudaErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->sharedSizeBytes = static_shared_bytes(*function->kernel);
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 64;
    attributes->ptxVersion = attributes->binaryVersion = r.card.architecture;
    attributes->maxDynamicSharedSizeBytes =
        std::max(function->most_dynamic_shared,
                 r.card.shared_per_block - static_cast<int>(attributes->sharedSizeBytes));
    return cudaSuccess;
  });
}

/// Registers are not known here; 64 a thread are assumed.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                          std::size_t dynamic_shared) {
  return entry([&](Runtime& r) {
    const Function* function = find_function(r, host);
    if (!function) return cudaErrorInvalidDeviceFunction;
    if (threads <= 0 || threads > 1024) return r.refuse(cudaErrorInvalidValue, "threads of a block");
    const int rounded = (threads + 31) / 32 * 32;
    const auto shared = static_cast<int>(static_shared_bytes(*function->kernel) + dynamic_shared) + 1024;
    *blocks = std::min({r.card.blocks_per_multiprocessor, r.card.threads_per_multiprocessor / rounded,
                        65536 / (64 * rounded), r.card.shared_per_multiprocessor / shared});
    return cudaSuccess;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                   std::size_t dynamic_shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, dynamic_shared);
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return entry([&](Runtime& r) {
    Variable* variable = nullptr;
    if (const cudaError_t status = symbol_copy(r, symbol, offset, bytes, variable); status != cudaSuccess)
      return status;
    const auto* data = static_cast<const char*>(from);
    return r.submit(stream,
                    [to = variable->address + offset, staged = std::vector<char>(data, data + bytes)] {
                      std::memcpy(reinterpret_cast<void*>(to), staged.data(), staged.size());
                    });
  });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  const cudaError_t status = cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr);
  return status != cudaSuccess ? status : cudaStreamSynchronize(nullptr);
}

}  // extern "C"

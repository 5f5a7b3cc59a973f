// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "tests/ptx/interpreter.h"
#include "tests/ptx/program.h"

namespace lorikeet::ptx {

struct Module::Impl {
  std::string name;
  ParsedModule parsed;
  std::map<std::string, ModuleVariable> variables;
  std::vector<std::unique_ptr<std::byte[]>> storage;
  std::map<std::string, Kernel> kernels;

  void place_variables() {
    for (const Variable& v : parsed.variables) {
      if (v.space == Space::shared) continue;
      if (v.bytes > (std::size_t{1} << 30)) throw std::runtime_error("variable " + v.name + " is too large");
      const std::size_t align = std::max<std::size_t>(v.align, 256);
      storage.emplace_back(new std::byte[v.bytes + align]());
      const auto raw = reinterpret_cast<std::uint64_t>(storage.back().get());
      const std::uint64_t address = (raw + align - 1) / align * align;
      std::copy_n(v.initial.begin(), v.initial.size(), reinterpret_cast<std::uint8_t*>(address));
      variables[v.name] = {address, v.bytes, v.space == Space::constant};
    }
    for (const Variable& v : parsed.variables) {
      for (const Variable::Reference& r : v.references) {
        const auto found = variables.find(r.name);
        if (found == variables.end())
          throw std::runtime_error("unknown name " + r.name + " in the value of " + v.name);
        const std::uint64_t value = found->second.address + r.addend;
        std::memcpy(reinterpret_cast<std::byte*>(variables[v.name].address) + r.offset, &value, sizeof value);
      }
    }
  }
};

Module::Module(std::string_view text, std::string name) : impl_(std::make_unique<Impl>()) {
  try {
    impl_->name = name;
    impl_->parsed = parse_module(text);
    impl_->place_variables();
    for (const Function& f : impl_->parsed.functions) {
      if (f.entry && f.defined)
        build_program(impl_->parsed, f, impl_->variables, impl_->kernels[f.name].program);
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(name + ": " + error.what());
  }
}

Module::~Module() = default;
Module::Module(Module&&) noexcept = default;

const Kernel* Module::find(const std::string& mangled_name) const {
  const auto found = impl_->kernels.find(mangled_name);
  return found == impl_->kernels.end() ? nullptr : &found->second;
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : impl_->kernels) names.push_back(name);
  return names;
}

int Module::target() const {
  return impl_->parsed.target;
}

std::uint64_t Module::variable(const std::string& name, std::size_t& bytes) const {
  const auto found = impl_->variables.find(name);
  bytes = found == impl_->variables.end() ? 0 : found->second.bytes;
  return found == impl_->variables.end() ? 0 : found->second.address;
}

}  // namespace lorikeet::ptx

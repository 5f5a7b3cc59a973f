// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/ptx/program.h"

namespace lorikeet::ptx {

/// Builds one program: lays out the functions, the shared, local and parameter memory, and decodes every
/// statement.
class ProgramBuilder {
 public:
  ProgramBuilder(const ParsedModule& module, const std::map<std::string, ModuleVariable>& variables,
                 Program& program)
      : module_(module), variables_(variables), program_(program) {}

  void build(const Function& entry);

  // For Decoder.
  struct Symbol {
    Space space = Space::generic;  ///< generic: not found
    std::uint64_t value = 0;
    bool kernel_parameter = false;
    std::size_t bytes = 0;
  };
  Program& program() { return program_; }
  const Function& function() const { return *function_; }
  Symbol symbol(const std::string& name, int scope) const;
  Slot register_slot(std::uint32_t index, int lane_bytes);
  Slot constant(std::uint64_t bits, int lane_bytes);
  std::uint32_t label(const std::string& name, int scope) const;
  std::uint32_t table(const std::string& name, int scope);
  const Function* callee(const std::string& name) const;
  std::uint32_t function_number(const Function& f) const { return layouts_.at(&f).number; }
  std::uint32_t function_start(const Function& f) const { return layouts_.at(&f).first_instruction; }
  std::uint32_t parameter_offset(const Function& f, std::size_t parameter, bool result) const;
  Slot return_address(const Function& f) const;  ///< register of the place a call of f comes back to

 private:
  struct Layout {
    std::uint32_t number = 0, first_instruction = 0, first_register = 0;
    std::map<std::pair<int, std::string>, Symbol> symbols;
    std::vector<std::uint32_t> parameters, results;
  };
  void collect(const Function& f, std::vector<const Function*>& path);
  void lay_out(const Function& f);
  void place_shared(const Variable& v, Symbol& symbol);
  void place_module_shared();
  void decode(const Function& f);

  const ParsedModule& module_;
  const std::map<std::string, ModuleVariable>& variables_;
  Program& program_;
  const Function* function_ = nullptr;
  std::vector<const Function*> order_;
  std::map<const Function*, Layout> layouts_;
  std::map<std::string, Symbol> module_shared_;
  std::vector<std::uint32_t> register_bytes_;
  std::map<std::pair<std::uint64_t, int>, std::uint32_t> constants_;
};

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/builder.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/ptx/decoder.h"
#include "tests/ptx/tokens.h"

namespace lorikeet::ptx {

namespace {

std::size_t round_up(std::size_t value, std::size_t align) {
  return (value + align - 1) / align * align;
}

std::uint32_t lane_bytes_of(Type type) {
  if (type == Type::pred) return 4;
  return size_of(type) == 8 ? 256 : 128;
}

}  // namespace

void build_program(const ParsedModule& module, const Function& entry,
                   const std::map<std::string, ModuleVariable>& variables, Program& program) {
  ProgramBuilder(module, variables, program).build(entry);
}

void ProgramBuilder::build(const Function& entry) {
  program_.name = entry.name;
  program_.target = module_.target;
  program_.variables = &variables_;
  program_.threads_at_most = entry.threads_at_most;
  std::copy(entry.threads_required, entry.threads_required + 3, program_.threads_required);
  std::vector<const Function*> path;
  collect(entry, path);
  place_module_shared();
  for (const Function* f : order_) lay_out(*f);
  std::uint32_t at = 0;
  for (const Function* f : order_) {
    layouts_[f].first_instruction = at;
    at += static_cast<std::uint32_t>(f->statements.size());
  }
  program_.entry = layouts_[&entry].first_instruction;
  program_.functions = static_cast<std::uint32_t>(order_.size());
  // Dynamic shared memory follows what is static; its address is known now.
  for (auto& [name, symbol] : module_shared_) {
    if (symbol.bytes == 0) symbol.value = round_up(program_.static_shared, program_.dynamic_align);
  }
  for (const Function* f : order_) decode(*f);
  program_.lane_bytes = round_up(program_.lane_bytes, 16);
  place_registers(program_, register_bytes_);
}

const Function* ProgramBuilder::callee(const std::string& name) const {
  for (const Function& f : module_.functions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

void ProgramBuilder::collect(const Function& f, std::vector<const Function*>& path) {
  if (std::find(path.begin(), path.end(), &f) != path.end()) {
    throw std::runtime_error("PTX line " + std::to_string(f.line) + ": recursion through " + f.name +
                             " is not known");
  }
  if (std::find(order_.begin(), order_.end(), &f) != order_.end()) return;
  path.push_back(&f);
  for (const Statement& s : f.statements) {
    if (s.opcode != "call") continue;
    for (const Operand& o : s.operands) {
      const Function* called = o.kind == Operand::Kind::symbol ? callee(o.name) : nullptr;
      if (called != nullptr && called->defined) collect(*called, path);
    }
  }
  path.pop_back();
  order_.push_back(&f);
}

void ProgramBuilder::place_shared(const Variable& v, Symbol& symbol) {
  symbol.space = Space::shared;
  symbol.bytes = v.bytes;
  if (v.unsized) {
    program_.dynamic_align = std::max(program_.dynamic_align, v.align);
    return;
  }
  program_.static_shared = round_up(program_.static_shared, v.align);
  symbol.value = program_.static_shared;
  program_.static_shared += v.bytes;
}

void ProgramBuilder::place_module_shared() {
  const auto mentions = [](const Operand& o, const std::string& name, const auto& self) -> bool {
    if (o.kind == Operand::Kind::symbol && o.name == name) return true;
    return std::any_of(o.parts.begin(), o.parts.end(),
                       [&](const Operand& part) { return self(part, name, self); });
  };
  for (const Variable& v : module_.variables) {
    if (v.space != Space::shared) continue;
    const bool used = std::any_of(order_.begin(), order_.end(), [&](const Function* f) {
      return std::any_of(f->statements.begin(), f->statements.end(), [&](const Statement& s) {
        return std::any_of(s.operands.begin(), s.operands.end(),
                           [&](const Operand& o) { return mentions(o, v.name, mentions); });
      });
    });
    if (used) place_shared(v, module_shared_[v.name]);
  }
}

void ProgramBuilder::lay_out(const Function& f) {
  Layout& layout = layouts_[&f];
  layout.number = static_cast<std::uint32_t>(layouts_.size() - 1);
  register_bytes_.push_back(256);  // the return address
  layout.first_register = static_cast<std::uint32_t>(register_bytes_.size());
  for (const Register& r : f.registers) register_bytes_.push_back(lane_bytes_of(r.type));
  const auto in_lane = [&](const Variable& v, Space space) {
    program_.lane_bytes = round_up(program_.lane_bytes, v.align);
    const Symbol symbol{space, program_.lane_bytes, false, v.bytes};
    program_.lane_bytes += v.bytes;
    layout.symbols[{v.scope, v.name}] = symbol;
    return static_cast<std::uint32_t>(symbol.value);
  };
  std::size_t at = 0;
  for (const Variable& v : f.parameters) {
    if (!f.entry) {
      layout.parameters.push_back(in_lane(v, Space::param));
      continue;
    }
    at = round_up(at, v.align);
    layout.symbols[{0, v.name}] = {Space::param, at, true, v.bytes};
    program_.parameters.offset_and_size.emplace_back(at, v.bytes);
    at += v.bytes;
    program_.parameters.bytes = at;
  }
  for (const Variable& v : f.results) layout.results.push_back(in_lane(v, Space::param));
  for (const Variable& v : f.variables) {
    if (v.space == Space::shared) {
      place_shared(v, layout.symbols[{v.scope, v.name}]);
    } else {
      in_lane(v, v.space);
    }
  }
  if (program_.lane_bytes > (1u << 20)) throw std::runtime_error("too much local memory in " + f.name);
}

void ProgramBuilder::decode(const Function& f) {
  function_ = &f;
  for (const Statement& s : f.statements) {
    const Decode decode_it = find_decode(s.opcode);
    Decoder decoder(*this, s);
    if (decode_it == nullptr) decoder.fail("unknown instruction " + s.opcode);
    if (s.guarded) {
      decoder.i.guarded = true;
      decoder.i.guard_negated = s.guard_negated;
      if (f.registers[s.guard].type != Type::pred) decoder.fail("the guard is no predicate");
      decoder.i.guard = register_slot(s.guard, 4);
    }
    decode_it(decoder);
    decoder.finish();
    program_.code.push_back(decoder.i);
  }
}

ProgramBuilder::Symbol ProgramBuilder::symbol(const std::string& name, int scope) const {
  const Layout& layout = layouts_.at(function_);
  for (int s = scope; s >= 0; s = function_->scope_parents[static_cast<std::size_t>(s)]) {
    const auto found = layout.symbols.find({s, name});
    if (found != layout.symbols.end()) return found->second;
  }
  if (const auto found = module_shared_.find(name); found != module_shared_.end()) return found->second;
  if (const auto found = variables_.find(name); found != variables_.end()) {
    const ModuleVariable& v = found->second;
    return {v.constant ? Space::constant : Space::global, v.address, false, v.bytes};
  }
  return {};
}

Slot ProgramBuilder::register_slot(std::uint32_t index, int) {
  return {layouts_.at(function_).first_register + index, Bank::registers};
}

Slot ProgramBuilder::return_address(const Function& f) const {
  return {layouts_.at(&f).first_register - 1, Bank::registers};
}

Slot ProgramBuilder::constant(std::uint64_t bits, int lane_bytes) {
  const auto [found, added] =
      constants_.insert({{bits, lane_bytes}, static_cast<std::uint32_t>(program_.constants.size())});
  if (added) {
    const std::size_t size = lane_bytes == 4 ? 4 : static_cast<std::size_t>(lane_bytes);
    const std::size_t lane = size / (size == 4 ? 1 : 32);
    program_.constants.resize(program_.constants.size() + std::max<std::size_t>(size, 32));
    for (std::size_t at = 0; at < size; at += lane) {
      std::memcpy(program_.constants.data() + found->second + at, &bits, lane);
    }
  }
  return {found->second, Bank::constants};
}

std::uint32_t ProgramBuilder::label(const std::string& name, int scope) const {
  return layouts_.at(function_).first_instruction + function_->label(name, scope);
}

std::uint32_t ProgramBuilder::table(const std::string& name, int scope) {
  const auto found = function_->branch_targets.find(name);
  if (found == function_->branch_targets.end()) throw std::runtime_error("no branch targets " + name);
  std::vector<std::uint32_t> targets;
  for (const std::string& target : found->second) targets.push_back(label(target, scope));
  program_.tables.push_back(std::move(targets));
  return static_cast<std::uint32_t>(program_.tables.size() - 1);
}

std::uint32_t ProgramBuilder::parameter_offset(const Function& f, std::size_t parameter, bool result) const {
  const Layout& layout = layouts_.at(&f);
  return (result ? layout.results : layout.parameters).at(parameter);
}

}  // namespace lorikeet::ptx

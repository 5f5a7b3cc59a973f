// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/ptx/builder.h"
#include "tests/ptx/tokens.h"

namespace lorikeet::ptx {

namespace {

int lane_bytes_of(Type type) {
  return type == Type::pred ? 4 : size_of(type) == 8 ? 256 : 128;
}

int special_index(const std::string& name) {
  static const std::map<std::string, Special> names = {{"tid.x", tid_x},
                                                       {"tid.y", tid_y},
                                                       {"tid.z", tid_z},
                                                       {"ntid.x", ntid_x},
                                                       {"ntid.y", ntid_y},
                                                       {"ntid.z", ntid_z},
                                                       {"ctaid.x", ctaid_x},
                                                       {"ctaid.y", ctaid_y},
                                                       {"ctaid.z", ctaid_z},
                                                       {"nctaid.x", nctaid_x},
                                                       {"nctaid.y", nctaid_y},
                                                       {"nctaid.z", nctaid_z},
                                                       {"laneid", laneid},
                                                       {"warpid", warpid},
                                                       {"nwarpid", nwarpid},
                                                       {"smid", smid},
                                                       {"nsmid", nsmid},
                                                       {"lanemask_eq", lanemask_eq},
                                                       {"lanemask_le", lanemask_le},
                                                       {"lanemask_lt", lanemask_lt},
                                                       {"lanemask_ge", lanemask_ge},
                                                       {"lanemask_gt", lanemask_gt},
                                                       {"dynamic_smem_size", dynamic_smem_size},
                                                       {"total_smem_size", total_smem_size},
                                                       {"cluster_ctaid.x", special_zero},
                                                       {"cluster_ctaid.y", special_zero},
                                                       {"cluster_ctaid.z", special_zero},
                                                       {"cluster_nctaid.x", special_one},
                                                       {"cluster_nctaid.y", special_one},
                                                       {"cluster_nctaid.z", special_one},
                                                       {"cluster_ctarank", special_zero},
                                                       {"cluster_nctarank", special_one},
                                                       {"clusterid.x", ctaid_x},
                                                       {"clusterid.y", ctaid_y},
                                                       {"clusterid.z", ctaid_z},
                                                       {"nclusterid.x", nctaid_x},
                                                       {"nclusterid.y", nctaid_y},
                                                       {"nclusterid.z", nctaid_z}};
  const auto found = names.find(name);
  return found == names.end() ? -1 : static_cast<int>(found->second);
}

}  // namespace

void Decoder::fail(const std::string& what) const {
  fail_at(statement_.line, statement_.text, what);
}

bool Decoder::take(std::string_view modifier) {
  for (std::size_t m = 0; m < taken_.size(); ++m) {
    if (!taken_[m] && statement_.modifiers[m] == modifier) return taken_[m] = true;
  }
  return false;
}

int Decoder::take_one(std::initializer_list<std::string_view> modifiers) {
  int index = 0;
  for (const std::string_view m : modifiers) {
    if (take(m)) return index;
    ++index;
  }
  return -1;
}

int Decoder::need_one(std::initializer_list<std::string_view> modifiers) {
  const int found = take_one(modifiers);
  if (found < 0) fail("a modifier is missing or unknown");
  return found;
}

Type Decoder::take_type() {
  for (std::size_t m = 0; m < taken_.size(); ++m) {
    if (taken_[m]) continue;
    const Type type = type_named(statement_.modifiers[m]);
    if (type == Type::none) continue;
    taken_[m] = true;
    return type;
  }
  return Type::none;
}

Type Decoder::need_type(std::initializer_list<Type> allowed) {
  const Type type = take_type();
  if (type == Type::none) fail("no type that is known");
  if (allowed.size() != 0 && std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    fail("unknown type for this instruction");
  }
  return type;
}

void Decoder::take_hints() {
  for (const std::string_view hint :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged",
        "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::evict_normal", "L2::evict_first",
        "L2::evict_last", "L2::64B", "L2::128B", "L2::256B"}) {
    take(hint);
  }
}

void Decoder::finish() const {
  for (std::size_t m = 0; m < taken_.size(); ++m) {
    if (!taken_[m]) fail("unknown modifier ." + statement_.modifiers[m]);
  }
}

void Decoder::need_operands(std::size_t least, std::size_t most) const {
  if (operands().size() < least || operands().size() > most) fail("unexpected number of operands");
}

const Operand& Decoder::operand(std::size_t index) const {
  if (index >= operands().size()) fail("an operand is missing");
  return operands()[index];
}

Type Decoder::register_type(const Operand& o) const {
  return o.kind == Operand::Kind::reg ? builder_.function().registers[o.index].type : Type::none;
}

Slot Decoder::constant(std::uint64_t bits, int lane_bytes) {
  return builder_.constant(bits, lane_bytes);
}

Slot Decoder::source(const Operand& o, Type type) {
  const int lanes = lane_bytes_of(type);
  switch (o.kind) {
    case Operand::Kind::reg: {
      const Type declared = register_type(o);
      if (lane_bytes_of(declared) != lanes)
        fail("register " + o.name + " is of another size than the operand");
      if (o.bits != 0) fail("an offset is not possible here");
      return builder_.register_slot(o.index, lanes);
    }
    case Operand::Kind::special: {
      const int index = special_index(o.name);
      if (index < 0 || lanes != 128) fail("unknown special register %" + o.name);
      return {static_cast<std::uint32_t>(index) * 128, Bank::specials};
    }
    case Operand::Kind::integer:
      if (type == Type::pred) return constant(o.bits != 0 ? 0xffffffffu : 0, 4);
      if (type == Type::f32 || type == Type::f64) fail("an integer where a number is expected");
      return constant(size_of(type) == 8 ? o.bits : o.bits & ((std::uint64_t{1} << (8 * size_of(type))) - 1),
                      lanes);
    case Operand::Kind::real32:
      if (type == Type::f64) {
        return constant(std::bit_cast<std::uint64_t>(
                            static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(o.bits)))),
                        256);
      }
      if (size_of(type) != 4) fail("a number of 32 bits where another size is expected");
      return constant(o.bits, lanes);
    case Operand::Kind::real64:
      if (type == Type::f32) {
        return constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))), 128);
      }
      if (size_of(type) != 8) fail("a number of 64 bits where another size is expected");
      return constant(o.bits, lanes);
    case Operand::Kind::symbol: {
      if (o.name == "WARP_SZ" && type != Type::pred) return constant(32, lanes);
      const ProgramBuilder::Symbol symbol = builder_.symbol(o.name, statement_.scope);
      if (symbol.space == Space::generic) fail("unknown name " + o.name);
      if (type == Type::pred || (lanes == 128 && symbol.value > 0xffffffffu))
        fail("an address in too few bits");
      std::uint64_t value = symbol.value + o.bits;
      if (symbol.space == Space::param) value += symbol.kernel_parameter ? parameter_window : local_window;
      return constant(value, lanes);
    }
    default:
      fail("an operand of another kind is expected");
  }
}

Slot Decoder::destination(const Operand& o, Type type) {
  if (o.kind == Operand::Kind::sink) return {0, Bank::scratch};
  if (o.kind != Operand::Kind::reg || o.bits != 0) fail("the destination is no register");
  if (lane_bytes_of(register_type(o)) != lane_bytes_of(type)) {
    fail("register " + o.name + " is of another size than the result");
  }
  return builder_.register_slot(o.index, lane_bytes_of(type));
}

void Decoder::list(const std::vector<Slot>& destinations, const std::vector<Slot>& sources) {
  std::vector<Slot>& slots = builder_.program().slots;
  i.list = static_cast<std::uint32_t>(slots.size());
  i.list_destinations = static_cast<std::uint32_t>(destinations.size());
  i.list_size = static_cast<std::uint32_t>(destinations.size() + sources.size());
  slots.insert(slots.end(), destinations.begin(), destinations.end());
  slots.insert(slots.end(), sources.begin(), sources.end());
}

std::vector<Operand> Decoder::elements(const Operand& o) {
  if (o.kind == Operand::Kind::vector) return o.parts;
  return {o};
}

void Decoder::address(const Operand& o, Slot& base) {
  if (o.kind != Operand::Kind::address) fail("an address is expected");
  const Operand& inner = o.parts[0];
  i.offset = static_cast<std::int64_t>(o.bits);
  if (inner.kind == Operand::Kind::reg) {
    const Type type = register_type(inner);
    if (size_of(type) < 4) fail("an address in too few bits");
    i.address_32 = size_of(type) == 4;
    base = builder_.register_slot(inner.index, lane_bytes_of(type));
    return;
  }
  base = constant(0, 256);
  if (inner.kind == Operand::Kind::integer) {
    i.offset += static_cast<std::int64_t>(inner.bits);
    return;
  }
  if (inner.kind != Operand::Kind::symbol) fail("an address is expected");
  const ProgramBuilder::Symbol symbol = builder_.symbol(inner.name, statement_.scope);
  if (symbol.space == Space::generic) fail("unknown name " + inner.name);
  i.offset += static_cast<std::int64_t>(symbol.value);
  if (symbol.space == Space::param) i.mode = symbol.kernel_parameter ? kernel_parameter : lane_parameter;
  if (i.space != symbol.space && i.space != Space::generic) fail(inner.name + " is in another state space");
  if (i.space == Space::generic) i.space = symbol.space;
}

}  // namespace lorikeet::ptx

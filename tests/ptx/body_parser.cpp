// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/body_parser.h"

#include <cstdlib>
#include <utility>

namespace lorikeet::ptx {

namespace {

constexpr std::size_t most_registers = 1u << 20;

class BodyParser {
 public:
  BodyParser(TokenReader& in, Function& f) : in_(in), f_(f) {}

  void parse() {
    in_.expect("{");
    scopes_.push_back({});
    while (!scopes_.empty()) item();
    Statement end;  // falling off the end is a return
    end.line = in_.line();
    end.text = "end of " + f_.name;
    end.opcode = "ret";
    f_.statements.push_back(std::move(end));
  }

 private:
  struct Scope {
    int id = 0;
    std::map<std::string, std::uint32_t, std::less<>> names;
    struct Family {
      std::uint32_t first = 0, count = 0;
    };
    std::map<std::string, Family, std::less<>> families;  // .reg .b32 %r<100>;
  };

  void item() {
    in_.start_statement();
    if (in_.accept(";")) return;
    if (in_.accept("{")) return open();
    if (in_.accept("}")) {
      scopes_.pop_back();
      return;
    }
    const std::string_view word = in_.peek();
    if (word == ".reg") return registers();
    if (word == ".shared" || word == ".local" || word == ".param") {
      f_.variables.push_back(in_.variable(word == ".shared"  ? Space::shared
                                          : word == ".local" ? Space::local
                                                             : Space::param));
      f_.variables.back().scope = scopes_.back().id;
      return in_.expect(";");
    }
    if (word == ".pragma") {
      while (in_.take() != ";") {
      }
      return;
    }
    if (in_.peek(1) == ":") return label();
    if (word[0] == '.') in_.fail("unknown directive " + std::string(word));
    statement();
  }

  void open() {
    Scope scope;
    scope.id = static_cast<int>(f_.scope_parents.size());
    f_.scope_parents.push_back(scopes_.back().id);
    scopes_.push_back(std::move(scope));
  }

  void label() {
    const std::string name(in_.take());
    in_.expect(":");
    if (in_.accept(".branchtargets")) {
      std::vector<std::string>& targets = f_.branch_targets[name];
      do targets.emplace_back(in_.take());
      while (in_.accept(","));
      return in_.expect(";");
    }
    if (in_.peek() == ".callprototype" || in_.peek() == ".calltargets")
      in_.fail("calls through pointers are not known");
    const auto at = static_cast<std::uint32_t>(f_.statements.size());
    if (!f_.labels.insert({{scopes_.back().id, name}, at}).second) in_.fail("label twice: " + name);
  }

  void registers() {
    in_.take();
    const std::string_view word = in_.take();
    const Type type = word[0] == '.' ? type_named(word.substr(1)) : Type::none;
    if (type == Type::none) in_.fail("registers of type " + std::string(word) + " are not known");
    Scope& scope = scopes_.back();
    do {
      std::string name(in_.take());
      const auto first = static_cast<std::uint32_t>(f_.registers.size());
      if (in_.accept("<")) {
        const std::uint64_t count = in_.number();
        in_.expect(">");
        if (count + f_.registers.size() > most_registers) in_.fail("too many registers");
        for (std::uint64_t i = 0; i < count; ++i) f_.registers.push_back({name + std::to_string(i), type});
        scope.families[name] = {first, static_cast<std::uint32_t>(count)};
      } else {
        if (f_.registers.size() >= most_registers) in_.fail("too many registers");
        f_.registers.push_back({name, type});
        scope.names[std::move(name)] = first;
      }
    } while (in_.accept(","));
    in_.expect(";");
  }

  bool find_register(std::string_view name, std::uint32_t& index) const {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto one = scope->names.find(name); one != scope->names.end()) {
        index = one->second;
        return true;
      }
      if (digits == name.size() || name.size() - digits > 8) continue;
      const auto family = scope->families.find(name.substr(0, digits));
      const auto number = static_cast<std::uint32_t>(std::atoi(std::string(name.substr(digits)).c_str()));
      if (family != scope->families.end() && number < family->second.count) {
        index = family->second.first + number;
        return true;
      }
    }
    return false;
  }

  void statement() {
    Statement s;
    s.line = in_.line();
    s.scope = scopes_.back().id;
    if (in_.accept("@")) {
      s.guarded = true;
      s.guard_negated = in_.accept("!");
      if (!find_register(in_.peek(), s.guard)) in_.fail("unknown predicate " + std::string(in_.peek()));
      in_.take();
    }
    if (!in_.peek_is_word()) in_.fail("an instruction expected before \"" + std::string(in_.peek()) + "\"");
    std::string_view opcode = in_.take();
    for (std::size_t dot; (dot = opcode.find('.')) != opcode.npos; opcode.remove_prefix(dot + 1)) {
      add_word(s, opcode.substr(0, dot));
    }
    add_word(s, opcode);
    while (in_.peek() != ";") {
      if (!s.operands.empty()) in_.expect(",");
      s.operands.push_back(operand(0));
    }
    s.text = in_.statement_text();
    in_.expect(";");
    f_.statements.push_back(std::move(s));
  }

  static void add_word(Statement& s, std::string_view word) {
    if (s.opcode.empty()) {
      s.opcode = word;
    } else {
      s.modifiers.emplace_back(word);
    }
  }

  std::vector<Operand> sequence(std::string_view close, int depth) {
    std::vector<Operand> parts;
    while (!in_.accept(close)) {
      if (!parts.empty()) in_.expect(",");
      parts.push_back(operand(depth + 1));
    }
    return parts;
  }

  Operand operand(int depth) {
    if (depth > 3) in_.fail("operands nested too deep");
    Operand o;
    if (in_.accept("{")) {
      o.kind = Operand::Kind::vector;
      o.parts = sequence("}", depth);
      return o;
    }
    if (in_.accept("(")) {
      o.kind = Operand::Kind::list;
      o.parts = sequence(")", depth);
      return o;
    }
    if (in_.accept("[")) {
      o.kind = Operand::Kind::address;
      o.parts.push_back(operand(depth + 1));
      in_.expect("]");
      std::swap(o.bits, o.parts[0].bits);
      if (o.parts[0].kind == Operand::Kind::integer) std::swap(o.bits, o.parts[0].bits);
      return o;
    }
    o.negated = in_.accept("!");
    if (in_.peek() == "-") {
      o.bits = in_.number();
      return o;
    }
    simple(o);
    if (in_.accept("|")) o.second.push_back(operand(depth + 1));
    return o;
  }

  void simple(Operand& o) {
    if (!in_.peek_is_word()) in_.fail("an operand expected before \"" + std::string(in_.peek()) + "\"");
    const std::string word(in_.take());
    if (word == "_") {
      o.kind = Operand::Kind::sink;
    } else if (word.size() > 2 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F')) {
      o.kind = Operand::Kind::real32;
      o.bits = std::strtoull(word.c_str() + 2, nullptr, 16) & 0xffffffffu;
    } else if (word.size() > 2 && word[0] == '0' && (word[1] == 'd' || word[1] == 'D')) {
      o.kind = Operand::Kind::real64;
      o.bits = std::strtoull(word.c_str() + 2, nullptr, 16);
    } else if (parse_integer(word, o.bits)) {
      o.kind = Operand::Kind::integer;
    } else if (find_register(word, o.index)) {
      o.kind = Operand::Kind::reg;
      o.name = word;
      offset(o);
    } else if (word[0] == '%') {
      o.kind = Operand::Kind::special;
      o.name = word.substr(1);
    } else if (word[0] >= '0' && word[0] <= '9') {
      in_.fail("bad number " + word);
    } else {
      o.kind = Operand::Kind::symbol;
      o.name = word;
      offset(o);
    }
  }

  void offset(Operand& o) {
    if (in_.peek() == "-") {
      o.bits = in_.number();
    } else if (in_.accept("+")) {
      o.bits = in_.number();
    }
  }

  TokenReader& in_;
  Function& f_;
  std::vector<Scope> scopes_;
};

}  // namespace

void parse_body(TokenReader& in, Function& f) {
  BodyParser(in, f).parse();
}

}  // namespace lorikeet::ptx

// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/parser.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tests/ptx/body_parser.h"
#include "tests/ptx/tokens.h"

namespace lorikeet::ptx {

std::uint32_t Function::label(const std::string& label_name, int scope) const {
  for (int s = scope; s >= 0; s = scope_parents[static_cast<std::size_t>(s)]) {
    const auto found = labels.find({s, label_name});
    if (found != labels.end()) return found->second;
  }
  throw std::runtime_error("no label " + label_name + " in " + name);
}

namespace {

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text)
      : source_(text), tokens_(tokenize(text)), in_(source_, tokens_) {}

  ParsedModule parse() {
    while (!in_.end()) top_level();
    if (module_.target == 0) in_.fail("no .target sm_NN");
    return std::move(module_);
  }

 private:
  void top_level() {
    if (in_.accept(";")) return;
    const std::string_view word = in_.peek();
    if (word == ".target") return target();
    if (word == ".section") return section();
    if (word == ".pragma") return skip_statement();
    bool constant = false;
    for (;;) {
      const std::string_view next = in_.peek();
      if (next == ".entry" || next == ".func") return function(next == ".entry");
      if (next == ".global" || next == ".const" || next == ".shared") {
        constant = next == ".const";
        module_.variables.push_back(in_.variable(next == ".shared" ? Space::shared
                                                 : constant        ? Space::constant
                                                                   : Space::global));
        return in_.expect(";");
      }
      if (next != ".visible" && next != ".extern" && next != ".weak" && next != ".common") {
        in_.fail("unknown directive " + std::string(next));
      }
      in_.take();
    }
  }

  void target() {
    in_.take();
    const std::string name(in_.take());
    if (name.rfind("sm_", 0) != 0) in_.fail("unknown target " + name);
    module_.target = std::atoi(name.c_str() + 3);
    while (in_.accept(",")) in_.take();
  }

  void section() {
    while (!in_.end() && in_.peek() != "{") in_.take();
    int depth = 0;
    do {
      const std::string_view word = in_.take();
      depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    } while (depth > 0 && !in_.end());
  }

  void skip_statement() {
    while (!in_.end() && in_.take() != ";") {
    }
  }

  std::vector<Variable> parameter_list() {
    std::vector<Variable> list;
    in_.expect("(");
    while (!in_.accept(")")) {
      if (!list.empty()) in_.expect(",");
      if (in_.peek() != ".param") in_.fail("parameters in registers are not known");
      list.push_back(in_.variable(Space::param));
    }
    return list;
  }

  void function(bool entry) {
    Function f;
    f.entry = entry;
    f.line = in_.line();
    in_.take();
    if (in_.peek() == ".attribute") skip_parentheses();
    if (!entry && in_.peek() == "(") f.results = parameter_list();
    f.name = in_.take();
    if (in_.peek() == "(") f.parameters = parameter_list();
    while (in_.peek() != "{" && in_.peek() != ";") performance_directive(f);
    if (!in_.accept(";")) {
      f.defined = true;
      parse_body(in_, f);
    }
    for (Function& known : module_.functions) {
      if (known.name != f.name) continue;
      if (f.defined && known.defined) in_.fail("defined twice: " + f.name);
      if (f.defined) known = std::move(f);
      return;
    }
    module_.functions.push_back(std::move(f));
  }

  void skip_parentheses() {
    in_.take();
    in_.expect("(");
    while (!in_.accept(")")) in_.take();
  }

  void performance_directive(Function& f) {
    const std::string name(in_.take());
    if (name == ".noreturn" || name == ".explicitcluster") return;
    if (name != ".maxntid" && name != ".reqntid" && name != ".minnctapersm" && name != ".maxnreg" &&
        name != ".abi_preserve" && name != ".abi_preserve_control") {
      in_.fail("unknown directive " + name);
    }
    std::uint32_t values[3] = {1, 1, 1};
    int count = 0;
    do {
      if (count == 3) in_.fail("too many numbers after " + name);
      values[count++] = static_cast<std::uint32_t>(in_.number());
    } while (in_.accept(","));
    if (name == ".maxntid") f.threads_at_most = values[0] * values[1] * values[2];
    if (name == ".reqntid") std::copy(values, values + 3, f.threads_required);
  }

  std::string_view source_;
  std::vector<Token> tokens_;
  TokenReader in_;
  ParsedModule module_;
};

}  // namespace

ParsedModule parse_module(std::string_view text) {
  return ModuleParser(text).parse();
}

}  // namespace lorikeet::ptx

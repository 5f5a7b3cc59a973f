// SPDX-License-Identifier: Apache-2.0
#include "core/model/module_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t longest_pattern = 64 << 10;
constexpr std::uint32_t most_steps = 1'000'000, most_heap_kib = 32 << 10;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};

}  // namespace

struct ModulePattern::State {
  std::string where;
  std::unique_ptr<pcre2_code, Free> code;
  std::unique_ptr<pcre2_match_context, Free> context;

  /// Match data of a run from the start of the path, nullptr when it does not match.
  std::unique_ptr<pcre2_match_data, Free> run(const std::string& path, std::uint32_t options) const {
    std::unique_ptr<pcre2_match_data, Free> data(pcre2_match_data_create_from_pattern(code.get(), nullptr));
    const int result = pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(path.data()), path.size(), 0,
                                   options | PCRE2_ANCHORED, data.get(), context.get());
    if (result == PCRE2_ERROR_NOMATCH) return nullptr;
    if (result < 0) throw Error(ErrorCode::bad_format, "The pattern takes too many steps", where);
    return data;
  }
};

ModulePattern::ModulePattern(const std::string& pattern, const std::string& where)
    : state_(std::make_unique<State>()) {
  if (pattern.size() > longest_pattern) throw Error(ErrorCode::bad_format, "The pattern is too long", where);
  int code = 0;
  PCRE2_SIZE offset = 0;
  state_->where = where;
  state_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_NEVER_BACKSLASH_C, &code, &offset, nullptr));
  if (!state_->code) {
    throw Error(ErrorCode::bad_format,
                "The pattern is no regular expression at character " + std::to_string(offset), where);
  }
  state_->context.reset(pcre2_match_context_create(nullptr));
  pcre2_set_match_limit(state_->context.get(), most_steps);
  pcre2_set_depth_limit(state_->context.get(), most_steps);
  pcre2_set_heap_limit(state_->context.get(), most_heap_kib);
}

ModulePattern::ModulePattern(ModulePattern&&) noexcept = default;
ModulePattern& ModulePattern::operator=(ModulePattern&&) noexcept = default;
ModulePattern::~ModulePattern() = default;

bool ModulePattern::matches(const std::string& path) const {
  return state_->run(path, PCRE2_ENDANCHORED) != nullptr;
}

std::optional<std::string> ModulePattern::first_group(const std::string& path) const {
  const auto data = state_->run(path, 0);
  if (!data || pcre2_get_ovector_count(data.get()) < 2) return std::nullopt;
  const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(data.get());
  if (ends[2] == PCRE2_UNSET) return std::nullopt;
  return path.substr(ends[2], ends[3] - ends[2]);
}

}  // namespace lorikeet

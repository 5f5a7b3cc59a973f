// SPDX-License-Identifier: Apache-2.0
#include "core/text/template_source.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/utf8.h"
#include "core/text/known_templates.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{4} << 20;

/// A template whose line breaks were left as the two characters of a JSON escape, outside of {{ }} and {% %},
/// would print those characters into every prompt.
void refuse_escaped_line_breaks(const std::string& text, const std::string& path) {
  std::size_t line = 1, line_start = 0;
  bool inside = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const std::string_view two(text.data() + i, 2);
    if (text[i] == '\n') {
      ++line;
      line_start = i + 1;
    }
    if (two == "{{" || two == "{%" || two == "{#") inside = true;
    if (two == "}}" || two == "%}" || two == "#}") inside = false;
    if (!inside && (two == "\\n" || two == "\\\"")) {
      throw Error(ErrorCode::bad_format, "The template holds a JSON escape as plain text",
                  path + ", line " + std::to_string(line) + ", column " + std::to_string(i - line_start + 1),
                  "Save the template with its escapes resolved: a line break, not a backslash and a letter");
    }
  }
}

/// A Jinja file, or a tokenizer_config.json that holds one.
std::string read_template(const std::string& path) {
  std::string text = read_file(path, largest_file);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (const std::size_t valid = valid_utf8_prefix(text); valid < text.size()) {
    throw Error(ErrorCode::bad_format, "The template is not valid UTF-8",
                path + ", byte " + std::to_string(valid));
  }
  if (std::filesystem::path(path).extension() == ".json") {
    text = json_string(parse_json(text, path), "chat_template", "", path);
    if (text.empty()) throw Error(ErrorCode::not_found, "The file holds no chat_template", path);
  }
  refuse_escaped_line_breaks(text, path);
  return text;
}

}  // namespace

TemplateSource find_template(const std::string& setting, const std::string& carried, const std::string& own) {
  if (setting == "alpaca" || setting == "none") return {setting, ""};
  if (setting == "auto" || setting.empty()) {
    const std::string& text = carried.empty() ? own : carried;
    return text.empty() ? TemplateSource{"alpaca", ""} : TemplateSource{"chat", text};
  }
  std::string names = "auto, alpaca, none";
  for (const KnownTemplate& known : known_templates()) {
    if (setting == known.name) return {"chat", std::string(known.text)};
    names += ", " + std::string(known.name);
  }
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(setting, ignored)) {
    throw Error(ErrorCode::not_found, "There is no template of this name and no such file", setting,
                "Use one of " + names + ", or the path of a Jinja file");
  }
  return {"chat", read_template(setting)};
}

}  // namespace lorikeet

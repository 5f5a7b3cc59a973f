// SPDX-License-Identifier: Apache-2.0
#include "core/train/settings.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/train/settings_rows.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using Kind = SettingInfo::Kind;

[[noreturn]] void refuse(const SettingInfo& info, const std::string& text, const std::string& allowed) {
  throw Error(ErrorCode::invalid_argument, "\"" + text + "\" is not a value of " + info.key, info.key,
              "Allowed: " + allowed);
}

std::string number_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

std::string range_text(const SettingInfo& info) {
  std::string text = number_text(info.low) + " to " + number_text(info.high);
  if (!std::isdigit(static_cast<unsigned char>(info.default_text.empty() ? '0' : info.default_text[0]))) {
    text += ", or " + info.default_text;
  }
  return text;
}

double parse_number(const SettingInfo& info, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end || !std::isfinite(value))
    refuse(info, text, range_text(info));
  if (value < info.low || value > info.high) refuse(info, text, range_text(info));
  return value;
}

std::int64_t parse_integer(const SettingInfo& info, const std::string& text) {
  const double value = parse_number(info, text);
  if (value != std::floor(value)) refuse(info, text, range_text(info) + ", whole numbers");
  return static_cast<std::int64_t>(value);
}

std::uint64_t parse_seed(const SettingInfo& info, const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) refuse(info, text, "a whole number from 0");
  return value;
}

/// "6GB", "512 MiB", "1000000": bytes. GB and MB are powers of ten, GiB and MiB powers of two.
std::uint64_t parse_bytes(const SettingInfo& info, const std::string& text) {
  std::size_t digits = 0;
  while (digits < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[digits])) || text[digits] == '.'))
    ++digits;
  std::string unit;
  for (const char c : text.substr(digits)) {
    if (c != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  double factor = 0;
  if (unit.empty() || unit == "b") factor = 1;
  if (unit == "mb") factor = 1e6;
  if (unit == "gb") factor = 1e9;
  if (unit == "mib" || unit == "m") factor = 0x1p20;
  if (unit == "gib" || unit == "g") factor = 0x1p30;
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + digits, value);
  if (factor == 0 || digits == 0 || result.ptr != text.data() + digits)
    refuse(info, text, "a size such as 6GB or 512MiB");
  value *= factor;
  if (value < info.low || value > info.high) refuse(info, text, "at least 64MB, such as 6GB");
  return static_cast<std::uint64_t>(value);
}

bool parse_boolean(const SettingInfo& info, const std::string& text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  refuse(info, text, "true, false");
}

std::string choices_text(const SettingInfo& info) {
  std::string text;
  for (const auto& choice : info.choices) text += (text.empty() ? "" : ", ") + choice;
  return text;
}

std::string parse_choice(const SettingInfo& info, const std::string& text) {
  for (const auto& choice : info.not_built) {
    if (choice == text) {
      throw Error(ErrorCode::unsupported, info.key + " " + text + " is not built yet", info.key,
                  "Use one of: " + choices_text(info));
    }
  }
  for (const auto& choice : info.choices) {
    if (choice == text) return text;
  }
  refuse(info, text, choices_text(info));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end > from) lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

const SettingRow& row_of(const std::string& key) {
  for (const auto& row : setting_rows()) {
    if (row.info.key == key) return row;
  }
  throw Error(ErrorCode::invalid_argument, "There is no setting named \"" + key + "\"", key,
              "lorikeet train --help lists the settings");
}

}  // namespace

const std::vector<SettingInfo>& settings_table() {
  static const std::vector<SettingInfo> table = [] {
    std::vector<SettingInfo> infos;
    for (const auto& row : setting_rows()) infos.push_back(row.info);
    return infos;
  }();
  return table;
}

const SettingInfo* find_setting(const std::string& key) {
  for (const auto& info : settings_table()) {
    if (info.key == key) return &info;
  }
  return nullptr;
}

void set_setting(Settings& settings, const std::string& key, const std::string& text) {
  const SettingRow& row = row_of(key);
  const SettingInfo& info = row.info;
  // "auto" and "none" are how a person writes the resting value of a number or a path.
  const bool is_resting = text == info.default_text && (text == "auto" || text == "none");
  std::visit(
      [&](auto member) {
        auto& value = settings.*member;
        using Value = std::remove_reference_t<decltype(value)>;
        if (is_resting && info.kind != Kind::choice) {
          value = Settings{}.*member;
        } else if constexpr (std::is_same_v<Value, bool>) {
          value = parse_boolean(info, text);
        } else if constexpr (std::is_same_v<Value, double>) {
          value = parse_number(info, text);
        } else if constexpr (std::is_same_v<Value, std::int64_t>) {
          value = parse_integer(info, text);
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
          value = info.kind == Kind::bytes ? parse_bytes(info, text) : parse_seed(info, text);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          value = lines_of(text);
        } else {
          value = info.kind == Kind::choice ? parse_choice(info, text) : text;
        }
      },
      row.member);
}

std::string setting_text(const Settings& settings, const std::string& key) {
  const SettingRow& row = row_of(key);
  return std::visit(
      [&](auto member) -> std::string {
        const auto& value = settings.*member;
        using Value = std::remove_cvref_t<decltype(value)>;
        const bool resting = row.info.default_text == "auto" || row.info.default_text == "none";
        if (resting && value == Settings{}.*member && row.info.kind != Kind::choice)
          return row.info.default_text;
        if constexpr (std::is_same_v<Value, bool>) {
          return value ? "true" : "false";
        } else if constexpr (std::is_same_v<Value, double>) {
          return number_text(value);
        } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
          std::string text;
          for (const auto& line : value) text += (text.empty() ? "" : "\n") + line;
          return text;
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return value;
        } else {
          return std::to_string(value);
        }
      },
      row.member);
}

Json settings_to_json(const Settings& settings) {
  Json json = Json::object();
  for (const auto& row : setting_rows()) {
    std::visit([&](auto member) { json[row.info.key] = settings.*member; }, row.member);
    const bool resting = row.info.default_text == "auto" || row.info.default_text == "none";
    if (resting && row.info.kind != Kind::text_list &&
        setting_text(settings, row.info.key) == row.info.default_text) {
      json[row.info.key] = row.info.default_text;
    }
  }
  return json;
}

Settings settings_from_json(const Json& json, const std::string& name, const Settings& base) {
  if (!json.is_object()) throw Error(ErrorCode::bad_format, "The settings are not an object", name);
  Settings settings = base;
  for (const auto& [key, value] : json.items()) {
    const SettingInfo& info = row_of(key).info;
    std::string text;
    const bool textual = info.kind == Kind::text || info.kind == Kind::choice || info.kind == Kind::bytes;
    if (value.is_string()) {
      text = value.get<std::string>();
    } else if (value.is_boolean() && info.kind == Kind::boolean) {
      text = value.get<bool>() ? "true" : "false";
    } else if (value.is_number() &&
               (info.kind == Kind::integer || info.kind == Kind::number || info.kind == Kind::bytes)) {
      text = value.is_number_float() ? number_text(value.get<double>()) : value.dump();
    } else if (value.is_array() && info.kind == Kind::text_list) {
      settings.sample_prompts.clear();
      for (const auto& line : value) {
        if (!line.is_string())
          throw Error(ErrorCode::bad_format, "Expected a list of texts", name + ": " + key);
        settings.sample_prompts.push_back(line.get<std::string>());
      }
      continue;
    } else {
      throw Error(ErrorCode::bad_format,
                  std::string("Expected ") + (textual ? "text" : "a number, true, false or a list"),
                  name + ": " + key);
    }
    if (info.kind == Kind::boolean && !value.is_boolean()) {
      throw Error(ErrorCode::bad_format, "Expected true or false", name + ": " + key);
    }
    set_setting(settings, key, text);
  }
  return settings;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "core/base/files.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

std::string line_and_column(std::string_view text, std::size_t byte) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Watches a parse for depth and repeated keys; nlohmann's parser calls it at every event.
struct Guard {
  const JsonLimits& limits;
  const std::string& name;
  std::vector<std::set<std::string>> keys;

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth > limits.depth) {
      throw Error(ErrorCode::bad_format,
                  "JSON is nested deeper than " + std::to_string(limits.depth) + " levels", name);
    }
    if (!limits.refuse_duplicate_keys) return true;
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key && !keys.empty() && !keys.back().insert(parsed.get<std::string>()).second) {
      throw Error(ErrorCode::bad_format,
                  "The key \"" + parsed.get<std::string>() + "\" stands twice in one object", name);
    }
    return true;
  }
};

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void wrong_type(const char* key, const char* wanted, const std::string& name) {
  throw Error(ErrorCode::bad_format, std::string("Expected ") + wanted, name + ": " + key);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  try {
    Guard guard{limits, name, {}};
    return Json::parse(text.begin(), text.end(), std::ref(guard));
  } catch (const Json::parse_error& error) {
    std::string what = error.what();
    // The library's text is "[json.exception...] parse error at line 1, column 2: detail"; only the detail is
    // ours to show.
    if (const auto colon = what.find(": "); colon != std::string::npos) what = what.substr(colon + 2);
    throw Error(ErrorCode::bad_format, "Not valid JSON, " + what,
                name + ", " + line_and_column(text, error.byte > 0 ? error.byte - 1 : 0));
  } catch (const Json::exception&) {  // a number such as 1e999 is another class of exception there
    throw Error(ErrorCode::bad_format, "Not valid JSON, a number is out of range", name);
  }
}

Json read_json_file(const std::string& path, std::uint64_t max_bytes, const JsonLimits& limits) {
  return parse_json(read_file(path, max_bytes), path, limits);
}

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_string(const Json& object, const char* key, const std::string& fallback,
                        const std::string& name) {
  const Json* value = member(object, key);
  if (!value) return fallback;
  if (!value->is_string()) wrong_type(key, "text", name);
  return value->get<std::string>();
}

std::int64_t json_int(const Json& object, const char* key, std::int64_t fallback, std::int64_t low,
                      std::int64_t high, const std::string& name) {
  const Json* value = member(object, key);
  if (!value) return fallback;
  double number = 0;
  if (value->is_number_integer()) {
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(high))
      number = INFINITY;
    else if (const auto exact = value->get<std::int64_t>(); exact >= low && exact <= high)
      return exact;
    else
      number = static_cast<double>(exact);
  } else if (value->is_number_float() && std::floor(value->get<double>()) == value->get<double>()) {
    number = value->get<double>();
    if (number >= static_cast<double>(low) && number <= static_cast<double>(high) &&
        std::abs(number) < 0x1p53) {
      return static_cast<std::int64_t>(number);
    }
  } else {
    wrong_type(key, "a whole number", name);
  }
  throw Error(ErrorCode::bad_format,
              "The number is outside " + std::to_string(low) + " to " + std::to_string(high),
              name + ": " + key);
}

double json_number(const Json& object, const char* key, double fallback, const std::string& name) {
  const Json* value = member(object, key);
  if (!value) return fallback;
  if (!value->is_number()) wrong_type(key, "a number", name);
  return value->get<double>();
}

bool json_bool(const Json& object, const char* key, bool fallback, const std::string& name) {
  const Json* value = member(object, key);
  if (!value) return fallback;
  if (!value->is_boolean()) wrong_type(key, "true or false", name);
  return value->get<bool>();
}

}  // namespace lorikeet

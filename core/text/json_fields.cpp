// SPDX-License-Identifier: Apache-2.0
#include "core/text/json_fields.h"

#include <nlohmann/json.hpp>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

[[noreturn]] void wrong(const char* key, const char* expected, const std::string& where) {
  throw Error(ErrorCode::bad_format, std::string("\"") + key + "\" is not " + expected, where);
}

}  // namespace

const nlohmann::json& field(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

std::string field_string(const nlohmann::json& object, const char* key, const std::string& fallback,
                         const std::string& where) {
  const nlohmann::json& value = field(object, key);
  if (value.is_null()) return fallback;
  if (!value.is_string()) wrong(key, "a text", where);
  return value.get<std::string>();
}

bool field_bool(const nlohmann::json& object, const char* key, bool fallback, const std::string& where) {
  const nlohmann::json& value = field(object, key);
  if (value.is_null()) return fallback;
  if (!value.is_boolean()) wrong(key, "true or false", where);
  return value.get<bool>();
}

std::int64_t field_int(const nlohmann::json& object, const char* key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high, const std::string& where) {
  const nlohmann::json& value = field(object, key);
  if (value.is_null()) return fallback;
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                    : value.is_number_integer() ? true
                                                : false;
  const std::int64_t number = fits ? value.get<std::int64_t>() : 0;
  if (!fits || number < low || number > high) {
    wrong(key, ("a whole number from " + std::to_string(low) + " to " + std::to_string(high)).c_str(), where);
  }
  return number;
}

const nlohmann::json& field_array(const nlohmann::json& object, const char* key, const std::string& where) {
  const nlohmann::json& value = field(object, key);
  if (!value.is_array()) wrong(key, "a list", where);
  return value;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lorikeet {

// Look-ups in tokenizer files. They are read as plain nlohmann::json (keys found in O(log n)), not as the
// ordered Json of core/base. Absent or null gives `fallback`; a wrong type throws Error(bad_format) naming
// `where` and the key.
std::string field_string(const nlohmann::json& object, const char* key, const std::string& fallback,
                         const std::string& where);
bool field_bool(const nlohmann::json& object, const char* key, bool fallback, const std::string& where);
std::int64_t field_int(const nlohmann::json& object, const char* key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high, const std::string& where);
/// The member, or a shared null when `object` is no object or lacks it.
const nlohmann::json& field(const nlohmann::json& object, const char* key);
/// The member as an array; throws Error(bad_format) when it is anything else.
const nlohmann::json& field_array(const nlohmann::json& object, const char* key, const std::string& where);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace lorikeet {

/// JSON with the order of its members kept, as people and templates see it.
using Json = nlohmann::ordered_json;

/// Limits for JSON from files that may be hostile.
struct JsonLimits {
  int depth = 128;
  bool refuse_duplicate_keys = false;
};

/// Parses UTF-8 text (a byte order mark is skipped). Throws Error(bad_format) with `where` = "<name>, line L,
/// column C" and what was wrong there; too deep and, if asked, duplicate keys are errors too.
Json parse_json(std::string_view text, const std::string& name, const JsonLimits& limits = {});

/// Reads and parses a whole file; `max_bytes` bounds what is read. Errors name the path.
Json read_json_file(const std::string& path, std::uint64_t max_bytes = 64u << 20,
                    const JsonLimits& limits = {});

/// Compact text, or indented by `indent` spaces; invalid UTF-8 is replaced, so it never throws.
std::string dump_json(const Json& json, int indent = -1);

/// Typed look-ups in an object that came from a file: absent or null gives `fallback`, a wrong type or a
/// number out of range throws Error(bad_format) with where = "<name>: <key>".
std::string json_string(const Json& object, const char* key, const std::string& fallback,
                        const std::string& name);
std::int64_t json_int(const Json& object, const char* key, std::int64_t fallback, std::int64_t low,
                      std::int64_t high, const std::string& name);
double json_number(const Json& object, const char* key, double fallback, const std::string& name);
bool json_bool(const Json& object, const char* key, bool fallback, const std::string& name);

}  // namespace lorikeet

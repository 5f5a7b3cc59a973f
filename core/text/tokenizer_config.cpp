// SPDX-License-Identifier: Apache-2.0
#include "core/text/tokenizer_config.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/base/files.h"
#include "core/text/json_fields.h"
#include "core/text/tokenizer_json.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxConfigBytes = 16u << 20;

/// The object in a file of the folder; null when there is no such file.
json read_object(const std::string& path) {
  if (!std::filesystem::exists(path)) return nullptr;
  const std::string text = read_file(path, kMaxConfigBytes);
  TokenizerJson read = read_tokenizer_json(text, path);
  return std::move(*read.rest);
}

/// A special token is written as a text or as an object with its `content`.
std::string token_text(const json& value, const char* key, const std::string& where) {
  if (value.is_object()) return field_string(value, "content", {}, where + ": " + key);
  if (value.is_null() || value.is_string()) return value.is_null() ? std::string() : value.get<std::string>();
  throw Error(ErrorCode::bad_format, std::string("\"") + key + "\" is neither a text nor a token", where);
}

void read_roles(const json& object, const std::string& where, TokenizerConfig& config) {
  const std::pair<const char*, std::string*> roles[] = {{"bos_token", &config.bos},
                                                        {"eos_token", &config.eos},
                                                        {"pad_token", &config.pad},
                                                        {"unk_token", &config.unk}};
  for (const auto& [key, text] : roles) {
    if (text->empty()) *text = token_text(field(object, key), key, where);
  }
  const json& more = field(object, "additional_special_tokens");
  if (!more.is_array()) return;
  for (const json& token : more)
    config.more_special.push_back(token_text(token, "additional_special_tokens", where));
}

TokenId parse_id(const std::string& text, const std::string& where) {
  TokenId id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0 || id >= Vocabulary::max_size) {
    throw Error(ErrorCode::bad_format, "\"" + text + "\" is not the id of a token", where);
  }
  return id;
}

/// One text, or a list of {name, template} of which "default" counts, else the first.
std::string template_text(const json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return {};
  if (!value.is_array())
    throw Error(ErrorCode::bad_format, "\"chat_template\" is neither a text nor a list", where);
  std::string first;
  for (const json& entry : value) {
    const std::string text = field_string(entry, "template", {}, where + ": chat_template");
    if (field_string(entry, "name", {}, where + ": chat_template") == "default") return text;
    if (first.empty()) first = text;
  }
  return first;
}

void read_main_config(const std::string& path, TokenizerConfig& config) {
  const json object = read_object(path);
  if (object.is_null()) return;
  if (!field(object, "add_bos_token").is_null())
    config.add_bos = field_bool(object, "add_bos_token", false, path);
  if (!field(object, "add_eos_token").is_null())
    config.add_eos = field_bool(object, "add_eos_token", false, path);
  config.legacy = field_bool(object, "legacy", true, path);
  config.chat_template = template_text(field(object, "chat_template"), path);
  read_roles(object, path, config);
  const json& added = field(object, "added_tokens_decoder");
  if (!added.is_object()) return;
  for (const auto& [key, entry] : added.items()) {
    const std::string where = path + ": added_tokens_decoder";
    config.added.push_back(read_added_token(entry, parse_id(key, where), where));
  }
}

/// added_tokens.json: text to id, from the time before added_tokens_decoder.
void read_added_json(const std::string& path, TokenizerConfig& config) {
  const json object = read_object(path);
  if (!object.is_object()) return;
  for (const auto& [text, value] : object.items()) {
    const std::string content = text;
    const bool known = std::any_of(config.added.begin(), config.added.end(),
                                   [&](const AddedToken& token) { return token.content == content; });
    if (known) continue;
    AddedToken token;
    token.content = content;
    token.id =
        static_cast<TokenId>(field_int(object, content.c_str(), -1, 0, Vocabulary::max_size - 1, path));
    if (token.id >= 0) config.added.push_back(token);
  }
}

TokenId first_id(const json& value, const std::string& where) {
  const json& one = value.is_array() && !value.empty() ? value.front() : value;
  if (!one.is_number_integer()) return -1;
  return static_cast<TokenId>(field_int(json{{"id", one}}, "id", -1, -1, Vocabulary::max_size - 1, where));
}

}  // namespace

TokenizerConfig read_tokenizer_config(const std::string& folder) {
  TokenizerConfig config;
  read_main_config(folder + "/tokenizer_config.json", config);
  const std::string map_path = folder + "/special_tokens_map.json";
  if (const json map = read_object(map_path); map.is_object()) read_roles(map, map_path, config);
  read_added_json(folder + "/added_tokens.json", config);
  const std::string template_path = folder + "/chat_template.jinja";
  if (std::filesystem::exists(template_path)) {
    config.chat_template = replace_invalid_utf8(read_file(template_path, kMaxConfigBytes));
  }
  const std::string model_path = folder + "/config.json";
  if (!config.bos.empty() || !config.eos.empty()) return config;
  if (const json model = read_object(model_path); model.is_object()) {
    config.bos_id = first_id(field(model, "bos_token_id"), model_path);
    config.eos_id = first_id(field(model, "eos_token_id"), model_path);
  }
  return config;
}

void merge_added_tokens(std::vector<std::string>& pieces, std::vector<AddedToken>& tokens,
                        const std::vector<AddedToken>& more, const std::string& where) {
  std::unordered_map<std::string, TokenId> known;
  for (std::size_t id = 0; id < pieces.size(); ++id) known.emplace(pieces[id], static_cast<TokenId>(id));
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) places.emplace(tokens[i].content, i);
  for (AddedToken token : more) {
    if (token.content.empty()) throw Error(ErrorCode::bad_format, "An added token is empty", where);
    const auto found = known.find(token.content);
    if (found != known.end()) {
      token.id = found->second;
    } else {
      const auto place = static_cast<std::size_t>(token.id);
      if (place >= pieces.size()) pieces.resize(place + 1);
      if (!pieces[place].empty()) {
        throw Error(
            ErrorCode::bad_format,
            "The added token \"" + token.content + "\" has the id of the piece \"" + pieces[place] + "\"",
            where);
      }
      pieces[place] = token.content;
      known.emplace(token.content, token.id);
    }
    const auto [place, fresh] = places.emplace(token.content, tokens.size());
    if (fresh) {
      tokens.push_back(token);
    } else {
      tokens[place->second] = token;
    }
  }
}

SpecialTokens find_special_tokens(Vocabulary& vocabulary, std::vector<AddedToken>& added,
                                  const TokenizerConfig& config) {
  const auto find = [&](const std::string& text, TokenId id = -1) {
    return text.empty() ? (vocabulary.contains(id) ? id : -1) : vocabulary.find(text);
  };
  const auto entry = [&](TokenId id) {
    return std::find_if(added.begin(), added.end(), [&](const AddedToken& token) { return token.id == id; });
  };
  SpecialTokens special;
  special.bos = find(config.bos, config.bos_id);
  special.eos = find(config.eos, config.eos_id);
  special.pad = find(config.pad);
  special.unk = find(config.unk);
  special.chat_template = config.chat_template;
  std::vector<TokenId> others{special.pad, special.unk};
  for (const std::string& text : config.more_special) others.push_back(find(text));
  for (const TokenId id : {special.bos, special.eos}) {
    if (id < 0 || entry(id) != added.end()) continue;
    AddedToken token;
    token.content = vocabulary.piece(id);
    token.id = id;
    if (!token.content.empty()) added.push_back(token);
  }
  others.insert(others.end(), {special.bos, special.eos});
  for (const TokenId id : others) {
    if (const auto token = entry(id); token != added.end()) token->special = true;
  }
  for (const AddedToken& token : added) vocabulary.set_special(token.id, token.special);
  return special;
}

}  // namespace lorikeet

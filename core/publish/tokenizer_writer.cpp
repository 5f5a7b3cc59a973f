// SPDX-License-Identifier: Apache-2.0
#include "core/publish/tokenizer_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json.h"
#include "core/text/gguf_patterns.h"
#include "core/text/gguf_tokenizer.h"
#include "core/text/sentencepiece_model.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

PieceType type_of(const GgufTokenizer& tokenizer, std::size_t id) {
  const bool known = !tokenizer.types.empty() && tokenizer.types[id] >= 1 && tokenizer.types[id] <= 6;
  return known ? static_cast<PieceType>(tokenizer.types[id]) : PieceType::normal;
}

bool is_id(const GgufTokenizer& tokenizer, std::int64_t id) {
  return id >= 0 && id < static_cast<std::int64_t>(tokenizer.tokens.size());
}

std::string token_or_empty(const GgufTokenizer& tokenizer, std::int64_t id) {
  return is_id(tokenizer, id) ? tokenizer.tokens[static_cast<std::size_t>(id)] : std::string();
}

/// Tokens that are cut out of a text in front of the model, with their ids.
Json added_tokens(const GgufTokenizer& tokenizer) {
  Json list = Json::array();
  for (std::size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    const PieceType type = type_of(tokenizer, id);
    const bool special = type == PieceType::unknown || type == PieceType::control;
    if (!special && type != PieceType::user_defined) continue;
    list.push_back({{"id", id},
                    {"content", tokenizer.tokens[id]},
                    {"single_word", false},
                    {"lstrip", false},
                    {"rstrip", false},
                    {"normalized", false},
                    {"special", special}});
  }
  return list;
}

/// --- Byte-level BPE: tokenizer.json (formats.md §6.2, §6.3).

Json pre_tokenizer(const GgufPre& pre) {
  Json steps = Json::array();
  for (const std::string& pattern : pre.patterns) {
    steps.push_back(
        {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
  }
  steps.push_back(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}});
  return {{"type", "Sequence"}, {"pretokenizers", steps}};
}

Json post_processor(const GgufTokenizer& tokenizer, bool add_bos, bool add_eos) {
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}, {"use_regex", true}};
  Json single = Json::array(), tokens = Json::object();
  const auto add = [&](std::int64_t id) {
    const std::string text = token_or_empty(tokenizer, id);
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    tokens[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
  };
  if (add_bos) add(tokenizer.bos_id);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (add_eos) add(tokenizer.eos_id);
  if (tokens.empty()) return byte_level;
  Json pair = single;
  for (Json part : single) {
    if (part.contains("Sequence")) part["Sequence"]["id"] = "B";
    pair.push_back(part);
  }
  return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", tokens}};
}

std::string tokenizer_json(const GgufTokenizer& tokenizer, const std::string& where) {
  const auto pre = find_gguf_pre(tokenizer.pre);
  if (!pre) {
    throw Error(ErrorCode::unsupported, "The pre-tokenizer \"" + tokenizer.pre + "\" cannot be written",
                where, "Merge into the model's Hugging Face folder instead");
  }
  // Built as text: an ordered object looks every new key up in all that came before.
  std::string vocabulary;
  std::set<std::string_view> seen;
  for (std::size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    if (!seen.insert(tokenizer.tokens[id]).second) {
      throw Error(ErrorCode::bad_format, "Two tokens of the vocabulary are the same",
                  where + ", token " + std::to_string(id));
    }
    vocabulary += (id == 0 ? "" : ",") + dump_json(Json(tokenizer.tokens[id])) + ":" + std::to_string(id);
  }
  const bool add_bos = tokenizer.add_bos.value_or(pre->add_bos) && is_id(tokenizer, tokenizer.bos_id);
  const bool add_eos = tokenizer.add_eos.value_or(false) && is_id(tokenizer, tokenizer.eos_id);
  Json json;
  json["version"] = "1.0";
  json["truncation"] = nullptr;
  json["padding"] = nullptr;
  json["added_tokens"] = added_tokens(tokenizer);
  json["normalizer"] = pre->nfc ? Json{{"type", "NFC"}} : Json(nullptr);
  json["pre_tokenizer"] = pre_tokenizer(*pre);
  json["post_processor"] = post_processor(tokenizer, add_bos, add_eos);
  json["decoder"] = {
      {"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  json["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},  // bytes the vocabulary lacks vanish, as in every byte-level model
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", false},
                   {"ignore_merges", pre->ignore_merges},
                   {"vocab", Json::object()},
                   {"merges", tokenizer.merges}};
  std::string text = dump_json(json);
  const std::string empty = "\"vocab\":{}";
  return text.replace(text.rfind(empty), empty.size(), "\"vocab\":{" + vocabulary + "}");
}

/// --- SentencePiece: tokenizer.model (formats.md §6.5).

std::string tokenizer_model(const GgufTokenizer& tokenizer, const std::string& where) {
  if (tokenizer.scores.size() != tokenizer.tokens.size()) {
    throw Error(ErrorCode::bad_format, "The vocabulary has not as many scores as tokens", where);
  }
  const auto role = [&](std::int64_t id) { return static_cast<TokenId>(is_id(tokenizer, id) ? id : -1); };
  SentencePieceModel model;
  model.kind = SentencePieceModel::Kind::bpe;
  model.normalizer_name = "identity";
  model.add_dummy_prefix = tokenizer.add_space_prefix.value_or(true);
  model.remove_extra_whitespaces = false;
  model.unk_id = role(tokenizer.unk_id);
  model.bos_id = role(tokenizer.bos_id);
  model.eos_id = role(tokenizer.eos_id);
  model.pad_id = role(tokenizer.pad_id);
  for (std::size_t id = 0; id < tokenizer.tokens.size(); ++id) {
    const PieceType type = type_of(tokenizer, id);
    model.pieces.push_back({tokenizer.tokens[id], tokenizer.scores[id], type});
    model.byte_fallback = model.byte_fallback || type == PieceType::byte;
  }
  const std::string bytes = write_sentencepiece_model(model);
  read_sentencepiece_model(bytes, where);  // refuses what no reader would take
  return bytes;
}

std::string tokenizer_config(const GgufTokenizer& tokenizer, std::int64_t context, bool byte_level) {
  Json config;
  if (!byte_level) {
    config["add_bos_token"] = tokenizer.add_bos.value_or(true);
    config["add_eos_token"] = tokenizer.add_eos.value_or(false);
    config["legacy"] = true;
  }
  Json decoder = Json::object();
  for (Json& token : added_tokens(tokenizer)) {
    const std::string id = std::to_string(token["id"].get<std::int64_t>());
    token.erase("id");
    decoder[id] = token;
  }
  config["added_tokens_decoder"] = decoder;
  const std::pair<const char*, std::int64_t> roles[] = {{"bos_token", tokenizer.bos_id},
                                                        {"eos_token", tokenizer.eos_id},
                                                        {"unk_token", tokenizer.unk_id},
                                                        {"pad_token", tokenizer.pad_id}};
  for (const auto& [name, id] : roles) {
    const std::string text = token_or_empty(tokenizer, id);
    config[name] = text.empty() ? Json(nullptr) : Json(text);
  }
  config["clean_up_tokenization_spaces"] = false;
  config["model_max_length"] = context;
  config["tokenizer_class"] = byte_level ? "PreTrainedTokenizerFast" : "LlamaTokenizer";
  if (!tokenizer.chat_template.empty()) config["chat_template"] = tokenizer.chat_template;
  return dump_json(config, 2) + "\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> tokenizer_files(const GgufTokenizer& metadata,
                                                                 std::int64_t context,
                                                                 const std::string& where) {
  GgufTokenizer tokenizer = metadata;
  if (!tokenizer.types.empty() && tokenizer.types.size() != tokenizer.tokens.size()) {
    throw Error(ErrorCode::bad_format, "The vocabulary has not as many token types as tokens", where);
  }
  const bool byte_level = tokenizer.model == "gpt2";
  if (!byte_level && tokenizer.model != "llama") {
    throw Error(ErrorCode::unsupported,
                "Tokenizers of the kind \"" + tokenizer.model + "\" cannot be written", where);
  }
  // Old files of SentencePiece models leave out the ids that every Llama has.
  const auto usual = [&](std::int64_t& id, std::int64_t place, PieceType type) {
    if (!byte_level && id < 0 && is_id(tokenizer, place) &&
        type_of(tokenizer, static_cast<std::size_t>(place)) == type)
      id = place;
  };
  usual(tokenizer.unk_id, 0, PieceType::unknown);
  usual(tokenizer.bos_id, 1, PieceType::control);
  usual(tokenizer.eos_id, 2, PieceType::control);
  std::vector<std::pair<std::string, std::string>> files;
  if (byte_level)
    files.emplace_back("tokenizer.json", tokenizer_json(tokenizer, where));
  else
    files.emplace_back("tokenizer.model", tokenizer_model(tokenizer, where));
  files.emplace_back("tokenizer_config.json", tokenizer_config(tokenizer, context, byte_level));
  return files;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/text/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/gguf.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/gguf_patterns.h"
#include "core/text/score_encoder.h"
#include "core/text/space_mark.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

[[noreturn]] void broken(const std::string& what, const std::string& where) {
  throw Error(ErrorCode::bad_format, what, where);
}

/// Names that end a turn or a text. Converters have at times not marked them as control tokens.
bool looks_like_control(std::string_view text) {
  static constexpr std::string_view names[] = {
      "<|eot_id|>",    "<|eom_id|>",    "<|im_start|>", "<|im_end|>",      "<|end|>",
      "<end_of_turn>", "<|endoftext|>", "<EOT>",        "<|end_of_text|>", "<start_of_turn>"};
  return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

void check(GgufTokenizer& metadata, const std::string& where) {
  const std::size_t count = metadata.tokens.size();
  if (count == 0) broken("The file has no vocabulary", where);
  if (count > static_cast<std::size_t>(Vocabulary::max_size))
    broken("The vocabulary has too many tokens", where);
  if (metadata.types.empty()) metadata.types.assign(count, static_cast<std::int32_t>(PieceType::normal));
  if (metadata.types.size() != count) broken("The vocabulary has not as many token types as tokens", where);
  for (std::size_t id = 0; id < count; ++id) {
    const std::string place = where + ", token " + std::to_string(id);
    if (!is_valid_utf8(metadata.tokens[id])) broken("A token of the vocabulary is not UTF-8", place);
    std::int32_t& type = metadata.types[id];
    if (type < 0 || type > 6) broken("The type of a token is not known", place);
    if (type == 0) type = static_cast<std::int32_t>(PieceType::normal);
    if (type == static_cast<std::int32_t>(PieceType::user_defined) &&
        looks_like_control(metadata.tokens[id])) {
      type = static_cast<std::int32_t>(PieceType::control);
    }
  }
}

PieceType type_of(const GgufTokenizer& metadata, std::size_t id) {
  return static_cast<PieceType>(metadata.types[id]);
}

/// The tokens that are cut out in front of the model.
std::vector<AddedToken> added_tokens(const GgufTokenizer& metadata, bool spaces_are_marked) {
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < metadata.tokens.size(); ++id) {
    const PieceType type = type_of(metadata, id);
    const bool special = type == PieceType::control || type == PieceType::unknown;
    if ((!special && type != PieceType::user_defined) || metadata.tokens[id].empty()) continue;
    AddedToken token;
    token.content = metadata.tokens[id];
    token.id = static_cast<TokenId>(id);
    token.special = special;
    added.push_back(token);
    if (special || !spaces_are_marked) continue;
    token.content = with_spaces(token.content);  // the same token as it stands in a text
    if (token.content != added.back().content) added.push_back(token);
  }
  return added;
}

TokenizerConfig roles(const GgufTokenizer& metadata) {
  const auto text = [&](std::int64_t id) {
    const bool known = id >= 0 && id < static_cast<std::int64_t>(metadata.tokens.size());
    return known ? metadata.tokens[static_cast<std::size_t>(id)] : std::string();
  };
  TokenizerConfig config;
  config.bos = text(metadata.bos_id);
  config.eos = text(metadata.eos_id);
  config.unk = text(metadata.unk_id);
  config.pad = text(metadata.pad_id);
  config.chat_template = metadata.chat_template;
  return config;
}

void add_edges(const GgufTokenizer& metadata, bool add_bos, SpecialTokens& special) {
  if (metadata.add_bos.value_or(add_bos) && special.bos >= 0) special.before.push_back(special.bos);
  if (metadata.add_eos.value_or(false) && special.eos >= 0) special.after.push_back(special.eos);
}

std::unique_ptr<Tokenizer> make_scored(GgufTokenizer metadata, const std::string& where) {
  if (metadata.scores.size() != metadata.tokens.size())
    broken("The vocabulary has not as many scores as tokens", where);
  const auto fill = [&](std::int64_t& id, std::int64_t usual, PieceType type) {
    const auto place = static_cast<std::size_t>(usual);
    if (id < 0 && place < metadata.tokens.size() && type_of(metadata, place) == type) id = usual;
  };
  fill(metadata.unk_id, 0, PieceType::unknown);
  fill(metadata.bos_id, 1, PieceType::control);
  fill(metadata.eos_id, 2, PieceType::control);
  SentencePieceParts parts;
  std::vector<ScoredPiece> pieces;
  for (std::size_t id = 0; id < metadata.tokens.size(); ++id) {
    if (!std::isfinite(metadata.scores[id]))
      broken("A score of the vocabulary is not a finite number", where);
    PieceType type = type_of(metadata, id);
    if (type == PieceType::byte && byte_of_piece(metadata.tokens[id]) < 0) type = PieceType::normal;
    parts.types.push_back(type);
    pieces.push_back({metadata.tokens[id], metadata.scores[id], type});
  }
  parts.added = added_tokens(metadata, true);
  parts.vocabulary = Vocabulary(metadata.tokens, where);
  parts.special = find_special_tokens(parts.vocabulary, parts.added, roles(metadata));
  add_edges(metadata, true, parts.special);
  parts.add_dummy_prefix = metadata.add_space_prefix.value_or(true);
  parts.encoder = make_score_encoder(std::move(pieces), parts.special.unk);
  return make_sentencepiece_tokenizer(std::move(parts), where);
}

std::vector<std::pair<std::string, std::string>> split_merges(const std::vector<std::string>& merges,
                                                              const std::string& where) {
  std::vector<std::pair<std::string, std::string>> out;
  out.reserve(merges.size());
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string::npos || space + 1 == merge.size() || !is_valid_utf8(merge)) {
      broken("Merge " + std::to_string(out.size()) + " of the vocabulary is not a pair", where);
    }
    out.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return out;
}

std::unique_ptr<Tokenizer> make_byte_level(const GgufTokenizer& metadata, const std::string& where) {
  const auto pre = find_gguf_pre(metadata.pre);
  if (!pre) {
    throw Error(ErrorCode::unsupported, "The pre-tokenizer \"" + metadata.pre + "\" is not built", where,
                "With another one the text would be cut wrongly; use the model's Hugging Face folder.");
  }
  if (metadata.merges.empty()) broken("The vocabulary has no merges", where);
  BpeParts parts;
  parts.added = added_tokens(metadata, false);
  parts.vocabulary = Vocabulary(metadata.tokens, where);
  parts.special = find_special_tokens(parts.vocabulary, parts.added, roles(metadata));
  add_edges(metadata, pre->add_bos, parts.special);
  parts.normalizer =
      Normalizer::from_json(pre->nfc ? nlohmann::json{{"type", "NFC"}} : nlohmann::json(), where);
  parts.pre_tokenizer = PreTokenizer::from_patterns(pre->patterns, where);
  parts.decoder = Decoder::from_json({{"type", "ByteLevel"}}, where);
  parts.bpe.merges = split_merges(metadata.merges, where);
  parts.bpe.ignore_merges = pre->ignore_merges;
  parts.bpe.byte_level = true;
  return make_bpe_tokenizer(std::move(parts), where);
}

std::vector<std::string> copies(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

std::string key(const char* name) {
  return std::string("tokenizer.ggml.") + name;
}

}  // namespace

GgufTokenizer read_gguf_tokenizer(const GgufFile& file) {
  const auto limit = [&](const char* name, std::uint64_t most) {
    if (file.count(key(name)) > most) broken("\"" + key(name) + "\" is too long", file.path());
  };
  constexpr auto most = static_cast<std::uint64_t>(Vocabulary::max_size);
  for (const char* name : {"tokens", "scores", "token_type"}) limit(name, most);
  limit("merges", 8 * most);
  GgufTokenizer read;
  read.model = file.text(key("model"));
  read.pre = file.text(key("pre"));
  read.tokens = copies(file.texts(key("tokens")));
  read.scores = file.numbers(key("scores"));
  for (const std::int64_t type : file.integers(key("token_type"))) {
    read.types.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(type, -1, 1000)));
  }
  read.merges = copies(file.texts(key("merges")));
  const auto id = [&](const char* name) { return file.integer(key(name), -1, -1, UINT32_MAX); };
  read.bos_id = id("bos_token_id");
  read.eos_id = id("eos_token_id");
  read.unk_id = id("unknown_token_id");
  read.pad_id = id("padding_token_id");
  const auto flag = [&](const char* name) {
    return file.has(key(name)) ? std::optional<bool>(file.boolean(key(name), false)) : std::nullopt;
  };
  read.add_bos = flag("add_bos_token");
  read.add_eos = flag("add_eos_token");
  read.add_space_prefix = flag("add_space_prefix");
  read.chat_template = file.text("tokenizer.chat_template");
  return read;
}

std::unique_ptr<Tokenizer> make_gguf_tokenizer(GgufTokenizer metadata, const std::string& where) {
  if (metadata.model != "llama" && metadata.model != "gpt2") {
    throw Error(ErrorCode::unsupported,
                "The tokenizer \"" + metadata.model + "\" of this GGUF file is not built", where);
  }
  metadata.chat_template = replace_invalid_utf8(metadata.chat_template);
  check(metadata, where);
  if (metadata.model == "llama") return make_scored(std::move(metadata), where);
  return make_byte_level(metadata, where);
}

}  // namespace lorikeet

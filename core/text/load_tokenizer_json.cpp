// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/json_fields.h"
#include "core/text/tokenizer_json.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 96u << 20;

std::vector<std::string> place_pieces(TokenizerJson& read, const std::string& where) {
  std::int64_t size = 0;
  for (const auto& [text, id] : read.vocabulary) size = std::max(size, id + 1);
  std::vector<std::string> pieces(static_cast<std::size_t>(size));
  for (auto& [text, id] : read.vocabulary) {
    std::string& place = pieces[static_cast<std::size_t>(id)];
    if (!place.empty()) {
      throw Error(ErrorCode::bad_format, "The id " + std::to_string(id) + " is given to two pieces", where);
    }
    place = std::move(text);
  }
  return pieces;
}

BpeSettings model_settings(const json& model, TokenizerJson& read, const std::string& where) {
  const std::string type = field_string(model, "type", "BPE", where);
  if (type != "BPE")
    throw Error(ErrorCode::unsupported, "The tokenizer model \"" + type + "\" is not built", where);
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!field_string(model, affix, {}, where).empty()) {
      throw Error(ErrorCode::unsupported, std::string("A ") + affix + " is not built", where);
    }
  }
  if (const json& dropout = field(model, "dropout"); dropout.is_number() && dropout.get<double>() != 0) {
    throw Error(ErrorCode::unsupported, "A BPE dropout is not built", where);
  }
  BpeSettings settings;
  settings.merges = std::move(read.merges);
  settings.unk_token = field_string(model, "unk_token", {}, where);
  settings.fuse_unk = field_bool(model, "fuse_unk", false, where);
  settings.byte_fallback = field_bool(model, "byte_fallback", false, where);
  settings.ignore_merges = field_bool(model, "ignore_merges", false, where);
  return settings;
}

/// The ids that a post-processor puts around one text.
class PostProcessor {
 public:
  PostProcessor(const Vocabulary& vocabulary, SpecialTokens& special, const std::string& where)
      : vocabulary_(vocabulary), special_(special), where_(where) {}

  void add(const json& processor, int depth = 0) {
    if (processor.is_null()) return;
    const std::string type = field_string(processor, "type", {}, where_);
    if (depth > 8) throw Error(ErrorCode::bad_format, "Post-processors are nested too deep", where_);
    if (type == "Sequence") {
      for (const json& part : field_array(processor, "processors", where_)) add(part, depth + 1);
    } else if (type == "TemplateProcessing") {
      add_template(processor);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      special_.before.push_back(pair_id(field(processor, "cls")));
      special_.after.push_back(pair_id(field(processor, "sep")));
    } else if (type != "ByteLevel") {
      throw Error(ErrorCode::unsupported, "The post-processor \"" + type + "\" is not built", where_);
    }
  }

 private:
  TokenId checked(std::int64_t id) const {
    if (id < 0 || id >= vocabulary_.size()) {
      throw Error(ErrorCode::bad_format, "The post-processor adds an id that the vocabulary lacks", where_);
    }
    return static_cast<TokenId>(id);
  }

  TokenId pair_id(const json& pair) const {  // ["[CLS]", 101]
    const bool good = pair.is_array() && pair.size() == 2 && pair[1].is_number_unsigned();
    return checked(
        good ? static_cast<std::int64_t>(std::min<std::uint64_t>(pair[1].get<std::uint64_t>(), INT32_MAX))
             : -1);
  }

  void add_template(const json& processor) {
    bool after_text = false;
    const json& known = field(processor, "special_tokens");
    for (const json& part : field_array(processor, "single", where_)) {
      if (const json& token = field(part, "SpecialToken"); !token.is_null()) {
        const std::string name = field_string(token, "id", {}, where_);
        for (const json& id : field_array(field(known, name.c_str()), "ids", where_)) {
          const auto value = id.is_number_unsigned()
                                 ? std::min<std::uint64_t>(id.get<std::uint64_t>(), INT32_MAX)
                                 : INT32_MAX;
          (after_text ? special_.after : special_.before)
              .push_back(checked(static_cast<std::int64_t>(value)));
        }
      } else if (!field(part, "Sequence").is_null()) {
        if (std::exchange(after_text, true)) {
          throw Error(ErrorCode::unsupported, "A template with the text twice is not built", where_);
        }
      }
    }
  }

  const Vocabulary& vocabulary_;
  SpecialTokens& special_;
  const std::string& where_;
};

/// add_bos_token and add_eos_token, where tokenizer_config.json has them, stand over the post-processor.
void apply_flags(const TokenizerConfig& config, SpecialTokens& special) {
  const auto apply = [](std::optional<bool> flag, TokenId id, std::vector<TokenId>& edge) {
    if (!flag || (*flag && id < 0)) return;
    edge.clear();
    if (*flag) edge.push_back(id);
  };
  apply(config.add_bos, special.bos, special.before);
  apply(config.add_eos, special.eos, special.after);
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer_json(const std::string& path, const TokenizerConfig& config) {
  TokenizerJson read = read_tokenizer_json(read_file(path, kMaxFileBytes), path);
  const json& root = *read.rest;
  if (const std::string version = field_string(root, "version", "1.0", path); version != "1.0") {
    throw Error(ErrorCode::unsupported, "Version \"" + version + "\" of tokenizer.json is not built", path);
  }
  const json& model = field(root, "model");
  if (!model.is_object()) throw Error(ErrorCode::bad_format, "This tokenizer.json has no model", path);
  BpeParts parts;
  parts.bpe = model_settings(model, read, path);
  std::vector<std::string> pieces = place_pieces(read, path);
  std::vector<AddedToken> listed;
  if (const json& added = field(root, "added_tokens"); !added.is_null()) {
    for (const json& entry : field_array(root, "added_tokens", path))
      listed.push_back(read_added_token(entry, -1, path));
  }
  merge_added_tokens(pieces, parts.added, listed, path);
  merge_added_tokens(pieces, parts.added, config.added, path);
  parts.vocabulary = Vocabulary(std::move(pieces), path);
  parts.special = find_special_tokens(parts.vocabulary, parts.added, config);
  if (parts.special.unk < 0) parts.special.unk = parts.vocabulary.find(parts.bpe.unk_token);
  PostProcessor(parts.vocabulary, parts.special, path).add(field(root, "post_processor"));
  apply_flags(config, parts.special);
  if (parts.special.bos < 0 && parts.special.before.size() == 1)
    parts.special.bos = parts.special.before.front();
  parts.normalizer = Normalizer::from_json(field(root, "normalizer"), path + ": normalizer");
  parts.pre_tokenizer = PreTokenizer::from_json(field(root, "pre_tokenizer"), path + ": pre_tokenizer");
  parts.decoder = Decoder::from_json(field(root, "decoder"), path + ": decoder");
  parts.bpe.byte_level = parts.pre_tokenizer.byte_level();
  return make_bpe_tokenizer(std::move(parts), path);
}

}  // namespace lorikeet

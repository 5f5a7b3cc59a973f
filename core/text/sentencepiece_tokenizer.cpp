// SPDX-License-Identifier: Apache-2.0
#include "core/text/sentencepiece_tokenizer.h"

#include "core/base/files.h"
#include "core/text/space_mark.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::uint64_t kMaxFileBytes = 96u << 20;

class SentencePieceTokenizer : public VocabularyTokenizer {
 public:
  SentencePieceTokenizer(SentencePieceParts parts, const std::string& where)
      : VocabularyTokenizer(std::move(parts.vocabulary), std::move(parts.special)),
        types_(std::move(parts.types)),
        add_dummy_prefix_(parts.add_dummy_prefix),
        legacy_(parts.legacy),
        encoder_(std::move(parts.encoder)) {
    added_ = AddedTokens(std::move(parts.added), where);
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    std::string repaired;
    if (!is_valid_utf8(text)) text = repaired = replace_invalid_utf8(text);
    std::vector<TokenId> ids;
    if (options.add_special && !options.continuation) ids = special_.before;
    std::vector<TextPart> parts;
    added_.split(text, options.parse_special, parts);
    for (const TextPart& part : parts) {
      if (part.id >= 0) {
        ids.push_back(part.id);
      } else {
        const bool first = part.text.data() == text.data();
        encoder_->encode(part.text, add_dummy_prefix_ && (first ? !options.continuation : legacy_), ids);
      }
    }
    if (options.add_special) ids.insert(ids.end(), special_.after.begin(), special_.after.end());
    return ids;
  }

  std::string decode(const std::vector<TokenId>& ids, bool skip_special) const override {
    std::string out;
    std::string run;  // of byte pieces
    const auto end_run = [&] {
      if (is_valid_utf8(run)) {
        out += run;
      } else {
        for (std::size_t i = 0; i < run.size(); ++i) out += "\xEF\xBF\xBD";
      }
      run.clear();
    };
    for (const TokenId id : ids) {
      if (!vocabulary_.contains(id) || (skip_special && is_special(id))) continue;
      if (type(id) == PieceType::byte) {
        run += static_cast<char>(byte_of_piece(vocabulary_.piece(id)));
        continue;
      }
      end_run();
      out += token_bytes(id);
    }
    end_run();
    if (add_dummy_prefix_ && !out.empty() && out.front() == ' ') out.erase(0, 1);
    return out;
  }

  std::string token_bytes(TokenId id) const override {
    if (!vocabulary_.contains(id)) return {};
    const std::string& piece = vocabulary_.piece(id);
    if (type(id) == PieceType::byte) return std::string(1, static_cast<char>(byte_of_piece(piece)));
    return is_special(id) ? piece : with_spaces(piece);
  }

 private:
  PieceType type(TokenId id) const {
    const auto place = static_cast<std::size_t>(id);
    return place < types_.size() ? types_[place] : PieceType::user_defined;
  }

  std::vector<PieceType> types_;
  bool add_dummy_prefix_, legacy_;
  AddedTokens added_;
  std::unique_ptr<PieceEncoder> encoder_;
};

/// Llama-3's original files bear the same name: lines of a base64 text and a rank.
bool is_rank_list(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t space = line.find(' ');
  return bytes.size() > line.size() && space != std::string_view::npos && space > 0 && space % 4 == 0 &&
         line.find_first_not_of("0123456789", space + 1) == std::string_view::npos && space + 1 < line.size();
}

/// The roles that the model file itself gives, where the folder's files say nothing.
void fill_roles(const SentencePieceModel& model, TokenizerConfig& config) {
  const auto fill = [&](std::string& text, TokenId id) {
    if (text.empty() && id >= 0 && static_cast<std::size_t>(id) < model.pieces.size()) {
      text = model.pieces[static_cast<std::size_t>(id)].text;
    }
  };
  fill(config.bos, model.bos_id);
  fill(config.eos, model.eos_id);
  fill(config.pad, model.pad_id);
  fill(config.unk, model.unk_id);
}

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(SentencePieceParts parts, const std::string& where) {
  return std::make_unique<SentencePieceTokenizer>(std::move(parts), where);
}

std::unique_ptr<Tokenizer> load_sentencepiece_tokenizer(const std::string& path,
                                                        const TokenizerConfig& given) {
  const std::string bytes = read_file(path, kMaxFileBytes);
  if (is_rank_list(bytes)) {
    throw Error(ErrorCode::unsupported, "A tokenizer.model that lists ranks (tiktoken) is not built", path,
                "Use the model's folder with tokenizer.json.");
  }
  const SentencePieceModel model = read_sentencepiece_model(bytes, path);
  TokenizerConfig config = given;
  fill_roles(model, config);
  SentencePieceParts parts;
  std::vector<std::string> pieces;
  for (const ScoredPiece& piece : model.pieces) {
    const auto id = static_cast<TokenId>(pieces.size());
    pieces.push_back(piece.text);
    parts.types.push_back(piece.type);
    if (piece.type != PieceType::control && piece.type != PieceType::unknown) continue;
    AddedToken token;
    token.content = piece.text;
    token.id = id;
    token.special = true;
    parts.added.push_back(token);
  }
  merge_added_tokens(pieces, parts.added, config.added, path);
  parts.vocabulary = Vocabulary(std::move(pieces), path);
  parts.special = find_special_tokens(parts.vocabulary, parts.added, config);
  if (config.add_bos.value_or(true) && parts.special.bos >= 0)
    parts.special.before.push_back(parts.special.bos);
  if (config.add_eos.value_or(false) && parts.special.eos >= 0)
    parts.special.after.push_back(parts.special.eos);
  parts.add_dummy_prefix = model.add_dummy_prefix;
  parts.legacy = config.legacy;
  parts.encoder = make_sentencepiece_encoder(model, path);
  return make_sentencepiece_tokenizer(std::move(parts), path);
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include "core/text/sentencepiece_model.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "core/text/unicode.h"
#include "core/text/vocabulary.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Reads one protobuf message, field by field, without ever looking outside it.
class ProtoReader {
 public:
  ProtoReader(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  /// Goes to the next field; false at the end.
  bool next() {
    if (at_ == bytes_.size()) return false;
    const std::uint64_t tag = varint();
    if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) broken("a field has no number");
    field_ = static_cast<std::uint32_t>(tag >> 3);
    wire_ = static_cast<int>(tag & 7);
    return true;
  }

  std::uint32_t field() const { return field_; }

  std::string_view text() {
    expect(2);
    const std::uint64_t length = varint();
    if (length > bytes_.size() - at_) broken("a field is longer than the file");
    at_ += static_cast<std::size_t>(length);
    return bytes_.substr(at_ - static_cast<std::size_t>(length), static_cast<std::size_t>(length));
  }

  std::uint64_t number() {
    expect(0);
    return varint();
  }

  bool boolean() { return number() != 0; }

  float real() {
    expect(5);
    if (bytes_.size() - at_ < 4) broken("a number is cut off");
    std::uint32_t bits = 0;
    for (int i = 3; i >= 0; --i)
      bits = bits << 8 | static_cast<unsigned char>(bytes_[at_ + static_cast<std::size_t>(i)]);
    at_ += 4;
    return std::bit_cast<float>(bits);
  }

  void skip() {
    if (wire_ == 0) {
      varint();
    } else if (wire_ == 2) {
      text();
    } else if (wire_ == 1 || wire_ == 5) {
      const std::size_t size = wire_ == 1 ? 8 : 4;
      if (bytes_.size() - at_ < size) broken("a number is cut off");
      at_ += size;
    } else {
      broken("a field has an unknown form");
    }
  }

  [[noreturn]] void broken(const std::string& what) const {
    throw Error(ErrorCode::bad_format, "This is not a SentencePiece model: " + what, name_);
  }

 private:
  void expect(int wire) const {
    if (wire_ != wire) broken("field " + std::to_string(field_) + " has the wrong form");
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == bytes_.size()) broken("a number is cut off");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    broken("a number is too long");
  }

  std::string_view bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::uint32_t field_ = 0;
  int wire_ = 0;
};

ScoredPiece read_piece(std::string_view bytes, std::size_t id, const std::string& name) {
  ScoredPiece piece;
  const std::string where = name + ", piece " + std::to_string(id);
  for (ProtoReader in(bytes, where); in.next();) {
    if (in.field() == 1) {
      piece.text = in.text();
    } else if (in.field() == 2) {
      piece.score = in.real();
    } else if (in.field() == 3) {
      const std::uint64_t type = in.number();
      if (type < 1 || type > 6) in.broken("kind " + std::to_string(type) + " of a piece is not known");
      piece.type = static_cast<PieceType>(type);
    } else {
      in.skip();
    }
  }
  const auto refuse = [&](const char* what) { throw Error(ErrorCode::bad_format, what, where); };
  if (piece.text.empty()) refuse("A piece of the vocabulary is empty");
  if (piece.text.size() > Vocabulary::max_piece_bytes) refuse("A piece of the vocabulary is too long");
  if (piece.text.find('\0') != std::string::npos) refuse("A piece of the vocabulary holds a zero byte");
  if (!is_valid_utf8(piece.text)) refuse("A piece of the vocabulary is not UTF-8");
  if (!std::isfinite(piece.score)) refuse("The score of a piece is not a finite number");
  if (piece.type == PieceType::byte && byte_of_piece(piece.text) < 0)
    refuse("A byte piece is not written <0xXX>");
  return piece;
}

TokenId read_id(ProtoReader& in) {
  const auto value = static_cast<std::int64_t>(in.number());  // -1 is written as a 64-bit number
  if (value < -1 || value >= Vocabulary::max_size) in.broken("the id of a special piece is out of range");
  return static_cast<TokenId>(value);
}

void read_trainer(std::string_view bytes, const std::string& name, SentencePieceModel& model) {
  for (ProtoReader in(bytes, name); in.next();) {
    switch (in.field()) {
      case 3: {
        const std::uint64_t kind = in.number();
        if (kind < 1 || kind > 4) in.broken("the kind of model is not known");
        model.kind = static_cast<SentencePieceModel::Kind>(kind);
        break;
      }
      case 24:
        model.whitespace_is_suffix = in.boolean();
        break;
      case 35:
        model.byte_fallback = in.boolean();
        break;
      case 40:
        model.unk_id = read_id(in);
        break;
      case 41:
        model.bos_id = read_id(in);
        break;
      case 42:
        model.eos_id = read_id(in);
        break;
      case 43:
        model.pad_id = read_id(in);
        break;
      default:
        in.skip();
    }
  }
}

void read_normalizer(std::string_view bytes, const std::string& name, SentencePieceModel& model) {
  for (ProtoReader in(bytes, name); in.next();) {
    switch (in.field()) {
      case 1:
        model.normalizer_name = in.text();
        break;
      case 2:
        model.charsmap = in.text();
        break;
      case 3:
        model.add_dummy_prefix = in.boolean();
        break;
      case 4:
        model.remove_extra_whitespaces = in.boolean();
        break;
      case 5:
        model.escape_whitespaces = in.boolean();
        break;
      default:
        in.skip();
    }
  }
}

void check_model(const SentencePieceModel& model, const std::string& name) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::bad_format, what, name); };
  if (model.pieces.empty()) refuse("This SentencePiece model has no pieces");
  std::unordered_set<std::string_view> seen;
  std::size_t unknown = 0, bytes = 0;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    const ScoredPiece& piece = model.pieces[id];
    if (!seen.insert(piece.text).second) refuse("The vocabulary has the piece \"" + piece.text + "\" twice");
    unknown += piece.type == PieceType::unknown;
    bytes += piece.type == PieceType::byte;
  }
  if (unknown != 1)
    refuse("The vocabulary has " + std::to_string(unknown) + " unknown pieces instead of one");
  if (model.byte_fallback && bytes != 256)
    refuse("Byte fallback needs 256 byte pieces, not " + std::to_string(bytes));
  if (!model.byte_fallback && bytes != 0) refuse("The vocabulary has byte pieces but no byte fallback");
  const auto size = static_cast<TokenId>(model.pieces.size());
  if (model.unk_id >= size) refuse("The id of the unknown piece is out of range");
  if (model.kind != SentencePieceModel::Kind::bpe && model.kind != SentencePieceModel::Kind::unigram) {
    throw Error(ErrorCode::unsupported, "SentencePiece models of whole words or characters are not built",
                name);
  }
  if (model.whitespace_is_suffix) {
    throw Error(ErrorCode::unsupported, "SentencePiece models with white space as a suffix are not built",
                name);
  }
  if (!model.escape_whitespaces) {
    throw Error(ErrorCode::unsupported, "SentencePiece models that do not write spaces as ▁ are not built",
                name);
  }
}

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7F));
  out += static_cast<char>(value);
}

void put_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  put_varint(out, field << 3);
  put_varint(out, value);
}

void put_text(std::string& out, std::uint32_t field, std::string_view text) {
  put_varint(out, field << 3 | 2);
  put_varint(out, text.size());
  out += text;
}

}  // namespace

SentencePieceModel read_sentencepiece_model(std::string_view bytes, const std::string& name) {
  SentencePieceModel model;
  for (ProtoReader in(bytes, name); in.next();) {
    if (in.field() == 1) {
      if (model.pieces.size() >= static_cast<std::size_t>(Vocabulary::max_size))
        in.broken("it has too many pieces");
      model.pieces.push_back(read_piece(in.text(), model.pieces.size(), name));
    } else if (in.field() == 2) {
      read_trainer(in.text(), name, model);
    } else if (in.field() == 3) {
      read_normalizer(in.text(), name, model);
    } else {
      in.skip();
    }
  }
  check_model(model, name);
  if (!model.charsmap.empty()) check_charsmap(model.charsmap, name);
  return model;
}

std::string write_sentencepiece_model(const SentencePieceModel& model) {
  std::string out;
  for (const ScoredPiece& piece : model.pieces) {
    std::string entry;
    put_text(entry, 1, piece.text);
    put_varint(entry, 2 << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(piece.score);
    for (int shift = 0; shift < 32; shift += 8) entry += static_cast<char>(bits >> shift & 0xFF);
    put_number(entry, 3, static_cast<std::uint64_t>(piece.type));
    put_text(out, 1, entry);
  }
  std::string trainer;
  put_number(trainer, 3, static_cast<std::uint64_t>(model.kind));
  put_number(trainer, 4, model.pieces.size());
  put_number(trainer, 35, model.byte_fallback);
  // The ids and the pieces of unknown, begin, end and padding: readers go by either.
  const TokenId roles[] = {model.unk_id, model.bos_id, model.eos_id, model.pad_id};
  for (int role = 0; role < 4; ++role) {
    put_number(trainer, 40 + role, static_cast<std::uint64_t>(std::int64_t{roles[role]}));
    const auto id = static_cast<std::size_t>(roles[role]);
    if (roles[role] >= 0 && id < model.pieces.size()) put_text(trainer, 45 + role, model.pieces[id].text);
  }
  put_text(out, 2, trainer);
  std::string normalizer;
  put_text(normalizer, 1, model.normalizer_name);
  put_text(normalizer, 2, model.charsmap);
  put_number(normalizer, 3, model.add_dummy_prefix);
  put_number(normalizer, 4, model.remove_extra_whitespaces);
  put_number(normalizer, 5, model.escape_whitespaces);
  put_text(out, 3, normalizer);
  return out;
}

void check_charsmap(std::string_view charsmap, const std::string& where) {
  constexpr std::size_t max_replacement = 4 << 10;
  const auto refuse = [&] {
    throw Error(ErrorCode::bad_format, "The rules of this model's normalizer are broken", where);
  };
  const auto word_at = [&](std::size_t at) {
    std::uint32_t word = 0;
    for (std::size_t i = 4; i-- > 0;) word = word << 8 | static_cast<unsigned char>(charsmap[at + i]);
    return word;
  };
  if (charsmap.size() < 8) refuse();
  const std::size_t trie_bytes = word_at(0);
  if (trie_bytes > charsmap.size() - 4 || trie_bytes % 4 != 0 || trie_bytes == 0) refuse();
  const std::size_t units = trie_bytes / 4;
  const std::string_view values = charsmap.substr(4 + trie_bytes);
  if (values.empty() || values.back() != '\0') refuse();
  // Double-array units: bit 31 marks a value; else bits 10-30 (shifted by 8 more if bit 9) are the offset to
  // the block of children, bit 8 says that the block's first unit is a value, bits 0-7 are the label.
  const auto unit = [&](std::size_t index) { return word_at(4 + index * 4); };
  const auto children = [&](std::size_t index) {
    const std::uint32_t word = unit(index);
    return index ^ static_cast<std::size_t>((word >> 10) << ((word & (1u << 9)) >> 6));
  };
  std::vector<bool> seen(units);
  std::vector<std::size_t> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t index = open.back();
    open.pop_back();
    const std::size_t block = children(index);
    if ((block | 0xFF) >= units) refuse();  // every label may be asked for
    if (unit(index) >> 8 & 1) {
      const std::size_t value = unit(block) & 0x7FFFFFFF;
      if (value >= values.size() || values.find('\0', value) - value > max_replacement) refuse();
      const std::size_t length = values.find('\0', value) - value;
      if (!is_valid_utf8(values.substr(value, length))) refuse();
    }
    for (std::size_t label = 1; label < 256; ++label) {
      const std::size_t child = block ^ label;
      if ((unit(child) & (1u << 31 | 0xFF)) == label && !seen[child]) {
        seen[child] = true;
        open.push_back(child);
      }
    }
  }
}

}  // namespace lorikeet

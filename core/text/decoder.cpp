// SPDX-License-Identifier: Apache-2.0
#include "core/text/decoder.h"

#include <nlohmann/json.hpp>

#include "core/text/byte_level.h"
#include "core/text/json_fields.h"
#include "core/text/normalizer.h"
#include "core/text/unicode.h"
#include "core/text/vocabulary.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr int kMaxDepth = 16;

std::string byte_level_piece(const std::string& piece) {
  return byte_level_bytes(piece).value_or(piece);
}

std::string byte_piece(const std::string& piece) {
  const int byte = byte_of_piece(piece);
  return byte < 0 ? piece : std::string(1, static_cast<char>(byte));
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

void byte_level(std::vector<std::string>& pieces) {
  for (std::string& piece : pieces) piece = byte_level_piece(piece);
  pieces = {replace_invalid_utf8(joined(pieces))};
}

/// A run of byte pieces is one text; if it is not UTF-8, each of its bytes is one U+FFFD.
void byte_fallback(std::vector<std::string>& pieces) {
  std::vector<std::string> out;
  std::string run;
  const auto end_run = [&] {
    if (is_valid_utf8(run)) {
      if (!run.empty()) out.push_back(run);
    } else {
      out.insert(out.end(), run.size(), "\xEF\xBF\xBD");
    }
    run.clear();
  };
  for (std::string& piece : pieces) {
    const int byte = byte_of_piece(piece);
    if (byte >= 0) {
      run += static_cast<char>(byte);
    } else {
      end_run();
      out.push_back(std::move(piece));
    }
  }
  end_run();
  pieces = std::move(out);
}

void strip_piece(std::string& piece, const std::string& content, std::int64_t start, std::int64_t stop) {
  const auto n = content.size();
  while (start-- > 0 && n > 0 && piece.compare(0, n, content) == 0) piece.erase(0, n);
  while (stop-- > 0 && n > 0 && piece.size() >= n && piece.compare(piece.size() - n, n, content) == 0) {
    piece.resize(piece.size() - n);
  }
}

std::string replace_in(const MatchFinder& find, const std::string& content, const std::string& piece) {
  std::string out;
  std::size_t done = 0;
  find(piece, [&](std::size_t begin, std::size_t end) {
    out.append(piece, done, begin - done).append(content);
    done = end;
  });
  return out.append(piece, done);
}

}  // namespace

Decoder Decoder::from_json(const nlohmann::json& json, const std::string& where) {
  Decoder decoder;
  if (json.is_null()) {
    decoder.steps_.push_back([](std::vector<std::string>& pieces) {
      for (std::size_t i = 1; i < pieces.size(); ++i) pieces[i] = " " + pieces[i];
    });
  } else {
    decoder.add(json, where, 0);
  }
  return decoder;
}

std::string Decoder::text(std::vector<std::string> pieces) const {
  for (const Step& step : steps_) step(pieces);
  return joined(pieces);
}

std::string Decoder::bytes(const std::string& piece) const {
  std::string out = piece;
  for (const PieceStep& step : piece_steps_) out = step(out);
  return out;
}

void Decoder::add(const nlohmann::json& json, const std::string& where, int depth) {
  if (depth > kMaxDepth) throw Error(ErrorCode::bad_format, "Decoders are nested too deep", where);
  const std::string type = field_string(json, "type", {}, where);
  if (type == "Sequence") {
    for (const auto& part : field_array(json, "decoders", where)) add(part, where, depth + 1);
  } else if (type == "ByteLevel") {
    steps_.push_back(byte_level);
    piece_steps_.push_back(byte_level_piece);
  } else if (type == "ByteFallback") {
    steps_.push_back(byte_fallback);
    piece_steps_.push_back(byte_piece);
  } else if (type == "Fuse") {
    steps_.push_back([](std::vector<std::string>& pieces) { pieces = {joined(pieces)}; });
  } else if (type == "Metaspace") {
    const auto find =
        make_pattern({{"String", field_string(json, "replacement", "\xE2\x96\x81", where)}}, where);
    const bool drops_first = field_string(json, "prepend_scheme", "always", where) != "never" &&
                             field_bool(json, "add_prefix_space", true, where);
    const auto spaces = [find](const std::string& piece) { return replace_in(find, " ", piece); };
    steps_.push_back([find, spaces, drops_first](std::vector<std::string>& pieces) {
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        // The reference drops every mark of the first piece, not only the one that encoding put there.
        pieces[i] = i == 0 && drops_first ? replace_in(find, "", pieces[i]) : spaces(pieces[i]);
      }
    });
    piece_steps_.push_back(spaces);
  } else if (type == "Replace") {
    const auto replace = [find = make_pattern(field(json, "pattern"), where),
                          content = field_string(json, "content", {}, where)](const std::string& piece) {
      return replace_in(find, content, piece);
    };
    steps_.push_back([replace](std::vector<std::string>& pieces) {
      for (std::string& piece : pieces) piece = replace(piece);
    });
    piece_steps_.push_back(replace);
  } else if (type == "Strip") {
    steps_.push_back([content = field_string(json, "content", {}, where),
                      start = field_int(json, "start", 0, 0, 64, where),
                      stop = field_int(json, "stop", 0, 0, 64, where)](std::vector<std::string>& pieces) {
      for (std::string& piece : pieces) strip_piece(piece, content, start, stop);
    });
  } else {
    throw Error(ErrorCode::unsupported, "The decoder \"" + type + "\" is not built", where);
  }
}

}  // namespace lorikeet

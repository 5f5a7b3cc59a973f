// SPDX-License-Identifier: Apache-2.0
#include "core/text/byte_level.h"

#include <array>

#include "core/text/unicode.h"

namespace lorikeet {
namespace {

struct Alphabet {
  std::array<char32_t, 256> chars{};
  std::array<int, 0x144> bytes{};

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool itself = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      chars[byte] = itself ? byte : next++;
      bytes[chars[byte]] = static_cast<int>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet made;
  return made;
}

}  // namespace

char32_t byte_level_char(unsigned char byte) {
  return alphabet().chars[byte];
}

std::optional<std::string> byte_level_bytes(std::string_view piece) {
  std::string out;
  out.reserve(piece.size());
  for (std::size_t at = 0; at < piece.size();) {
    const Utf8Char c = utf8_at(piece, at);
    const int byte = c.code < alphabet().bytes.size() ? alphabet().bytes[c.code] : -1;
    if (byte < 0) return std::nullopt;
    out += static_cast<char>(byte);
    at += c.bytes;
  }
  return out;
}

}  // namespace lorikeet

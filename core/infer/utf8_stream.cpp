// SPDX-License-Identifier: Apache-2.0
#include "core/infer/session.h"

namespace lorikeet {
namespace {

/// Length of the sequence a lead byte begins, 0 when it cannot begin one.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// Whether `byte` may stand at `index` (1..3) after `lead`: rules out overlong forms, surrogates and >
/// U+10FFFF.
bool may_follow(unsigned char lead, std::size_t index, unsigned char byte) {
  if (byte < 0x80 || byte > 0xBF) return false;
  if (index != 1) return true;
  if (lead == 0xE0) return byte >= 0xA0;
  if (lead == 0xED) return byte <= 0x9F;
  if (lead == 0xF0) return byte >= 0x90;
  if (lead == 0xF4) return byte <= 0x8F;
  return true;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string out;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const auto lead = static_cast<unsigned char>(pending_[at]);
    const std::size_t length = sequence_length(lead);
    std::size_t valid = length == 0 ? 0 : 1;
    while (valid > 0 && valid < length && at + valid < pending_.size() &&
           may_follow(lead, valid, static_cast<unsigned char>(pending_[at + valid]))) {
      ++valid;
    }
    if (valid > 0 && valid == length) {
      out.append(pending_, at, length);
      at += length;
    } else if (valid > 0 && at + valid == pending_.size()) {
      break;  // may still be completed
    } else {
      out += "\xEF\xBF\xBD";
      at += valid > 0 ? valid : 1;
    }
  }
  pending_.erase(0, at);
  return out;
}

std::string Utf8Stream::finish() {
  const bool broken = !pending_.empty();
  pending_.clear();
  return broken ? "\xEF\xBF\xBD" : "";
}

}  // namespace lorikeet

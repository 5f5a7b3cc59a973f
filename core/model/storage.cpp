// SPDX-License-Identifier: Apache-2.0
// Stored numbers to f32 (formats.md §7.2). Every formula is evaluated in f32 as the reference does, so
// results are equal to its bit for bit.
#include "core/model/storage.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/base/error.h"
#include "kernels/base/half.h"

namespace lorikeet {
namespace {

using Bytes = const std::uint8_t*;

std::uint16_t u16_at(Bytes p) {
  std::uint16_t value;
  std::memcpy(&value, p, 2);
  return value;
}
std::uint32_t u32_at(Bytes p) {
  std::uint32_t value;
  std::memcpy(&value, p, 4);
  return value;
}
float half_at(Bytes p) {
  return f16_to_f32(u16_at(p));
}

/// Low nibbles are elements 0 … 15, high nibbles 16 … 31.
void decode_q4_0(Bytes block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < 16; ++j) {
    const int codes = block[2 + j];
    out[j] = static_cast<float>((codes & 15) - 8) * d;
    out[j + 16] = static_cast<float>((codes >> 4) - 8) * d;
  }
}

void decode_q4_1(Bytes block, float* out) {
  const float d = half_at(block), m = half_at(block + 2);
  for (int j = 0; j < 16; ++j) {
    const int codes = block[4 + j];
    out[j] = static_cast<float>(codes & 15) * d + m;
    out[j + 16] = static_cast<float>(codes >> 4) * d + m;
  }
}

/// The fifth bits of all 32 elements stand in one word before the nibbles.
void decode_q5(Bytes nibbles, std::uint32_t fifth, float d, float m, int minus, float* out) {
  for (int j = 0; j < 16; ++j) {
    const int codes = nibbles[j];
    const int low = (codes & 15) | static_cast<int>((fifth >> j) & 1u) << 4;
    const int high = (codes >> 4) | static_cast<int>((fifth >> (j + 16)) & 1u) << 4;
    out[j] = static_cast<float>(low - minus) * d + m;
    out[j + 16] = static_cast<float>(high - minus) * d + m;
  }
}
void decode_q5_0(Bytes block, float* out) {
  decode_q5(block + 6, u32_at(block + 2), half_at(block), 0, 16, out);
}
void decode_q5_1(Bytes block, float* out) {
  decode_q5(block + 8, u32_at(block + 4), half_at(block), half_at(block + 2), 0, out);
}

void decode_q8_0(Bytes block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(static_cast<std::int8_t>(block[2 + j])) * d;
}

struct ScaleAndMin {
  int scale = 0, min = 0;
};
/// Six-bit scale and minimum of sub-block j of eight, packed in twelve bytes.
ScaleAndMin k_scale(Bytes s, int j) {
  if (j < 4) return {s[j] & 63, s[j + 4] & 63};
  return {(s[j + 4] & 15) | ((s[j - 4] >> 6) << 4), (s[j + 4] >> 4) | ((s[j] >> 6) << 4)};
}

/// 64 elements share 32 bytes: the low nibbles are one sub-block of 32, the high ones the next. With `fifth`,
/// bit 2k and 2k+1 of its 32 bytes are the fifth bits of the two.
void decode_k4_or_k5(Bytes block, Bytes nibbles, Bytes fifth, float* out) {
  const float d = half_at(block), dmin = half_at(block + 2);
  for (int k = 0; k < 4; ++k) {
    for (int part = 0; part < 2; ++part) {
      const auto [scale, min] = k_scale(block + 4, 2 * k + part);
      const float ds = d * static_cast<float>(scale), m = dmin * static_cast<float>(min);
      for (int l = 0; l < 32; ++l) {
        int n = (nibbles[32 * k + l] >> (4 * part)) & 15;
        if (fifth) n |= ((fifth[l] >> (2 * k + part)) & 1) << 4;
        *out++ = ds * static_cast<float>(n) - m;
      }
    }
  }
}
void decode_q4_k(Bytes block, float* out) {
  decode_k4_or_k5(block, block + 16, nullptr, out);
}
void decode_q5_k(Bytes block, float* out) {
  decode_k4_or_k5(block, block + 48, block + 16, out);
}

void decode_q6_k(Bytes block, float* out) {
  const float d = half_at(block + 208);
  for (int half = 0; half < 2; ++half) {
    const Bytes ql = block + 64 * half, qh = block + 128 + 32 * half, sc = block + 192 + 8 * half;
    for (int part = 0; part < 4; ++part) {
      for (int l = 0; l < 32; ++l) {
        const int low = (ql[l + 32 * (part & 1)] >> (4 * (part >> 1))) & 15;
        const int n = low | (((qh[l] >> (2 * part)) & 3) << 4);
        const float scale = d * static_cast<float>(static_cast<std::int8_t>(sc[l / 16 + 2 * part]));
        *out++ = scale * static_cast<float>(n - 32);
      }
    }
  }
}

using Decoder = void (*)(Bytes block, float* out);
Decoder decoder_of(StorageType type) {
  switch (type) {
    case StorageType::q4_0:
      return decode_q4_0;
    case StorageType::q4_1:
      return decode_q4_1;
    case StorageType::q5_0:
      return decode_q5_0;
    case StorageType::q5_1:
      return decode_q5_1;
    case StorageType::q8_0:
      return decode_q8_0;
    case StorageType::q4_k:
      return decode_q4_k;
    case StorageType::q5_k:
      return decode_q5_k;
    case StorageType::q6_k:
      return decode_q6_k;
    default:
      return nullptr;
  }
}

void read_blocks(Decoder decode, std::int64_t block_size, std::int64_t block_width, Bytes data,
                 std::int64_t first, std::span<float> out) {
  std::array<float, 256> decoded;
  std::size_t done = 0;
  while (done < out.size()) {
    const std::int64_t at = first + static_cast<std::int64_t>(done);
    const Bytes block = data + at / block_size * block_width;
    const auto inside = static_cast<std::size_t>(at % block_size);
    const std::size_t count = std::min(static_cast<std::size_t>(block_size) - inside, out.size() - done);
    if (count == static_cast<std::size_t>(block_size)) {
      decode(block, out.data() + done);
    } else {
      decode(block, decoded.data());
      std::copy_n(decoded.begin() + static_cast<std::ptrdiff_t>(inside), count,
                  out.begin() + static_cast<std::ptrdiff_t>(done));
    }
    done += count;
  }
}

}  // namespace

void read_elements(StorageType type, std::span<const std::byte> bytes, std::int64_t first,
                   std::span<float> out) {
  if (type == StorageType::other)
    throw Error(ErrorCode::unsupported, "This type of stored numbers cannot be read");
  const std::int64_t size = block_elements(type), width = block_bytes(type);
  const std::int64_t stored = static_cast<std::int64_t>(bytes.size()) / width * size;
  if (first < 0 || first > stored || static_cast<std::int64_t>(out.size()) > stored - first) {
    throw Error(ErrorCode::bad_format, "The tensor has fewer numbers than asked for");
  }
  const auto* data = reinterpret_cast<Bytes>(bytes.data());
  if (const Decoder decode = decoder_of(type)) return read_blocks(decode, size, width, data, first, out);
  const auto* from = data + first * width;
  if (type == StorageType::f32) {
    if (!out.empty()) std::memcpy(out.data(), from, out.size() * sizeof(float));
  } else if (type == StorageType::f16) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = half_at(from + 2 * i);
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_f32(u16_at(from + 2 * i));
  }
}

void read_elements(const SourceTensor& tensor, std::int64_t first, std::span<float> out) {
  if (tensor.added != 0) {
    read_elements(tensor.type, tensor.bytes, first, out);
    for (float& value : out) value += tensor.added;
    return;
  }
  if (tensor.permuted_heads == 0) return read_elements(tensor.type, tensor.bytes, first, out);
  const std::int64_t rows = tensor.shape[0], columns = tensor.elements() / rows;
  const std::int64_t head_rows = rows / tensor.permuted_heads, half = head_rows / 2;
  for (std::size_t done = 0; done < out.size();) {
    const std::int64_t at = first + static_cast<std::int64_t>(done);
    const std::int64_t row = at / columns, column = at % columns, inside = row % head_rows;
    // Row (head, half p, i) of the PyTorch layout is row (head, i, p) in the file.
    const std::int64_t stored = row - inside + inside % half * 2 + inside / half;
    const std::size_t count = std::min(out.size() - done, static_cast<std::size_t>(columns - column));
    read_elements(tensor.type, tensor.bytes, stored * columns + column, out.subspan(done, count));
    done += count;
  }
}

}  // namespace lorikeet

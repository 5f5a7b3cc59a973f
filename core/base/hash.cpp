// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"

#include <openssl/evp.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "kernels/base/error.h"

namespace lorikeet {

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!state_->context || EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorCode::unsupported, "The system's libcrypto offers no SHA-256");
  }
}

Sha256::~Sha256() = default;

void Sha256::update(const void* data, std::size_t bytes) {
  EVP_DigestUpdate(state_->context.get(), data, bytes);
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(state_->context.get(), digest, &length);
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < length; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.hex();
}

std::string sha256_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw system_error("Cannot open", path, errno);
  Sha256 hash;
  std::vector<char> buffer(1u << 20);
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    hash.update(buffer.data(), got);
  if (std::ferror(file.get())) throw system_error("Cannot read", path, errno);
  return hash.hex();
}

}  // namespace lorikeet

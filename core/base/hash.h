// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lorikeet {

/// SHA-256 over pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();
  void update(const void* data, std::size_t bytes);
  /// 64 lower-case hex digits; call once.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::string_view bytes);
/// Of a whole file, read in pieces. Throws Error naming the path.
std::string sha256_file(const std::string& path);

}  // namespace lorikeet

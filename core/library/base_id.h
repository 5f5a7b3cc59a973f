// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lorikeet {

/// Identity of a base model by content (design.md §10): SHA-256 over the sorted (name, SHA-256) of its
/// weight, config and tokenizer files; 64 hex digits. Only the engine calls it: hashing reads every byte.
/// Hashes are cached in `home`/cache by path, size, mtime and inode; "" = no cache. Throws Error naming the
/// file that cannot be read.
std::string base_id(const std::string& model_path, const std::string& home);

}  // namespace lorikeet

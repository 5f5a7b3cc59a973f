// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lorikeet {

class Error;

/// Whether a file's content is a Python pickle or a PyTorch archive (zip with data.pkl), whatever its name
/// says. Loading those runs code of whoever made them, so they are refused (reliability.md §2, rule 14).
bool is_pickle(std::span<const std::byte> file);

/// The refusal: Error(unsupported) for this path, with how to get safetensors.
Error pickle_error(const std::string& path);

/// Throws a telling Error when bytes that are no model are something people often have in its place: a
/// pickle, a Git LFS pointer, a web page saved by a failed download. Does nothing for anything else.
void refuse_foreign_file(std::span<const std::byte> file, const std::string& path);

}  // namespace lorikeet

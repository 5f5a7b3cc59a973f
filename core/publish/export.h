// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace lorikeet {

/// What is exported and where to.
struct ExportRequest {
  std::string model_path;
  std::string adapter_path;
  std::string kind;           ///< "adapter" or "merged"
  std::string type = "bf16";  ///< merged: bf16, f16, f32
  std::string out;            ///< a folder that does not exist or is empty
  std::uint64_t shard_bytes = 5'000'000'000;
};

/// A file that will be made, with its size before anything is written.
struct PlannedFile {
  std::string name;
  std::uint64_t bytes = 0;
};

/// Files and bytes an export will take; core only, so the studio can show it. Throws Error for what cannot be
/// exported.
std::vector<PlannedFile> plan_export(const ExportRequest& request);

/// Everything of an export but its files (engine): lays it out, reads the adapter, merges some rows of one
/// weight of each kind and rounds them. Gives the bytes it would write; throws Error as run_export would. B
/// may be zero. `between` is called between weights and may throw.
std::uint64_t rehearse_export(const ExportRequest& request, const std::function<void()>& between = {});

/// Runs it (engine). `progress` gets tensors done and in all. Written into a temporary folder beside `out`,
/// renamed at the end: a stopped or failed export leaves nothing at `out`. merged: W + scale * B A (with DoRA
/// m / norm o that) in f32 from the 16-bit base, then rounded; config, generation config, tokenizer, LICENSE,
/// NOTICE and use-policy files are carried over or written from a GGUF's metadata.
using ExportProgress = std::function<void(std::int64_t done, std::int64_t total)>;
void run_export(const ExportRequest& request, std::stop_token stop = {}, const ExportProgress& progress = {});

}  // namespace lorikeet

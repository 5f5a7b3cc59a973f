// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/adapter_files.h"
#include "core/model/model_spec.h"
#include "core/model/safetensors.h"
#include "core/publish/export.h"

namespace lorikeet {

/// Everything an export will write, fixed before the first byte.
struct ExportFiles {
  struct Shard {
    std::string name;
    SafetensorsLayout layout;
  };
  ModelSpec spec;  ///< of the base
  AdapterConfig config;
  AdapterNotes notes;
  std::vector<Shard> shards;                                ///< merged weights, by file
  std::vector<std::pair<std::string, std::string>> texts;   ///< file name and content
  std::vector<std::pair<std::string, std::string>> copies;  ///< file name and where it is copied from

  std::uint64_t bytes() const;  ///< of all files
};

/// Checks a request and lays its files out (core: reads headers and texts only). Throws Error for what cannot
/// be exported.
ExportFiles lay_out_export(const ExportRequest& request);

/// safetensors' name of a merged type: "BF16", "F16" or "F32". Throws Error(unsupported) for another.
std::string merged_dtype(const std::string& type);

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

/// adapter_config.json as far as this engine uses it (formats.md §3.2); other fields are kept for writing back.
struct AdapterConfig {
  std::int64_t rank = 8;
  double alpha = 8;
  bool rslora = false;
  std::vector<std::string> targets;        ///< module names within a layer, for example "self_attn.q_proj"
  std::string base_name;                   ///< base_model_name_or_path
};

/// lorikeet.json beside it (design.md §10); empty fields for adapters made elsewhere.
struct AdapterNotes {
  std::string format;                      ///< "alpaca", "chat", "none", "" = unknown
  std::string template_text, template_hash, system;
  std::vector<std::int32_t> stop_ids;
  std::string base_id, base_name, run_id, quantization;
  double rope_linear_factor = 1;
};

/// Reads adapter_config.json of a PEFT folder (core: no tensors). Throws Error naming file and field.
AdapterConfig read_adapter_config(const std::string& folder);
/// Reads lorikeet.json beside it; all fields are empty when there is none.
AdapterNotes read_adapter_notes(const std::string& folder);

}  // namespace lorikeet

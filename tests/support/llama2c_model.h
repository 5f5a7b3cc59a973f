// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lorikeet::test {

/// Turns a model of the llama2.c project (weights `bin`, vocabulary `vocabulary`) into a Hugging Face folder:
/// config.json, model.safetensors (F32) and tokenizer.model. Its q and k rows lie in Meta's interleaved RoPE
/// order and are put into Hugging Face's half-split order. Throws std::runtime_error when a file is not as
/// long as its header says.
void convert_llama2c_model(const std::string& bin, const std::string& vocabulary, const std::string& folder);

}  // namespace lorikeet::test

// SPDX-License-Identifier: Apache-2.0
#include "core/text/gguf_patterns.h"

#include <algorithm>

namespace lorikeet {
namespace {

// The patterns are part of the format: they are those that the models were trained with (formats.md §6.2,
// §7.3).
constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* kTekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kDigit = R"(\p{N})";
constexpr const char* kHan = R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)";
constexpr const char* kBloom = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

/// Llama-3's pattern, and Qwen2's, which differ only in how many digits go together.
std::string llama3_pattern(const char* digits) {
  return std::string(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)") + digits +
         R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

struct Row {
  std::vector<std::string_view> names;
  GgufPre pre;
};

const std::vector<Row>& rows() {
  static const std::string llama3 = llama3_pattern(R"(\p{N}{1,3})");
  static const std::string qwen2 = llama3_pattern(R"(\p{N})");
  static const std::vector<Row> table{
      {{"", "default"}, {{R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
       {{llama3}, true, true}},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, {{llama3}}},
      {{"qwen2", "deepseek-r1-qwen", "megrez"}, {{qwen2}, false, false, true}},
      {{"stablelm2"}, {{qwen2}}},
      {{"gpt-2", "phi-2", "gigachat", "roberta-bpe", "mpt", "olmo", "jais", "jina-es", "jina-de",
        "jina-v1-en", "jina-v2-es", "jina-v2-de", "jina-v2-code"},
       {{kGpt2}}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"},
       {{kDigit, kGpt2}}},
      {{"tekken"}, {{kTekken}, true, true}},
      {{"falcon"}, {{R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, "[0-9][0-9][0-9]"}}},
      {{"deepseek-coder"}, {{"[\r\n]", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kHan, kDigit}}},
      {{"deepseek-v3"},
       {{R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
         R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
         R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}}},
      {{"poro-chat", "bloom", "gpt3-finnish"}, {{kBloom}}},
      {{"viking"}, {{kBloom, kDigit}}},
  };
  return table;
}

}  // namespace

std::optional<GgufPre> find_gguf_pre(std::string_view name) {
  for (const Row& row : rows()) {
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return row.pre;
  }
  return std::nullopt;
}

}  // namespace lorikeet

// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "core/base/files.h"
#include "core/model/gguf.h"
#include "core/text/bpe_tokenizer.h"
#include "core/text/gguf_tokenizer.h"
#include "core/text/sentencepiece_tokenizer.h"
#include "core/text/tokenizer.h"
#include "core/text/tokenizer_config.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

std::unique_ptr<Tokenizer> load_folder(const std::string& folder) {
  const TokenizerConfig config = read_tokenizer_config(folder);
  const std::string json = folder + "/tokenizer.json";
  const std::string model = folder + "/tokenizer.model";
  if (std::filesystem::exists(json)) return load_tokenizer_json(json, config);
  if (std::filesystem::exists(model)) return load_sentencepiece_tokenizer(model, config);
  if (std::filesystem::exists(folder + "/vocab.json")) {
    throw Error(ErrorCode::unsupported, "A tokenizer of vocab.json and merges.txt alone is not built", folder,
                "Save it once with a newer library, which writes tokenizer.json too.");
  }
  throw Error(ErrorCode::not_found, "There is neither tokenizer.json nor tokenizer.model", folder,
              "Choose the folder of a Hugging Face model, or a GGUF file.");
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path) {
  if (std::filesystem::is_directory(path)) return load_folder(path);
  if (!std::filesystem::exists(path))
    throw Error(ErrorCode::not_found, "There is no such file or folder", path);
  const std::string head(MappedFile(path).text().substr(0, 64));
  if (head.rfind("GGUF", 0) == 0) {
    return make_gguf_tokenizer(read_gguf_tokenizer(GgufFile(path)), path);
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const TokenizerConfig none;
  if (first != std::string::npos && head[first] == '{') return load_tokenizer_json(path, none);
  return load_sentencepiece_tokenizer(path, none);
}

}  // namespace lorikeet

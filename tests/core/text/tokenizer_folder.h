// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTemporaryDir>
#include <QtTest>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"

namespace lorikeet::test {

/// A folder of a model's small files that one test writes and loads.
class TokenizerFolder {
 public:
  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
  std::string path() const { return folder_.path().toStdString(); }
  void write(const char* name, const std::string& text) const { write_file_atomically(path(name), text); }
  std::unique_ptr<Tokenizer> load() const { return load_tokenizer(path()); }

  /// Loading must fail with an Error that says `says` and names `path`.
  static void refused(const std::string& path, const QString& says) {
    try {
      load_tokenizer(path);
      QFAIL("the file was taken");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find(says.toStdString()) != std::string::npos, error.what());
      QVERIFY2(error.where().find(path) != std::string::npos, error.what());
    }
  }

 private:
  QTemporaryDir folder_;
};

/// A tokenizer.json of the golden files: "chars" or "bytes".
inline nlohmann::ordered_json small_tokenizer(const char* name) {
  return golden::read_json(std::string("small_tokenizers/") + name + ".json");
}

/// The byte-level vocabulary of the golden files as GGUF metadata.
inline GgufBuilder byte_level_gguf(const std::string& pre) {
  const nlohmann::ordered_json json = small_tokenizer("bytes");
  std::vector<std::string> tokens(json["model"]["vocab"].size()), merges;
  for (const auto& [text, id] : json["model"]["vocab"].items()) tokens[id.get<std::size_t>()] = text;
  for (const auto& merge : json["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  std::vector<std::int32_t> types(tokens.size(), 1);
  types[0] = types[1] = 3;
  GgufBuilder gguf;
  gguf.add_text("general.architecture", "llama")
      .add_text("tokenizer.ggml.model", "gpt2")
      .add_text("tokenizer.ggml.pre", pre);
  gguf.add_texts("tokenizer.ggml.tokens", tokens).add_i32s("tokenizer.ggml.token_type", types);
  gguf.add_texts("tokenizer.ggml.merges", merges);
  gguf.add_u32("tokenizer.ggml.bos_token_id", 0).add_u32("tokenizer.ggml.eos_token_id", 1);
  return gguf;
}

}  // namespace lorikeet::test

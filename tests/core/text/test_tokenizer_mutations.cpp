// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/files.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/core/text/tiny_vocabulary.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using nlohmann::ordered_json;

namespace {

/// One change or two of the kinds that broken disks and hostile people make, with bytes of `alphabet`. Most
/// of them fall on the last `focus` bytes, where the small fields are, since the vocabulary fills the rest.
std::string mutated(std::string bytes, std::size_t focus, std::string_view alphabet, std::mt19937& random) {
  const auto pick = [&](std::size_t below) { return below == 0 ? 0 : random() % below; };
  for (std::size_t changes = 1 + pick(2); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t reach = pick(2) == 0 ? bytes.size() : std::min(focus, bytes.size());
    const std::size_t at = bytes.size() - reach + pick(reach);
    const std::size_t length = 1 + pick(std::min<std::size_t>(32, bytes.size() - at));
    const char c = alphabet[pick(alphabet.size())];
    switch (pick(9)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << pick(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, std::string(length, c));
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(pick(bytes.size()), bytes.substr(at, length));
        break;
      case 5:
        bytes.replace(at, length, std::string(length, c));
        break;
      default:
        bytes[at] = c;
        break;
    }
  }
  return bytes;
}

std::string every_byte() {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  return all + std::string(64, '\xFF');
}

/// JSON with one value replaced by one of another kind, or one member gone.
ordered_json mutated_json(ordered_json json, std::mt19937& random) {
  static const std::vector<ordered_json> values{nullptr,
                                                true,
                                                -1,
                                                1e300,
                                                4'000'000'000u,
                                                "",
                                                "x",
                                                "\u2581",
                                                ordered_json::array(),
                                                ordered_json::object(),
                                                {1, 2},
                                                {{"type", "NFC"}}};
  ordered_json* node = &json;
  ordered_json* parent = nullptr;
  while ((node->is_object() || node->is_array()) && !node->empty() && random() % 6 != 0) {
    parent = node;
    auto child = node->begin();
    std::advance(child, static_cast<std::ptrdiff_t>(random() % node->size()));
    node = &*child;
  }
  if (parent && random() % 4 == 0) {
    parent->erase(parent->begin());
  } else {
    *node = values[random() % values.size()];
  }
  return json;
}

}  // namespace

/// Thousands of broken files: each is refused with an Error or works; nothing else may happen. The sanitizer
/// builds run it too.
class TestTokenizerMutations : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  int taken_ = 0, refused_ = 0;

  void try_file(const char* name, const std::string& bytes, const std::string& loaded) {
    QFile::remove(
        folder_.filePath(name));  // some file systems write a file out when it is cut and filled again
    std::ofstream(path(name), std::ios::binary) << bytes;
    try {
      const auto tokenizer = load_tokenizer(loaded);
      for (const char* text : {"Hello  world, it's 12 <s>naïve</s>日\n\n", " ", "</s>"}) {
        for (const bool flag : {true, false}) {
          const auto ids =
              tokenizer->encode(text, {.add_special = flag, .parse_special = flag, .continuation = !flag});
          for (const TokenId id : ids) {
            if (id < 0 || id >= tokenizer->vocab_size()) qFatal("id %d out of range", id);
            tokenizer->token_bytes(id);
          }
          tokenizer->decode(ids, flag);
        }
      }
      ++taken_;
    } catch (const Error&) {
      ++refused_;
    }
  }
  std::string path(const char* name) const { return folder_.filePath(name).toStdString(); }
  void report(const char* what) {
    qInfo("%s: %d taken, %d refused", what, taken_, refused_);
    QVERIFY(taken_ > 5 && refused_ > 20);  // else the changes say nothing
    taken_ = refused_ = 0;
  }

 private slots:
  void broken_sentencepiece_models() {
    SentencePieceModel model = test::tiny_model();
    model.pieces.push_back({"wor", 0, PieceType::user_defined});
    model.pieces.push_back({"▁hell", -3, PieceType::unused});
    const std::string good = write_sentencepiece_model(model);
    std::mt19937 random(1);
    for (int i = 0; i < 1500; ++i)
      try_file("tokenizer.model", mutated(good, 500, every_byte(), random), path("tokenizer.model"));
    report("tokenizer.model");
  }

  void broken_rules_of_a_normalizer() {
    const std::string good = read_file(golden::path("small_tokenizers/rules.model"));
    std::mt19937 random(6);
    for (int i = 0; i < 1500; ++i) {
      try_file("tokenizer.model", mutated(good, 4000, every_byte(), random), path("tokenizer.model"));
    }
    report("tokenizer.model with rules");
  }

  void broken_bytes_in_tokenizer_json() {
    const std::string good = golden::read_json("small_tokenizers/bytes.json").dump();
    std::mt19937 random(2);
    for (int i = 0; i < 700; ++i)
      try_file("tokenizer.json", mutated(good, 3000, "0123456789abcdefgh\"[]{},:. u\\", random),
               path("tokenizer.json"));
    report("tokenizer.json, bytes");
  }

  void wrong_values_in_tokenizer_json() {
    std::mt19937 random(3);
    const ordered_json cases = golden::read_json("small_tokenizers/cases.json")["cases"];
    for (int i = 0; i < 1500; ++i) {
      const ordered_json& parts = cases[random() % cases.size()]["parts"];
      ordered_json json =
          golden::read_json("small_tokenizers/" + cases[0]["base"].get<std::string>() + ".json");
      json["model"]["vocab"] = {{"<unk>", 0}, {"<s>", 1}, {"a", 2},    {"b", 3},
                                {"ab", 4},    {"▁", 5},   {"Hello", 6}};
      json["model"]["merges"] = {"a b"};
      json["model"]["byte_fallback"] = random() % 2 == 0;
      json["added_tokens"] = {{{"id", 1}, {"content", "<s>"}, {"special", true}}};
      for (const auto& [key, value] : parts.items()) {
        if (key != "model" && key != "added") json[key] = value;
      }
      json.erase("post_processor");
      try_file("tokenizer.json", mutated_json(json, random).dump(), path("tokenizer.json"));
    }
    report("tokenizer.json, values");
  }

  void wrong_values_in_the_small_files() {
    write_file_atomically(path("tokenizer.model"), write_sentencepiece_model(test::tiny_model()));
    QFile::remove(folder_.filePath("tokenizer.json"));
    const ordered_json config = ordered_json::parse(
        R"({"add_bos_token":true,"legacy":false,"bos_token":"<s>","eos_token":{"content":"</s>"},"tokenizer_class":"LlamaTokenizer",
            "chat_template":[{"name":"default","template":"x"}],"additional_special_tokens":["a",{"content":"b"}],
            "added_tokens_decoder":{"281":{"content":"<t>","special":true,"lstrip":true},"282":{"content":"<u>"}}})");
    std::mt19937 random(4);
    for (int i = 0; i < 500; ++i) {
      try_file("tokenizer_config.json", mutated_json(config, random).dump(), folder_.path().toStdString());
    }
    QFile::remove(folder_.filePath("tokenizer_config.json"));
    report("tokenizer_config.json");
  }

  void broken_gguf_vocabularies() {
    const std::string good = test::gguf_of(test::tiny_model()).build();
    std::mt19937 random(5);
    for (int i = 0; i < 1500; ++i)
      try_file("model.gguf", mutated(good, 1500, every_byte(), random), path("model.gguf"));
    report("GGUF");
  }
};

QTEST_GUILESS_MAIN(TestTokenizerMutations)
#include "test_tokenizer_mutations.moc"

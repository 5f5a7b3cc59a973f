// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/text/tokenizer.h"
#include "tests/core/text/shared_data.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using nlohmann::ordered_json;

namespace {

using Ids = std::vector<TokenId>;

ordered_json parse_file(const std::string& path) {
  return ordered_json::parse(read_file(path));
}

template <typename T>
T exception_or(const ordered_json& table, std::size_t index, const T& usual) {
  const auto found = table.find(std::to_string(index));
  return found == table.end() ? usual : found->template get<T>();
}

std::vector<std::string> split_at(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, begin)) {
    parts.push_back(text.substr(begin, at - begin));
    begin = at + mark.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

/// Real vocabularies against published ids and against ids by the reference libraries. The vocabularies are
/// shared test data, not part of the repository.
class TestTokenizerVectors : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string data_;
  std::map<std::string, std::unique_ptr<Tokenizer>> loaded_;

  const Tokenizer& tokenizer(const std::string& file) {
    auto& entry = loaded_[file];
    if (!entry) entry = load_tokenizer(unpack_once(file));
    return *entry;
  }
  std::string unpack_once(const std::string& file) {
    return file.ends_with(".gz") ? test::unpack(data_ + "/" + file, folder_, replaced(file, "/", "-"))
                                 : data_ + "/" + file;
  }

 private slots:
  void initTestCase() {
    data_ = test::shared_tokenizers();
    if (data_.empty()) QSKIP("LORIKEET_TEST_DATA is not set: published tokenizer vectors are not compared");
  }

  void a_thousand_hard_strings_give_the_reference_ids_and_texts_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("golden");
    QTest::newRow("SmolLM2") << "smollm2/tokenizer.json"
                             << "smollm2";
    QTest::newRow("TinyLlama, merges as pairs") << "tinyllama/tokenizer.merges-as-pairs.json"
                                                << "tinyllama";
    QTest::newRow("TinyLlama, merges as strings") << "tinyllama/tokenizer.merges-as-strings.json"
                                                  << "tinyllama";
    QTest::newRow("Llama-3.1") << "llama3/tokenizer.llama-3.1.json.gz"
                               << "llama3";
    QTest::newRow("Mistral v1") << "mistral/tokenizer.v1.json"
                                << "mistral";
    QTest::newRow("Phi-2") << "phi-2/tokenizer.json"
                           << "phi2";
    QTest::newRow("Phi-3") << "phi-3/tokenizer.json"
                           << "phi3";
    QTest::newRow("Qwen3") << "qwen3/tokenizer.json.gz"
                           << "qwen3";
    QTest::newRow("Llama-2, tokenizer.model") << "llama2/tokenizer.model"
                                              << "tinyllama";
    QTest::newRow("Mistral v1, tokenizer.model") << "mistral/tokenizer.model.v1"
                                                 << "mistral";
    QTest::newRow("Llama-2, GGUF") << "ggml-vocab/ggml-vocab-llama-spm.gguf"
                                   << "tinyllama";
  }
  void a_thousand_hard_strings_give_the_reference_ids_and_texts() {
    QFETCH(QString, file);
    QFETCH(QString, golden);
    const Tokenizer& model = tokenizer(file.toStdString());
    const ordered_json strings = golden::read_json("tokenizers/hard_strings.json");
    const ordered_json expected = golden::read_json("tokenizers/" + golden.toStdString() + ".json");
    EncodeOptions plain, raw;
    plain.add_special = raw.add_special = raw.parse_special = false;
    QCOMPARE(strings.size(), std::size_t{1000});
    for (std::size_t i = 0; i < strings.size(); ++i) {
      const auto text = strings[i].get<std::string>();
      const auto ids = expected["ids"][i].get<Ids>();
      const auto shown = "string " + std::to_string(i) + ": " + strings[i].dump();
      QVERIFY2(model.encode(text, plain) == ids, shown.c_str());
      QVERIFY2(model.encode(text, raw) == exception_or(expected["raw"], i, ids), shown.c_str());
      const auto decoded = exception_or(expected["decoded"], i, text);
      QCOMPARE(model.decode(ids, false), decoded);
      QCOMPARE(model.decode(ids, true), exception_or(expected["decoded_without_special"], i, decoded));
      Ids with_prefix = expected["prefix"].get<Ids>();
      with_prefix.insert(with_prefix.end(), ids.begin(), ids.end());
      if (!file.endsWith("tokenizer.json") || !golden.startsWith("phi"))
        QCOMPARE(model.encode(text), with_prefix);
    }
  }

  void llama_cpp_vectors_are_met_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("vectors");
    QTest::newRow("llama-spm, GGUF") << "ggml-vocab/ggml-vocab-llama-spm.gguf"
                                     << "llama-spm";
    QTest::newRow("llama-spm, tokenizer.model") << "llama2/tokenizer.model"
                                                << "llama-spm";
    QTest::newRow("llama-spm, tokenizer.json") << "tinyllama/tokenizer.merges-as-pairs.json"
                                               << "llama-spm";
    QTest::newRow("phi-3, GGUF") << "ggml-vocab/ggml-vocab-phi-3.gguf"
                                 << "phi-3";
    QTest::newRow("phi-3, tokenizer.json") << "phi-3/tokenizer.json"
                                           << "phi-3";
    QTest::newRow("gpt-2, GGUF") << "ggml-vocab/ggml-vocab-gpt-2.gguf"
                                 << "gpt-2";
    QTest::newRow("llama-bpe") << "llama3/tokenizer.llama-3.1.json.gz"
                               << "llama-bpe";
    QTest::newRow("qwen2") << "qwen3/tokenizer.json.gz"
                           << "qwen2";
    QTest::newRow("deepseek-r1-qwen") << "qwen3/tokenizer.json.gz"
                                      << "deepseek-r1-qwen";
  }
  void llama_cpp_vectors_are_met() {
    QFETCH(QString, file);
    QFETCH(QString, vectors);
    const std::string base = data_ + "/ggml-vocab/ggml-vocab-" + vectors.toStdString() + ".gguf";
    const auto texts = split_at(read_file(base + ".inp"), "\n__ggml_vocab_test__\n");
    const auto lines = split_at(read_file(base + ".out"), "\n");
    QVERIFY(texts.size() > 40 && lines.size() >= texts.size());
    EncodeOptions plain;
    plain.add_special = false;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::istringstream line(lines[i]);
      const Ids ids{std::istream_iterator<TokenId>(line), std::istream_iterator<TokenId>()};
      QVERIFY2(tokenizer(file.toStdString()).encode(texts[i], plain) == ids,
               ordered_json(texts[i]).dump().c_str());
    }
  }

  void long_published_texts_are_met_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("vectors");
    QTest::newRow("Llama-3") << "llama3/tokenizer.llama-3.1.json.gz"
                             << "llama_3.2_encoded.json";
    QTest::newRow("Llama-2") << "tinyllama/tokenizer.merges-as-pairs.json"
                             << "llama_encoded.json";
    QTest::newRow("Llama-2, tokenizer.model") << "llama2/tokenizer.model"
                                              << "llama_encoded.json";
    QTest::newRow("GPT-2") << "ggml-vocab/ggml-vocab-gpt-2.gguf"
                           << "gpt2_encoded_tokens.json";
  }
  void long_published_texts_are_met() {
    QFETCH(QString, file);
    QFETCH(QString, vectors);
    const ordered_json expected = parse_file(data_ + "/vectors/swift/" + vectors.toStdString());
    const Tokenizer& model = tokenizer(file.toStdString());
    const auto ids = expected["token_ids"].get<Ids>();
    QCOMPARE(model.encode(expected["text"].get<std::string>()), ids);
    QCOMPARE(model.decode(ids, true), expected["text"].get<std::string>());
    for (std::size_t i = 0; i < expected["bpe_tokens"].size() && vectors.startsWith("gpt2"); ++i) {
      QCOMPARE(model.piece(ids[i]), expected["bpe_tokens"][i].get<std::string>());
    }
  }

  void short_published_texts_are_met_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("name");
    QTest::newRow("Llama-2") << "tinyllama/tokenizer.merges-as-pairs.json"
                             << "coreml-projects/Llama-2-7b-chat-coreml";
    QTest::newRow("Llama-3") << "llama3/tokenizer.llama-3.1.json.gz"
                             << "pcuenq/Llama-3.2-1B-Instruct-tokenizer";
    QTest::newRow("GPT-2") << "ggml-vocab/ggml-vocab-gpt-2.gguf"
                           << "distilgpt2";
  }
  void short_published_texts_are_met() {
    QFETCH(QString, file);
    QFETCH(QString, name);
    const ordered_json all = parse_file(data_ + "/vectors/swift/tokenizer_tests.json");
    const Tokenizer& model = tokenizer(file.toStdString());
    const ordered_json& tests = all[name.toStdString()];
    QVERIFY(tests.size() > 15);
    for (const auto& test : tests) {
      const auto ids = test["encoded"]["input_ids"].get<Ids>();
      QCOMPARE(model.encode(test["input"].get<std::string>()), ids);
    }
  }

  /// A unigram model whose normalizer has rules: full-width letters, ligatures and double spaces are folded.
  void a_unigram_model_with_normalizer_rules_gives_the_library_s_ids() {
    const Tokenizer& model = tokenizer("sentencepiece/test_model.model");
    const EncodeOptions plain{.add_special = false, .parse_special = false};
    QCOMPARE(model.encode("I saw a girl with a telescope.", plain),
             (Ids{9, 459, 11, 939, 44, 11, 4, 142, 82, 8, 28, 21, 132, 6}));
    QCOMPARE(model.encode("  ﬁve   ＡＢＣ　ｶﾞ  ", plain), (Ids{607, 104, 540, 381, 4, 0}));
  }

  /// Mistral's own library writes spaces as ▁ in its text; there is no dummy prefix after a control token.
  void mistral_conversations_give_the_published_ids_data() {
    QTest::addColumn<QString>("sample");
    QTest::addColumn<QString>("version");
    for (const char* sample :
         {"get_weather_full", "get_weather_no_history", "get_weather_no_system_prompt", "no_tools"}) {
      for (const char* version : {"v2", "v3"}) {
        QTest::addRow("%s %s", sample, version) << sample << version;
      }
    }
  }
  void mistral_conversations_give_the_published_ids() {
    QFETCH(QString, sample);
    QFETCH(QString, version);
    const std::string base = data_ + "/mistral/samples/" + sample.toStdString();
    const std::string model = version == "v2" ? "mistral_instruct_tokenizer_240216.model.v2"
                                              : "mistral_instruct_tokenizer_240323.model.v3";
    const QTemporaryDir folder;
    test::unpack(data_ + "/mistral/" + model, folder, "tokenizer.model");
    write_file_atomically(folder.filePath("tokenizer_config.json").toStdString(), R"({"legacy": false})");
    const auto loaded = load_tokenizer(folder.path().toStdString());
    const std::string text =
        replaced(read_file(base + "/text_" + version.toStdString() + ".txt"), "<0x0A>", "\n");
    const auto expected =
        parse_file(base + "/tokens_" + version.toStdString() + ".json")["tokens"].get<Ids>();
    EncodeOptions plain;
    plain.add_special = false;
    QCOMPARE(loaded->encode(replaced(text, "▁", " "), plain), expected);
  }
};

QTEST_GUILESS_MAIN(TestTokenizerVectors)
#include "test_tokenizer_vectors.moc"

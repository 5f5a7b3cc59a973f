// SPDX-License-Identifier: Apache-2.0
// Token ids of a thousand hard strings against the tokenizers and sentencepiece packages
// (tests/golden/README.md). The vocabularies are read from LORIKEET_TEST_DATA.
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

using Ids = std::vector<TokenId>;

/// What one golden file expects of each string.
struct Expected {
  Expected(const std::string& name, const std::string& sentencepiece) {
    const auto json = golden::read_json("tokenizers/" + name + ".json");
    strings = golden::read_json("tokenizers/hard_strings.json").get<std::vector<std::string>>();
    prefix = json.at("prefix").get<Ids>();
    ids = json.at("ids").get<std::vector<Ids>>();
    raw = ids;
    decoded = strings;
    for (const auto& [index, value] : json.at("raw").items()) raw.at(std::stoul(index)) = value.get<Ids>();
    if (!sentencepiece.empty()) ids = raw;
    const auto texts =
        sentencepiece.empty() ? json : golden::read_json("tokenizers/" + sentencepiece + ".json");
    for (const auto& [index, value] : texts.at("decoded").items())
      decoded.at(std::stoul(index)) = value.get<std::string>();
  }

  std::vector<std::string> strings, decoded;
  std::vector<Ids> ids, raw;
  Ids prefix;
};

QString listed(const Ids& ids) {
  QStringList words;
  for (const TokenId id : ids) words << QString::number(id);
  return words.join(' ');
}

/// Counts and shows the first strings whose ids are others.
class Differences {
 public:
  void compare(const std::string& text, const Ids& got, const Ids& expected) {
    if (got == expected) return;
    if (++count_ <= 10)
      qWarning().noquote() << QString::fromStdString(text).toUtf8().toPercentEncoding(" ") << "\n  got     "
                           << listed(got) << "\n  expected" << listed(expected);
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

}  // namespace

class TestGoldenTokenizers : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir unpacked_;

  /// Path of a vocabulary, unpacked if it is a .gz; skips the test where there is no shared data.
  QString vocabulary(const QString& file) {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    const QString path = data + "/tokenizers/" + file;
    if (!file.endsWith(".gz")) return path;
    const QString target = unpacked_.filePath("tokenizer.json");
    QProcess unpack;
    unpack.setStandardOutputFile(target);
    unpack.start("gzip", {"-dc", path});
    unpack.waitForFinished();
    return target;
  }

  static void add_vocabularies() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("sentencepiece");  // golden file of that library, "" = tokenizer.json
    QTest::newRow("SmolLM2") << "smollm2"
                             << "smollm2/tokenizer.json"
                             << "";
    QTest::newRow("TinyLlama, merges as pairs") << "tinyllama"
                                                << "tinyllama/tokenizer.merges-as-pairs.json"
                                                << "";
    QTest::newRow("TinyLlama, merges as strings") << "tinyllama"
                                                  << "tinyllama/tokenizer.merges-as-strings.json"
                                                  << "";
    QTest::newRow("Llama 3.1") << "llama3"
                               << "llama3/tokenizer.llama-3.1.json.gz"
                               << "";
    QTest::newRow("Mistral v1") << "mistral"
                                << "mistral/tokenizer.v1.json"
                                << "";
    QTest::newRow("Llama 2, sentencepiece") << "tinyllama"
                                            << "llama2/tokenizer.model"
                                            << "llama2_sentencepiece";
    QTest::newRow("Mistral v1, sentencepiece") << "mistral"
                                               << "mistral/tokenizer.model.v1"
                                               << "mistral_v1_sentencepiece";
    QTest::newRow("Llama 2, GGUF") << "tinyllama"
                                   << "ggml-vocab/ggml-vocab-llama-spm.gguf"
                                   << "llama2_sentencepiece";
    QTest::newRow("Phi-2") << "phi2"
                           << "phi-2/tokenizer.json"
                           << "";
    QTest::newRow("Phi-3") << "phi3"
                           << "phi-3/tokenizer.json"
                           << "";
    QTest::newRow("Qwen 3") << "qwen3"
                            << "qwen3/tokenizer.json.gz"
                            << "";
  }

 private slots:
  void initTestCase() {
    if (qEnvironmentVariableIsEmpty("LORIKEET_TEST_DATA"))
      QSKIP("LORIKEET_TEST_DATA is not set: no vocabularies");
  }

  void ids_are_those_of_the_reference_data() { add_vocabularies(); }
  void ids_are_those_of_the_reference() {
    QFETCH(QString, name);
    QFETCH(QString, file);
    QFETCH(QString, sentencepiece);
    const Expected expected(name.toStdString(), sentencepiece.toStdString());
    const auto tokenizer = load_tokenizer(vocabulary(file).toStdString());
    Differences plain, raw, whole;
    for (std::size_t i = 0; i < expected.strings.size(); ++i) {
      const std::string& text = expected.strings[i];
      raw.compare(text, tokenizer->encode(text, {.add_special = false, .parse_special = false}),
                  expected.raw[i]);
      if (!sentencepiece.isEmpty()) continue;  // it knows no special tokens in texts
      plain.compare(text, tokenizer->encode(text, {.add_special = false}), expected.ids[i]);
      Ids with_prefix = expected.prefix;
      with_prefix.insert(with_prefix.end(), expected.ids[i].begin(), expected.ids[i].end());
      whole.compare(text, tokenizer->encode(text), with_prefix);
    }
    QCOMPARE(raw.count(), 0);
    QCOMPARE(plain.count(), 0);
    QCOMPARE(whole.count(), 0);
  }

  void ids_decode_to_the_text_of_the_reference_data() { add_vocabularies(); }
  void ids_decode_to_the_text_of_the_reference() {
    QFETCH(QString, name);
    QFETCH(QString, file);
    QFETCH(QString, sentencepiece);
    const Expected expected(name.toStdString(), sentencepiece.toStdString());
    const auto tokenizer = load_tokenizer(vocabulary(file).toStdString());
    int wrong = 0;
    for (std::size_t i = 0; i < expected.ids.size(); ++i) {
      const std::string got = tokenizer->decode(expected.ids[i], false);
      if (got == expected.decoded[i]) continue;
      if (++wrong <= 10)
        qWarning() << QByteArray::fromStdString(got) << QByteArray::fromStdString(expected.decoded[i]);
    }
    QCOMPARE(wrong, 0);
  }
};

QTEST_GUILESS_MAIN(TestGoldenTokenizers)
#include "test_golden_tokenizers.moc"

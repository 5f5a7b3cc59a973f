// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/text/tokenizer.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using nlohmann::ordered_json;

namespace {

using Ids = std::vector<TokenId>;

/// tokenizer.json of a golden case: its base with the parts in place.
ordered_json whole(const ordered_json& test) {
  ordered_json made = golden::read_json("small_tokenizers/" + test["base"].get<std::string>() + ".json");
  for (const auto& [key, value] : test["parts"].items()) {
    if (key == "model") {
      made["model"].update(value);
    } else if (key == "added") {
      for (const auto& token : value) made["added_tokens"].push_back(token);
    } else {
      made[key] = value;
    }
  }
  return made;
}

template <typename T>
T exception_or(const ordered_json& table, std::size_t index, const T& usual) {
  const auto found = table.find(std::to_string(index));
  return found == table.end() ? usual : found->template get<T>();
}

QByteArray shown(const Ids& ids) {
  return QByteArray::fromStdString(ordered_json(ids).dump());
}

}  // namespace

/// Each part of tokenizer.json against what the `tokenizers` library does with it (tests/golden/README.md).
class TestTokenizerParts : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  ordered_json golden_;

 private slots:
  void initTestCase() { golden_ = golden::read_json("small_tokenizers/cases.json"); }

  void every_part_does_what_the_reference_does_data() {
    QTest::addColumn<int>("index");
    const auto& cases = golden_["cases"];
    for (std::size_t i = 0; i < cases.size(); ++i) {
      QTest::newRow(cases[i]["name"].get<std::string>().c_str()) << static_cast<int>(i);
    }
  }
  void every_part_does_what_the_reference_does() {
    QFETCH(int, index);
    const ordered_json& test = golden_["cases"][static_cast<std::size_t>(index)];
    const std::string path = folder_.filePath("tokenizer.json").toStdString();
    write_file_atomically(path, whole(test).dump());
    const auto tokenizer = load_tokenizer(path);
    for (std::size_t i = 0; i < golden_["texts"].size(); ++i) {
      const auto text = golden_["texts"][i].get<std::string>();
      const auto ids = test["ids"][i].get<Ids>();
      const std::string in = "text " + std::to_string(i) + " " + golden_["texts"][i].dump();
      QVERIFY2(
          tokenizer->encode(text) == ids,
          (in + " gives " + shown(tokenizer->encode(text)).toStdString() + " not " + shown(ids).toStdString())
              .c_str());
      EncodeOptions raw;
      raw.add_special = raw.parse_special = false;
      const Ids as_text = tokenizer->encode(text, raw);
      if (test["name"] == "ignore merges") {  // there the reference makes a special token of people's text
        QVERIFY(std::none_of(as_text.begin(), as_text.end(),
                             [&](TokenId id) { return tokenizer->is_special(id); }));
        continue;
      }
      QVERIFY2(as_text == exception_or(test["raw"], i, ids),
               (in + " raw gives " + shown(as_text).toStdString()).c_str());
      const auto decoded = test["decoded"][i].get<std::string>();
      QCOMPARE(tokenizer->decode(ids, true), decoded);
      QCOMPARE(tokenizer->decode(ids, false), exception_or(test["decoded_with_special"], i, decoded));
    }
  }
};

QTEST_GUILESS_MAIN(TestTokenizerParts)
#include "test_tokenizer_parts.moc"

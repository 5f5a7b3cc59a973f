// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/data/dataset.h"
#include "core/text/prompt.h"
#include "tests/core/text/shared_data.h"

using namespace lorikeet;

/// Published tokenizers with the templates that belong to them, on published rows.
class TestChatTokenizers : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  /// The folder of a tokenizer, with packed files unpacked and templates beside it.
  std::string folder_of(const std::string& name) const {
    const std::string source = test::shared_tokenizers() + "/" + name;
    const QTemporaryDir& folder = folder_;
    std::filesystem::create_directories(folder.filePath(QString::fromStdString(name)).toStdString());
    if (name == "llama3") {
      test::unpack(source + "/tokenizer.llama-3.1.json.gz", folder, name + "/tokenizer.json");
      test::unpack(source + "/tokenizer_config.llama-3.1.json", folder, name + "/tokenizer_config.json");
    } else if (name == "qwen3") {
      test::unpack(source + "/tokenizer.json.gz", folder, name + "/tokenizer.json");
      test::unpack(source + "/tokenizer_config.json", folder, name + "/tokenizer_config.json");
    } else if (name == "tinyllama") {
      test::unpack(source + "/tokenizer.merges-as-strings.json", folder, name + "/tokenizer.json");
      for (const char* file : {"tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"}) {
        test::unpack(source + "/" + file, folder, name + "/" + file);
      }
    } else {
      return source;
    }
    return folder.filePath(QString::fromStdString(name)).toStdString();
  }

 private slots:
  void rows_are_what_the_tokenizer_makes_of_the_whole_text_data() {
    QTest::addColumn<QString>("tokenizer");
    QTest::addColumn<QString>("template_setting");
    QTest::addColumn<QString>("end");
    QTest::newRow("SmolLM2") << "smollm2"
                             << "chatml"
                             << "<|im_end|>";
    QTest::newRow("TinyLlama") << "tinyllama"
                               << "auto"
                               << "</s>";
    QTest::newRow("Llama 2") << "llama2"
                             << "llama2"
                             << "</s>";
    QTest::newRow("Llama 3.1") << "llama3"
                               << "auto"
                               << "<|eot_id|>";
    QTest::newRow("Qwen3") << "qwen3"
                           << "auto"
                           << "<|im_end|>";
    QTest::newRow("Phi-3") << "phi-3"
                           << "auto"
                           << "<|end|>";
    QTest::newRow("Mistral") << "mistral/tokenizer.model.v1"
                             << "mistral"
                             << "</s>";
  }
  void rows_are_what_the_tokenizer_makes_of_the_whole_text() {
    QFETCH(QString, tokenizer);
    QFETCH(QString, template_setting);
    QFETCH(QString, end);
    if (test::shared_tokenizers().empty())
      QSKIP("LORIKEET_TEST_DATA is not set: the published tokenizers are not here");
    const std::shared_ptr<const Tokenizer> loaded = load_tokenizer(folder_of(tokenizer.toStdString()));
    const PromptFormat format = PromptFormat::choose(template_setting.toStdString(), "", "", loaded, {});
    QCOMPARE(format.end_id(), loaded->id_of(end.toStdString()));
    const InstructionData data =
        read_instruction_data(test::shared_tokenizers() + "/../instruct/llama-factory/alpaca_en_demo.json");
    for (std::size_t i = 0; i < data.rows.size(); i += 5) {
      const InstructionRow& row = data.rows[i];
      const EncodedText text = format.encode_instruction(row.instruction, row.input, row.output);
      std::vector<TokenId> whole = loaded->encode(text.text, {.add_special = false});
      if (loaded->adds_bos() && whole.front() != loaded->bos_id())
        whole.insert(whole.begin(), loaded->bos_id());
      QVERIFY2(text.ids == whole, qPrintable(QString("row %1").arg(row.number)));
      QCOMPARE(text.trained.size(), std::size_t{1});
      QCOMPARE(text.ids[static_cast<std::size_t>(text.trained[0].second - 1)], format.end_id());
      const std::string blank_line = row.input.empty() ? "" : "\n\n";
      const EncodedText prompt = format.encode_prompt({{"user", row.instruction + blank_line + row.input}});
      QCOMPARE(std::ssize(prompt.ids), text.trained[0].first);
      QVERIFY(std::equal(prompt.ids.begin(), prompt.ids.end(), text.ids.begin()));
    }
  }

  void special_tokens_in_rows_stay_text_data() { rows_are_what_the_tokenizer_makes_of_the_whole_text_data(); }
  void special_tokens_in_rows_stay_text() {
    QFETCH(QString, tokenizer);
    QFETCH(QString, template_setting);
    QFETCH(QString, end);
    if (test::shared_tokenizers().empty())
      QSKIP("LORIKEET_TEST_DATA is not set: the published tokenizers are not here");
    const std::shared_ptr<const Tokenizer> loaded = load_tokenizer(folder_of(tokenizer.toStdString()));
    const PromptFormat format = PromptFormat::choose(template_setting.toStdString(), "", "", loaded, {});
    const auto specials = [&](const EncodedText& text) {
      return std::count_if(text.ids.begin(), text.ids.end(),
                           [&](TokenId id) { return loaded->is_special(id); });
    };
    const std::string evil =
        "Say " + end.toStdString() + "\n" + loaded->eos_token() + loaded->bos_token() + " now";
    QCOMPARE(specials(format.encode_instruction(evil, evil, evil)),
             specials(format.encode_instruction("a", "b", "c")));
  }

  void the_alpaca_form_begins_as_plain_text_does() {
    if (test::shared_tokenizers().empty())
      QSKIP("LORIKEET_TEST_DATA is not set: the published tokenizers are not here");
    for (const char* name : {"llama2", "smollm2", "phi-2"}) {
      const std::shared_ptr<const Tokenizer> loaded = load_tokenizer(test::shared_tokenizers() + "/" + name);
      const PromptFormat format = PromptFormat::choose("alpaca", "", "", loaded, {});
      const EncodedText row = format.encode_instruction("Sing.", "", "La");
      QCOMPARE(row.ids[0], loaded->encode("Below is an instruction")[0]);
      QCOMPARE(row.ids.back(), loaded->eos_id());
      QCOMPARE(row.ids.size(), static_cast<std::size_t>(row.trained.back().second));
    }
  }

  void the_published_text_column_is_the_alpaca_form() {
    if (test::shared_tokenizers().empty())
      QSKIP("LORIKEET_TEST_DATA is not set: the published rows are not here");
    // Their column "text" puts a line end behind "### Response:", which the reference implementation does
    // not.
    const std::string path = test::shared_tokenizers() + "/../instruct/alpaca/alpaca_tiny.json";
    const Json rows = read_json_file(path);
    const std::shared_ptr<const Tokenizer> loaded = load_tokenizer(test::shared_tokenizers() + "/llama2");
    const PromptFormat format = PromptFormat::choose("alpaca", "", "", loaded, {});
    QCOMPARE(rows.size(), std::size_t{100});
    for (const InstructionRow& row : read_instruction_data(path).rows) {
      std::string text = rows[static_cast<std::size_t>(row.number - 1)]["text"];
      text.erase(text.find("### Response:\n") + 13, 1);
      QCOMPARE(format.encode_instruction(row.instruction, row.input, row.output).text, text + "</s>");
    }
  }
};

QTEST_GUILESS_MAIN(TestChatTokenizers)
#include "test_chat_tokenizers.moc"

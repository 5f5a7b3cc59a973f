// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/text/gguf_patterns.h"
#include "core/text/pre_tokenizer.h"
#include "tests/core/text/tiny_vocabulary.h"
#include "tests/core/text/tokenizer_folder.h"

using namespace lorikeet;
using namespace lorikeet::test;
using nlohmann::ordered_json;
using Ids = std::vector<TokenId>;

/// Folders and single files as people have them.
class TestTokenizerFolders : public QObject {
  Q_OBJECT
  std::unique_ptr<TokenizerFolder> folder_;

 private slots:
  void init() { folder_ = std::make_unique<TokenizerFolder>(); }

  void tokenizer_json_is_taken_before_tokenizer_model() {
    folder_->write("tokenizer.model", write_sentencepiece_model(tiny_model()));
    const auto size = folder_->load()->vocab_size();
    QCOMPARE(size, std::int64_t{281});
    folder_->write("tokenizer.json", small_tokenizer("bytes").dump());
    QVERIFY(folder_->load()->vocab_size() != size);
  }

  void an_empty_folder_is_refused_with_what_is_missing() {
    TokenizerFolder::refused(folder_->path(), "neither tokenizer.json nor tokenizer.model");
    TokenizerFolder::refused(folder_->path("nothing"), "no such file");
    folder_->write("vocab.json", "{}");
    TokenizerFolder::refused(folder_->path(), "vocab.json and merges.txt");
    folder_->write("tokenizer.model", "IQ== 0\nIg== 1\n");
    TokenizerFolder::refused(folder_->path(), "lists ranks");
  }

  void roles_are_read_as_text_or_object_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("map");
    QTest::newRow("texts")
        << R"({"bos_token":"<s>","eos_token":"</s>","pad_token":"</s>","unk_token":"<unk>"})"
        << "";
    QTest::newRow("objects")
        << R"({"bos_token":{"content":"<s>","lstrip":false},"eos_token":{"content":"</s>"},
                                  "pad_token":{"content":"</s>"},"unk_token":{"content":"<unk>"}})"
        << "";
    QTest::newRow("in special_tokens_map.json")
        << ""
        << R"({"bos_token":{"content":"<s>"},"eos_token":"</s>","pad_token":"</s>","unk_token":"<unk>"})";
    QTest::newRow("null in one, said in the other")
        << R"({"bos_token":null,"eos_token":"</s>"})"
        << R"({"bos_token":"<s>","pad_token":"</s>","unk_token":"<unk>"})";
  }
  void roles_are_read_as_text_or_object() {
    QFETCH(QString, config);
    QFETCH(QString, map);
    folder_->write("tokenizer.json", small_tokenizer("chars").dump());
    if (!config.isEmpty()) folder_->write("tokenizer_config.json", config.toStdString());
    if (!map.isEmpty()) folder_->write("special_tokens_map.json", map.toStdString());
    const auto tokenizer = folder_->load();
    QCOMPARE(tokenizer->bos_token(), std::string("<s>"));
    QCOMPARE(tokenizer->eos_token(), std::string("</s>"));
    QCOMPARE(tokenizer->pad_id(), tokenizer->id_of("</s>"));
    QCOMPARE(tokenizer->unk_token(), std::string("<unk>"));
    QVERIFY(tokenizer->is_special(tokenizer->bos_id()) && tokenizer->is_special(tokenizer->eos_id()));
  }

  void a_role_that_the_vocabulary_lacks_is_none() {
    folder_->write("tokenizer.json", small_tokenizer("chars").dump());
    folder_->write("tokenizer_config.json", R"({"bos_token":"<s>","eos_token":"</s>","pad_token":"[PAD]"})");
    QCOMPARE(folder_->load()->pad_id(), TokenId{-1});
    QCOMPARE(folder_->load()->pad_token(), std::string());
    QCOMPARE(folder_->load()->vocab_size(), std::ssize(small_tokenizer("chars")["model"]["vocab"]));
  }

  void padding_with_an_ordinary_token_leaves_it_ordinary() {
    ordered_json json = small_tokenizer("bytes");
    json["decoder"] = {{"type", "ByteLevel"}};
    folder_->write("tokenizer.json", json.dump());
    folder_->write("tokenizer_config.json", R"({"pad_token":"!"})");
    const auto tokenizer = folder_->load();
    QCOMPARE(tokenizer->pad_token(), std::string("!"));
    QVERIFY(!tokenizer->is_special(tokenizer->pad_id()));
    QCOMPARE(tokenizer->decode(tokenizer->encode("a!")), std::string("a!"));
  }

  void flags_stand_over_the_post_processor_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<bool>("bos");
    QTest::addColumn<bool>("eos");
    const QString roles = R"("bos_token":"<s>","eos_token":"</s>")";
    QTest::newRow("nothing said") << "{" + roles + "}" << true << false;
    QTest::newRow("no bos") << R"({"add_bos_token":false,)" + roles + "}" << false << false;
    QTest::newRow("both") << R"({"add_bos_token":true,"add_eos_token":true,)" + roles + "}" << true << true;
    QTest::newRow("only eos said") << R"({"add_eos_token":true,)" + roles + "}" << true << true;
  }
  void flags_stand_over_the_post_processor() {
    QFETCH(QString, config);
    QFETCH(bool, bos);
    QFETCH(bool, eos);
    ordered_json json = small_tokenizer("chars");
    json["post_processor"] = ordered_json::parse(
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},
      {"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}})");
    folder_->write("tokenizer.json", json.dump());
    folder_->write("tokenizer_config.json", config.toStdString());
    const auto tokenizer = folder_->load();
    const Ids ids = tokenizer->encode("a");
    QCOMPARE(tokenizer->adds_bos(), bos);
    QCOMPARE(ids.front() == tokenizer->bos_id(), bos);
    QCOMPARE(ids.back() == tokenizer->eos_id(), eos);
    QVERIFY(tokenizer->encode("a", {.continuation = true}).front() != tokenizer->bos_id());
  }

  void the_chat_template_is_found_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("expected");
    QTest::newRow("none") << "{}"
                          << ""
                          << "";
    QTest::newRow("text") << R"({"chat_template":"{{ a }}"})"
                          << ""
                          << "{{ a }}";
    QTest::newRow("list with a default") << R"({"chat_template":[{"name":"tool_use","template":"t"},
        {"name":"default","template":"d"}]})"
                                         << ""
                                         << "d";
    QTest::newRow("list without one") << R"({"chat_template":[{"name":"rag","template":"r"}]})"
                                      << ""
                                      << "r";
    QTest::newRow("file before config") << R"({"chat_template":"old"})"
                                        << "new"
                                        << "new";
  }
  void the_chat_template_is_found() {
    QFETCH(QString, config);
    QFETCH(QString, file);
    QFETCH(QString, expected);
    folder_->write("tokenizer.model", write_sentencepiece_model(tiny_model()));
    folder_->write("tokenizer_config.json", config.toStdString());
    if (!file.isEmpty()) folder_->write("chat_template.jinja", file.toStdString());
    QCOMPARE(folder_->load()->chat_template(), expected.toStdString());
  }

  void added_tokens_come_back_as_themselves_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::newRow("added_tokens.json") << "added_tokens.json"
                                       << R"({"<t1>":281,"<t2>":282,"<t3>":283})";
    QTest::newRow("added_tokens_decoder")
        << "tokenizer_config.json"
        << R"({"added_tokens_decoder":{"281":{"content":"<t1>"},"282":{"content":"<t2>","special":true},"283":{"content":"<t3>"}}})";
  }
  void added_tokens_come_back_as_themselves() {
    QFETCH(QString, name);
    QFETCH(QString, text);
    folder_->write("tokenizer.model", write_sentencepiece_model(tiny_model()));
    folder_->write(name.toUtf8().constData(), text.toStdString());
    const auto tokenizer = folder_->load();
    QCOMPARE(tokenizer->vocab_size(), std::int64_t{284});
    for (const char* token : {"<t1>", "<t2>", "<t3>"}) {
      const Ids ids = tokenizer->encode(token, {.add_special = false});
      QCOMPARE(ids, Ids{tokenizer->id_of(token)});
      QCOMPARE(tokenizer->decode(ids, false), std::string(token));
      QCOMPARE(tokenizer->token_bytes(ids.front()), std::string(token));
    }
    QCOMPARE(tokenizer->is_special(282), name == "tokenizer_config.json");
  }

  void long_runs_are_no_trouble() {
    for (const char* name : {"chars", "bytes"}) {
      ordered_json json = small_tokenizer(name);
      if (std::string(name) == "bytes") {
        json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
        json["decoder"] = {{"type", "ByteLevel"}};
      } else {
        json["decoder"] = {{"type", "Sequence"},
                           {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}};
      }
      folder_->write("tokenizer.json", json.dump());
      const auto tokenizer = folder_->load();
      for (const char c : {' ', 'a', '\n'}) {
        const std::string text(300'000, c);
        std::string expected = text;
        if (c == ' ' && std::string(name) == "chars") continue;
        QCOMPARE(tokenizer->decode(tokenizer->encode(text, {.add_special = false})), expected);
      }
    }
  }

  void byte_level_tokens_stream_as_bytes_that_join_to_the_text() {
    ordered_json json = small_tokenizer("bytes");
    json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    json["decoder"] = {{"type", "ByteLevel"}};
    folder_->write("tokenizer.json", json.dump());
    const auto tokenizer = folder_->load();
    const std::string text = " Hello\n\n  naïve 日本語 👋🏽\t\x01 end";
    std::string joined;
    for (const TokenId id : tokenizer->encode(text)) joined += tokenizer->token_bytes(id);
    QCOMPARE(joined, text);
    QCOMPARE(tokenizer->decode(tokenizer->encode("a\xF0\x9F")), std::string("a\xEF\xBF\xBD"));
  }

  void gguf_byte_level_equals_tokenizer_json() {
    ordered_json json = small_tokenizer("bytes");
    json["pre_tokenizer"] =
        ordered_json::parse(R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},
        {"type":"ByteLevel","add_prefix_space":false,"use_regex":true}]})");
    json["decoder"] = {{"type", "ByteLevel"}};
    folder_->write("tokenizer.json", json.dump());
    const auto expected = folder_->load();
    folder_->write("model.gguf", byte_level_gguf("smollm").build());
    const auto tokenizer = load_tokenizer(folder_->path("model.gguf"));
    for (const char* text : {"Hello world, it's 12345 <s>now</s>", "  naïve\n\n日本 "}) {
      for (const bool special : {true, false}) {
        const EncodeOptions options{.add_special = false, .parse_special = special};
        QCOMPARE(tokenizer->encode(text, options), expected->encode(text, options));
      }
    }
    QCOMPARE(tokenizer->eos_token(), std::string("</s>"));
    QVERIFY(!tokenizer->adds_bos());
    folder_->write("model.gguf", byte_level_gguf("llama-bpe").build());
    QVERIFY(load_tokenizer(folder_->path("model.gguf"))->adds_bos());
  }

  void every_known_pattern_compiles_and_covers_every_byte_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"default", "llama-bpe", "gpt-2", "qwen2", "smollm", "refact", "starcoder", "phi-2", "falcon",
          "tekken", "deepseek-coder", "deepseek-v3", "bloom", "viking", "stablelm2", "dbrx"}) {
      QTest::newRow(name) << name;
    }
  }
  void every_known_pattern_compiles_and_covers_every_byte() {
    QFETCH(QString, name);
    const auto pre = find_gguf_pre(name.toStdString());
    QVERIFY(pre.has_value());
    const std::string text = "It's 12345 ab  \n\n\tc, «x»—日本語 ナニ 한글 \U0001F44B\u180e\u0085 end   ";
    PieceList list;
    list.pieces.push_back({text, true});
    PreTokenizer::from_patterns(pre->patterns, "test").apply(list);
    std::string joined;
    for (const Piece& piece : list.pieces) joined += piece.text;
    QCOMPARE(joined, text);
    QVERIFY(list.pieces.size() > 5);
  }
};

QTEST_GUILESS_MAIN(TestTokenizerFolders)
#include "test_tokenizer_folders.moc"

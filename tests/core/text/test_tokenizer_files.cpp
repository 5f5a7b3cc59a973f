// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/text/gguf_patterns.h"
#include "core/text/pre_tokenizer.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/core/text/tiny_vocabulary.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using nlohmann::ordered_json;
using Ids = std::vector<TokenId>;
using Change = std::function<void(ordered_json&)>;

/// Folders and single files as people have them, and files from people who mean harm.
class TestTokenizerFiles : public QObject {
  Q_OBJECT
  std::unique_ptr<QTemporaryDir> folder_;

  void write(const char* name, const std::string& text) const {
    write_file_atomically(folder_->filePath(name).toStdString(), text);
  }
  std::unique_ptr<Tokenizer> load() const { return load_tokenizer(folder_->path().toStdString()); }
  static ordered_json base(const char* name) {
    return golden::read_json(std::string("small_tokenizers/") + name + ".json");
  }
  /// A refusal must say `says` and name the file.
  static void refused(const std::string& path, const QString& says) {
    try {
      load_tokenizer(path);
      QFAIL("the file was taken");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find(says.toStdString()) != std::string::npos, error.what());
      QVERIFY2(error.where().find(path) != std::string::npos, error.what());
    }
  }

 private slots:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void tokenizer_json_is_taken_before_tokenizer_model() {
    write("tokenizer.model", write_sentencepiece_model(test::tiny_model()));
    const auto size = load()->vocab_size();
    QCOMPARE(size, std::int64_t{281});
    write("tokenizer.json", base("bytes").dump());
    QVERIFY(load()->vocab_size() != size);
  }

  void an_empty_folder_is_refused_with_what_is_missing() {
    refused(folder_->path().toStdString(), "neither tokenizer.json nor tokenizer.model");
    refused(folder_->filePath("nothing").toStdString(), "no such file");
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
    write("tokenizer.json", base("chars").dump());
    if (!config.isEmpty()) write("tokenizer_config.json", config.toStdString());
    if (!map.isEmpty()) write("special_tokens_map.json", map.toStdString());
    const auto tokenizer = load();
    QCOMPARE(tokenizer->bos_token(), std::string("<s>"));
    QCOMPARE(tokenizer->eos_token(), std::string("</s>"));
    QCOMPARE(tokenizer->pad_id(), tokenizer->id_of("</s>"));
    QCOMPARE(tokenizer->unk_token(), std::string("<unk>"));
    QVERIFY(tokenizer->is_special(tokenizer->bos_id()) && tokenizer->is_special(tokenizer->eos_id()));
  }

  void a_role_that_the_vocabulary_lacks_is_none() {
    write("tokenizer.json", base("chars").dump());
    write("tokenizer_config.json", R"({"bos_token":"<s>","eos_token":"</s>","pad_token":"[PAD]"})");
    QCOMPARE(load()->pad_id(), TokenId{-1});
    QCOMPARE(load()->pad_token(), std::string());
    QCOMPARE(load()->vocab_size(), std::ssize(base("chars")["model"]["vocab"]));
  }

  void padding_with_an_ordinary_token_leaves_it_ordinary() {
    ordered_json json = base("bytes");
    json["decoder"] = {{"type", "ByteLevel"}};
    write("tokenizer.json", json.dump());
    write("tokenizer_config.json", R"({"pad_token":"!"})");
    const auto tokenizer = load();
    QCOMPARE(tokenizer->pad_token(), std::string("!"));
    QVERIFY(!tokenizer->is_special(tokenizer->pad_id()));
    QCOMPARE(tokenizer->decode(tokenizer->encode("a!")), std::string("a!"));
  }

  void flags_decide_about_begin_and_end_for_the_classes_that_follow_them_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<bool>("bos");
    QTest::addColumn<bool>("eos");
    const QString roles = R"("bos_token":"<s>","eos_token":"</s>")";
    QTest::newRow("nothing said") << "{" + roles + "}" << true << false;
    QTest::newRow("no bos") << R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":false,)" + roles + "}"
                            << false << false;
    QTest::newRow("both")
        << R"({"tokenizer_class":"LlamaTokenizerFast","add_bos_token":true,"add_eos_token":true,)" + roles +
               "}"
        << true << true;
    QTest::newRow("another class")
        << R"({"tokenizer_class":"PreTrainedTokenizerFast","add_bos_token":false,)" + roles + "}" << true
        << false;
  }
  void flags_decide_about_begin_and_end_for_the_classes_that_follow_them() {
    QFETCH(QString, config);
    QFETCH(bool, bos);
    QFETCH(bool, eos);
    ordered_json json = base("chars");
    json["post_processor"] = ordered_json::parse(
        R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},
      {"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"<s>":{"id":"<s>","ids":[1],"tokens":["<s>"]}}})");
    write("tokenizer.json", json.dump());
    write("tokenizer_config.json", config.toStdString());
    const auto tokenizer = load();
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
    write("tokenizer.model", write_sentencepiece_model(test::tiny_model()));
    write("tokenizer_config.json", config.toStdString());
    if (!file.isEmpty()) write("chat_template.jinja", file.toStdString());
    QCOMPARE(load()->chat_template(), expected.toStdString());
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
    write("tokenizer.model", write_sentencepiece_model(test::tiny_model()));
    write(name.toUtf8().constData(), text.toStdString());
    const auto tokenizer = load();
    QCOMPARE(tokenizer->vocab_size(), std::int64_t{284});
    for (const char* token : {"<t1>", "<t2>", "<t3>"}) {
      const Ids ids = tokenizer->encode(token, {.add_special = false});
      QCOMPARE(ids, Ids{tokenizer->id_of(token)});
      QCOMPARE(tokenizer->decode(ids, false), std::string(token));
      QCOMPARE(tokenizer->token_bytes(ids.front()), std::string(token));
    }
    QCOMPARE(tokenizer->is_special(282), name == "tokenizer_config.json");
  }

  void broken_config_files_are_refused_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    const char* config = "tokenizer_config.json";
    QTest::newRow("no JSON") << config << "{"
                             << "end of input";
    QTest::newRow("flag is a text") << config << R"({"add_bos_token":"yes"})"
                                    << "true or false";
    QTest::newRow("role is a number") << config << R"({"eos_token":5})"
                                      << "neither a text nor a token";
    QTest::newRow("template is a number") << config << R"({"chat_template":5})"
                                          << "neither a text nor a list";
    QTest::newRow("id is a word") << config << R"({"added_tokens_decoder":{"x":{"content":"a"}}})"
                                  << "not the id";
    QTest::newRow("id is huge") << config << R"({"added_tokens_decoder":{"99999999":{"content":"a"}}})"
                                << "not the id";
    QTest::newRow("token without text") << config << R"({"added_tokens_decoder":{"281":{}}})"
                                        << "empty";
    QTest::newRow("id taken") << config << R"({"added_tokens_decoder":{"5":{"content":"zzz"}}})"
                              << "has the id of the piece";
    QTest::newRow("added id is negative") << "added_tokens.json"
                                          << R"({"a":-5})"
                                          << "whole number";
    QTest::newRow("nested too deep") << config << QString(100, '[') << "too deep";
  }
  void broken_config_files_are_refused() {
    QFETCH(QString, name);
    QFETCH(QString, text);
    QFETCH(QString, says);
    write("tokenizer.model", write_sentencepiece_model(test::tiny_model()));
    write(name.toUtf8().constData(), text.toStdString());
    refused(folder_->path().toStdString(), says);
  }

  void hostile_tokenizer_json_is_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    const auto raw = [](const char* name, const QByteArray& text, const char* says) {
      QTest::newRow(name) << text << says;
    };
    const auto changed = [](const char* name, const Change& change, const char* says) {
      ordered_json json = base("chars");
      change(json);
      QTest::newRow(name) << QByteArray::fromStdString(json.dump()) << says;
    };
    const std::string good = base("chars").dump();
    raw("cut", QByteArray::fromStdString(good.substr(0, good.size() / 2)), "missing closing quote");
    raw("not UTF-8", "{\"version\":\"\xFF\"}", "UTF-8");
    raw("no model", R"({"version":"1.0"})", "no model");
    raw("vocabulary of numbers", R"({"model":{"type":"BPE","vocab":{"a":"x"},"merges":[]}})", "wrong value");
    raw("vocabulary in a vocabulary", R"({"model":{"vocab":{"a":{"b":1}},"merges":[]}})", "wrong value");
    raw("id below 0", R"({"model":{"vocab":{"a":-1},"merges":[]}})", "out of range");
    raw("id of 4 billion", R"({"model":{"vocab":{"a":4294967297},"merges":[]}})", "out of range");
    raw("id with a fraction", R"({"model":{"vocab":{"a":1.5},"merges":[]}})", "wrong value");
    raw("one id for two", R"({"model":{"vocab":{"a":0,"b":0},"merges":[]}})", "given to two");
    raw("a piece twice", R"({"model":{"vocab":{"a":0,"a":1},"merges":[]}})", "twice");
    raw("merge of three", R"({"model":{"vocab":{"a":0},"merges":[["a","a","a"]]}})", "not a pair");
    raw("merge of one", R"({"model":{"vocab":{"a":0},"merges":[["a"]]}})", "not a pair");
    raw("merge text of three", R"({"model":{"vocab":{"a":0},"merges":["a b c"]}})", "not a pair");
    raw("merge of numbers", R"({"model":{"vocab":{"a":0},"merges":[[1,2]]}})", "wrong value");
    raw("merge into nothing", R"({"model":{"vocab":{"a":0},"merges":[["a","a"]]}})", "lacks");
    raw("merge out of nothing", R"({"model":{"vocab":{"a":0,"ba":1},"merges":[["b","a"]]}})", "lacks");
    raw("nested too deep", QByteArray(R"({"model":)") + QByteArray(5000, '['), "too deep");
    raw("unigram", R"({"model":{"type":"Unigram","vocab":[["a",-1.0]]}})", "\"Unigram\" is not built");
    raw("word pieces", R"({"model":{"type":"WordPiece","vocab":{"a":0}}})", "\"WordPiece\" is not built");
    changed(
        "version 2", [](auto& j) { j["version"] = "2.0"; }, "Version \"2.0\"");
    changed(
        "dropout", [](auto& j) { j["model"]["dropout"] = 0.1; }, "dropout");
    changed(
        "subword prefix", [](auto& j) { j["model"]["continuing_subword_prefix"] = "##"; },
        "continuing_subword_prefix");
    changed(
        "unknown normalizer",
        [](auto& j) {
          j["normalizer"] = {{"type", "Nmt"}};
        },
        "\"Nmt\" is not built");
    changed(
        "unknown pre-tokenizer",
        [](auto& j) {
          j["pre_tokenizer"] = {{"type", "Weird"}};
        },
        "\"Weird\" is not built");
    changed(
        "unknown decoder",
        [](auto& j) {
          j["decoder"] = {{"type", "CTC"}};
        },
        "\"CTC\" is not built");
    changed(
        "unknown post-processor",
        [](auto& j) {
          j["post_processor"] = {{"type", "X"}};
        },
        "\"X\" is not built");
    changed(
        "post-processor beyond the vocabulary",
        [](auto& j) {
          j["post_processor"] =
              ordered_json::parse(R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"q"}}],
        "special_tokens":{"q":{"ids":[123456789]}}})");
        },
        "vocabulary lacks");
    changed(
        "unk that is not there", [](auto& j) { j["model"]["unk_token"] = "nope"; }, "unk_token");
    changed(
        "broken pattern",
        [](auto& j) {
          j["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
        },
        "pattern");
    changed(
        "class intersection",
        [](auto& j) {
          j["pre_tokenizer"] = {
              {"type", "Split"}, {"pattern", {{"Regex", "[a&&b]"}}}, {"behavior", "Isolated"}};
        },
        "not built");
    changed(
        "empty added token",
        [](auto& j) {
          j["added_tokens"].push_back({{"id", 9999}, {"content", ""}});
        },
        "empty");
    changed(
        "added token of 5 KB",
        [](auto& j) {
          j["added_tokens"].push_back({{"id", 9999}, {"content", std::string(5000, 'a')}});
        },
        "longer than");
    changed(
        "added id taken",
        [](auto& j) {
          j["added_tokens"].push_back({{"id", 9}, {"content", "zz"}});
        },
        "has the id");
    changed(
        "added token without id",
        [](auto& j) {
          j["added_tokens"].push_back({{"content", "zz"}});
        },
        "no id");
    changed(
        "normalizers without end",
        [](auto& j) {
          ordered_json deep = {{"type", "NFC"}};
          for (int i = 0; i < 20; ++i) deep = {{"type", "Sequence"}, {"normalizers", {deep}}};
          j["normalizer"] = deep;
        },
        "nested too deep");
  }
  void hostile_tokenizer_json_is_refused() {
    QFETCH(QByteArray, text);
    QFETCH(QString, says);
    write("tokenizer.json", text.toStdString());
    refused(folder_->filePath("tokenizer.json").toStdString(), says);
  }

  void a_pattern_that_never_ends_is_stopped() {
    ordered_json json = base("chars");
    json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a+)+$"}}}, {"behavior", "Isolated"}};
    write("tokenizer.json", json.dump());
    const auto tokenizer = load();
    QVERIFY_EXCEPTION_THROWN(tokenizer->encode(std::string(60, 'a') + "b"), Error);
  }

  void long_runs_are_no_trouble() {
    for (const char* name : {"chars", "bytes"}) {
      ordered_json json = base(name);
      if (std::string(name) == "bytes") {
        json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
        json["decoder"] = {{"type", "ByteLevel"}};
      } else {
        json["decoder"] = {{"type", "Sequence"},
                           {"decoders", {{{"type", "ByteFallback"}}, {{"type", "Fuse"}}}}};
      }
      write("tokenizer.json", json.dump());
      const auto tokenizer = load();
      for (const char c : {' ', 'a', '\n'}) {
        const std::string text(300'000, c);
        std::string expected = text;
        if (c == ' ' && std::string(name) == "chars") continue;
        QCOMPARE(tokenizer->decode(tokenizer->encode(text, {.add_special = false})), expected);
      }
    }
  }

  void byte_level_tokens_stream_as_bytes_that_join_to_the_text() {
    ordered_json json = base("bytes");
    json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    json["decoder"] = {{"type", "ByteLevel"}};
    write("tokenizer.json", json.dump());
    const auto tokenizer = load();
    const std::string text = " Hello\n\n  naïve 日本語 👋🏽\t\x01 end";
    std::string joined;
    for (const TokenId id : tokenizer->encode(text)) joined += tokenizer->token_bytes(id);
    QCOMPARE(joined, text);
    QCOMPARE(tokenizer->decode(tokenizer->encode("a\xF0\x9F")), std::string("a\xEF\xBF\xBD"));
  }

  void gguf_byte_level_equals_tokenizer_json() {
    ordered_json json = base("bytes");
    json["pre_tokenizer"] =
        ordered_json::parse(R"({"type":"Sequence","pretokenizers":[{"type":"Digits","individual_digits":true},
        {"type":"ByteLevel","add_prefix_space":false,"use_regex":true}]})");
    json["decoder"] = {{"type", "ByteLevel"}};
    write("tokenizer.json", json.dump());
    const auto expected = load();
    write("model.gguf", byte_level_gguf("smollm").build());
    const auto tokenizer = load_tokenizer(folder_->filePath("model.gguf").toStdString());
    for (const char* text : {"Hello world, it's 12345 <s>now</s>", "  naïve\n\n日本 "}) {
      for (const bool special : {true, false}) {
        const EncodeOptions options{.add_special = false, .parse_special = special};
        QCOMPARE(tokenizer->encode(text, options), expected->encode(text, options));
      }
    }
    QCOMPARE(tokenizer->eos_token(), std::string("</s>"));
    QVERIFY(!tokenizer->adds_bos());
    write("model.gguf", byte_level_gguf("llama-bpe").build());
    QVERIFY(load_tokenizer(folder_->filePath("model.gguf").toStdString())->adds_bos());
  }

  void hostile_gguf_vocabularies_are_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const test::GgufBuilder& gguf, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(gguf.build()) << says;
    };
    const auto scored = [](auto change) {
      SentencePieceModel model = test::tiny_model();
      change(model);
      return test::gguf_of(model);
    };
    row("a pattern name that is not known", byte_level_gguf("who-knows"), "\"who-knows\" is not built");
    row("word pieces", test::GgufBuilder().add_text("tokenizer.ggml.model", "bert"),
        "\"bert\" of this GGUF file is not built");
    row("no tokens", test::GgufBuilder().add_text("tokenizer.ggml.model", "llama"), "no vocabulary");
    row("no scores",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "llama")
            .add_texts("tokenizer.ggml.tokens", {"a"}),
        "not as many scores");
    row("no merges",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "gpt2")
            .add_texts("tokenizer.ggml.tokens", {"a"}),
        "no merges");
    row("types too few",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "llama")
            .add_texts("tokenizer.ggml.tokens", {"a", "b"})
            .add_i32s("tokenizer.ggml.token_type", {1}),
        "not as many token types");
    row("scores of another type",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "llama")
            .add_texts("tokenizer.ggml.tokens", {"a"})
            .add_texts("tokenizer.ggml.scores", {"x"}),
        "scores");
    row("merge that is no pair",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "gpt2")
            .add_texts("tokenizer.ggml.tokens", {"a"})
            .add_texts("tokenizer.ggml.merges", {"aa"}),
        "not a pair");
    row("merge out of nothing",
        test::GgufBuilder()
            .add_text("tokenizer.ggml.model", "gpt2")
            .add_texts("tokenizer.ggml.tokens", {"a"})
            .add_texts("tokenizer.ggml.merges", {"a a"}),
        "lacks");
    row("token not UTF-8", scored([](auto& m) { m.pieces.back().text = "\xC3"; }), "not UTF-8");
    row("type 9", scored([](auto& m) { m.pieces.back().type = static_cast<PieceType>(9); }),
        "type of a token");
    row("score not finite", scored([](auto& m) { m.pieces.back().score = INFINITY; }), "finite");
    row("the same token twice", scored([](auto& m) { m.pieces.push_back(m.pieces.back()); }), "twice");
    row("begin id is a text", scored([](auto&) {}).add_text("tokenizer.ggml.padding_token_id", "x"),
        "padding_token_id");
  }
  void hostile_gguf_vocabularies_are_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    write("model.gguf", bytes.toStdString());
    refused(folder_->filePath("model.gguf").toStdString(), says);
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

 private:
  /// The byte-level vocabulary of the golden files as GGUF metadata.
  static test::GgufBuilder byte_level_gguf(const std::string& pre) {
    const ordered_json json = base("bytes");
    std::vector<std::string> tokens(json["model"]["vocab"].size()), merges;
    for (const auto& [text, id] : json["model"]["vocab"].items()) tokens[id.get<std::size_t>()] = text;
    for (const auto& merge : json["model"]["merges"])
      merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    std::vector<std::int32_t> types(tokens.size(), 1);
    types[0] = types[1] = 3;
    test::GgufBuilder gguf;
    gguf.add_text("general.architecture", "llama")
        .add_text("tokenizer.ggml.model", "gpt2")
        .add_text("tokenizer.ggml.pre", pre);
    gguf.add_texts("tokenizer.ggml.tokens", tokens).add_i32s("tokenizer.ggml.token_type", types);
    gguf.add_texts("tokenizer.ggml.merges", merges);
    gguf.add_u32("tokenizer.ggml.bos_token_id", 0).add_u32("tokenizer.ggml.eos_token_id", 1);
    return gguf;
  }
};

QTEST_GUILESS_MAIN(TestTokenizerFiles)
#include "test_tokenizer_files.moc"

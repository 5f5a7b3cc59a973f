// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include <functional>

#include "tests/core/text/tiny_vocabulary.h"
#include "tests/core/text/tokenizer_folder.h"

using namespace lorikeet;
using namespace lorikeet::test;
using nlohmann::ordered_json;
using Change = std::function<void(ordered_json&)>;

/// Files from people who mean harm: each is refused with what is wrong and where.
class TestTokenizerHostile : public QObject {
  Q_OBJECT
  std::unique_ptr<TokenizerFolder> folder_;

 private slots:
  void init() { folder_ = std::make_unique<TokenizerFolder>(); }

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
    folder_->write("tokenizer.model", write_sentencepiece_model(tiny_model()));
    folder_->write(name.toUtf8().constData(), text.toStdString());
    TokenizerFolder::refused(folder_->path(), says);
  }

  void hostile_tokenizer_json_is_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    const auto raw = [](const char* name, const QByteArray& text, const char* says) {
      QTest::newRow(name) << text << says;
    };
    const auto changed = [](const char* name, const Change& change, const char* says) {
      ordered_json json = small_tokenizer("chars");
      change(json);
      QTest::newRow(name) << QByteArray::fromStdString(json.dump()) << says;
    };
    const std::string good = small_tokenizer("chars").dump();
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
    folder_->write("tokenizer.json", text.toStdString());
    TokenizerFolder::refused(folder_->path("tokenizer.json"), says);
  }

  void a_pattern_that_never_ends_is_stopped() {
    ordered_json json = small_tokenizer("chars");
    json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a+)+$"}}}, {"behavior", "Isolated"}};
    folder_->write("tokenizer.json", json.dump());
    const auto tokenizer = folder_->load();
    QVERIFY_THROWS_EXCEPTION(Error, tokenizer->encode(std::string(60, 'a') + "b"));
  }

  void hostile_gguf_vocabularies_are_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const GgufBuilder& gguf, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(gguf.build()) << says;
    };
    const auto scored = [](auto change) {
      SentencePieceModel model = tiny_model();
      change(model);
      return gguf_of(model);
    };
    row("a pattern name that is not known", byte_level_gguf("who-knows"), "\"who-knows\" is not built");
    row("word pieces", GgufBuilder().add_text("tokenizer.ggml.model", "bert"),
        "\"bert\" of this GGUF file is not built");
    row("no tokens", GgufBuilder().add_text("tokenizer.ggml.model", "llama"), "no vocabulary");
    row("no scores",
        GgufBuilder().add_text("tokenizer.ggml.model", "llama").add_texts("tokenizer.ggml.tokens", {"a"}),
        "not as many scores");
    row("no merges",
        GgufBuilder().add_text("tokenizer.ggml.model", "gpt2").add_texts("tokenizer.ggml.tokens", {"a"}),
        "no merges");
    row("types too few",
        GgufBuilder()
            .add_text("tokenizer.ggml.model", "llama")
            .add_texts("tokenizer.ggml.tokens", {"a", "b"})
            .add_i32s("tokenizer.ggml.token_type", {1}),
        "not as many token types");
    row("scores of another type",
        GgufBuilder()
            .add_text("tokenizer.ggml.model", "llama")
            .add_texts("tokenizer.ggml.tokens", {"a"})
            .add_texts("tokenizer.ggml.scores", {"x"}),
        "scores");
    row("merge that is no pair",
        GgufBuilder()
            .add_text("tokenizer.ggml.model", "gpt2")
            .add_texts("tokenizer.ggml.tokens", {"a"})
            .add_texts("tokenizer.ggml.merges", {"aa"}),
        "not a pair");
    row("merge out of nothing",
        GgufBuilder()
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
    folder_->write("model.gguf", bytes.toStdString());
    TokenizerFolder::refused(folder_->path("model.gguf"), says);
  }
};

QTEST_GUILESS_MAIN(TestTokenizerHostile)
#include "test_tokenizer_hostile.moc"

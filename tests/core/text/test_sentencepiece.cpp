// SPDX-License-Identifier: Apache-2.0
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "core/base/files.h"
#include "core/text/score_encoder.h"
#include "core/text/sentencepiece_tokenizer.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/core/text/tiny_vocabulary.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using Ids = std::vector<TokenId>;

namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

/// A vocabulary over four characters with random pieces, scores that are often equal, and unused pieces.
SentencePieceModel random_model(std::mt19937& random, bool byte_fallback) {
  const std::vector<std::string> letters{"a", "b", "é", "▁"};
  SentencePieceModel model = test::tiny_model();
  model.pieces.resize(byte_fallback ? 259 : 3);
  model.byte_fallback = byte_fallback;
  std::set<std::string> seen{"▁"};
  model.pieces.push_back({"▁", -20, PieceType::normal});
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (std::uint32_t i = 0, count = 5 + pick(40); i < count; ++i) {
    std::string text;
    for (std::uint32_t n = 1 + pick(5); n > 0; --n) text += letters[pick(4)];
    if (!seen.insert(text).second) continue;
    const PieceType type = pick(5) == 0 ? PieceType::unused : PieceType::normal;
    model.pieces.push_back({text, -static_cast<float>(pick(12)), type});
  }
  return model;
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> parts{"a", "b", "é", " ", "a", "b", " ", "x", "日", "ab", "aé"};
  std::string text;
  for (auto n = random() % 30; n > 0; --n) text += parts[random() % parts.size()];
  return text;
}

}  // namespace

class TestSentencePiece : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::unique_ptr<Tokenizer> load(const SentencePieceModel& model) {
    return load_bytes(write_sentencepiece_model(model));
  }
  std::unique_ptr<Tokenizer> load_bytes(const std::string& bytes) {
    const std::string path = folder_.filePath("tokenizer.model").toStdString();
    write_file_atomically(path, bytes);
    return load_tokenizer(path);
  }
  std::unique_ptr<Tokenizer> load_gguf(const SentencePieceModel& model) {
    const std::string path = folder_.filePath("model.gguf").toStdString();
    write_file_atomically(path, test::gguf_of(model).build());
    return load_tokenizer(path);
  }

 private slots:
  void our_merges_equal_the_library_on_random_vocabularies_data() {
    QTest::addColumn<bool>("byte_fallback");
    QTest::newRow("bytes for what is unknown") << true;
    QTest::newRow("one unknown piece for a run") << false;
  }
  void our_merges_equal_the_library_on_random_vocabularies() {
    QFETCH(bool, byte_fallback);
    std::mt19937 random(7);
    for (int round = 0; round < 150; ++round) {
      const SentencePieceModel model = random_model(random, byte_fallback);
      const auto library = make_sentencepiece_encoder(model, "test");
      const auto ours = make_score_encoder(model.pieces, 0);
      for (int i = 0; i < 40; ++i) {
        const std::string text = random_text(random);
        const bool prefix = random() % 2 == 0;
        Ids expected, ids;
        library->encode(text, prefix, expected);
        ours->encode(text, prefix, ids);
        QVERIFY2(ids == expected, (std::to_string(round) + ": \"" + text + "\"").c_str());
      }
    }
  }

  void rules_of_the_normalizer_are_followed() {
    const auto golden = golden::read_json("small_tokenizers/rules.json");
    const auto tokenizer = load_tokenizer(golden::path("small_tokenizers/rules.model"));
    for (std::size_t i = 0; i < golden["texts"].size(); ++i) {
      const EncodeOptions plain{.add_special = false, .parse_special = false};
      QCOMPARE(tokenizer->encode(golden["texts"][i].get<std::string>(), plain), golden["ids"][i].get<Ids>());
    }
  }

  void a_long_text_gives_the_ids_of_its_words() {
    const auto tokenizer = load(test::tiny_model());
    std::string text;
    Ids expected{1};
    const Ids words = tokenizer->encode(" hello world é!", {.add_special = false, .continuation = true});
    for (int i = 0; i < 20'000; ++i) {
      text += i == 0 ? "hello world é!" : " hello world é!";
      expected.insert(expected.end(), words.begin(), words.end());
    }
    QVERIFY(tokenizer->encode(text) == expected);
    QCOMPARE(tokenizer->decode(expected), text);
  }

  void continuation_has_neither_begin_token_nor_dummy_prefix() {
    for (const auto& tokenizer : {load(test::tiny_model()), load_gguf(test::tiny_model())}) {
      const Ids whole = tokenizer->encode("hello world");
      QCOMPARE(tokenizer->piece(whole[1]), std::string("▁hello"));
      const Ids answer = tokenizer->encode("world", {.continuation = true});
      QVERIFY(answer.front() != tokenizer->bos_id());
      QCOMPARE(tokenizer->piece(answer.front()), std::string("w"));
      QCOMPARE(tokenizer->encode(" world", {.continuation = true}), Ids{tokenizer->id_of("▁world")});
    }
  }

  void peoples_text_never_gives_a_special_token() {
    const auto tokenizer = load(test::tiny_model());
    const Ids ids =
        tokenizer->encode("</s><s>hello<unk><0x41>", {.add_special = false, .parse_special = false});
    QVERIFY(std::none_of(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer->is_special(id); }));
    QVERIFY(std::find(ids.begin(), ids.end(), tokenizer->id_of("<0x41>")) == ids.end());
    QCOMPARE(tokenizer->encode("</s>", {.add_special = false}), Ids{2});
  }

  void tokens_stream_as_bytes_that_join_to_the_text() {
    const auto tokenizer = load(test::tiny_model());
    const std::string text = "hello é 日本 👋🏽  world";
    std::string joined;
    for (const TokenId id : tokenizer->encode(text, {.add_special = false, .continuation = true})) {
      joined += tokenizer->token_bytes(id);
    }
    QCOMPARE(joined, text);
    QCOMPARE(tokenizer->token_bytes(tokenizer->id_of("<0xE6>")), std::string("\xE6"));
    QCOMPARE(tokenizer->token_bytes(1), std::string("<s>"));
    QCOMPARE(tokenizer->token_bytes(999'999), std::string());
  }

  void broken_utf8_becomes_replacement_characters() {
    const auto tokenizer = load(test::tiny_model());
    const Ids ids = tokenizer->encode("h\xFF\xE6\x97!");
    QCOMPARE(tokenizer->decode(ids), std::string("h\xEF\xBF\xBD\xEF\xBF\xBD!"));
    QCOMPARE(tokenizer->decode({tokenizer->id_of("<0xE6>"), tokenizer->id_of("<0x97>")}),
             std::string("\xEF\xBF\xBD\xEF\xBF\xBD"));
  }

  void the_dummy_prefix_follows_the_file_and_legacy() {
    SentencePieceModel model = test::tiny_model();
    model.add_dummy_prefix = false;
    QCOMPARE(load(model)->encode("hello", {.add_special = false}).front(), load(model)->id_of("h"));
    const std::string config = folder_.filePath("tokenizer_config.json").toStdString();
    write_sentencepiece_folder(R"({"legacy": true})");
    QCOMPARE(pieces_of("</s>hello"), QStringList({"</s>", "▁hello"}));
    write_sentencepiece_folder(R"({"legacy": false})");
    QCOMPARE(pieces_of("</s>hello"), QStringList({"</s>", "h", "el", "lo"}));
    QFile::remove(QString::fromStdString(config));
  }

  void user_defined_pieces_are_never_merged_or_split() {
    SentencePieceModel model = test::tiny_model();
    model.pieces.push_back({"wor", 0, PieceType::user_defined});
    model.pieces.push_back({"▁▁▁", 0, PieceType::user_defined});
    const auto check = [](const Tokenizer& tokenizer) {
      QStringList pieces;
      for (const TokenId id : tokenizer.encode("hello world   !", {.add_special = false})) {
        pieces << QString::fromStdString(tokenizer.piece(id));
      }
      return pieces;
    };
    const auto from_model = load(model);
    QCOMPARE(check(*from_model), QStringList({"▁hello", "▁", "wor", "ld", "▁▁▁", "!"}));
    QCOMPARE(from_model->decode(from_model->encode("hello world   !")), std::string("hello world   !"));
    model.add_dummy_prefix = false;
    const auto reloaded = load_gguf(model);
    QVERIFY(!reloaded->is_special(reloaded->id_of("wor")));
    QCOMPARE(reloaded->decode(reloaded->encode("wor   ")), std::string("wor   "));
  }

  void hostile_files_are_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const std::string& bytes, const char* says) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(says);
    };
    const auto changed = [](auto change) {
      SentencePieceModel model = test::tiny_model();
      change(model);
      return write_sentencepiece_model(model);
    };
    const std::string good = write_sentencepiece_model(test::tiny_model());
    row("empty", "", "no pieces");
    row("text", "just some words that are no model", "not a SentencePiece model");
    row("cut in a piece", good.substr(0, 200), "longer than the file");
    row("cut in a varint", good + "\x0A\xFF", "cut off");
    row("varint too long", std::string(12, '\xFF'), "too long");
    row("length of 100 MB", "\x0A" + varint(100u << 20), "longer than the file");
    row("length of 2^64 - 1", "\x0A" + varint(UINT64_MAX), "longer than the file");
    row("field number 0", std::string("\0\0", 2), "no number");
    row("group", "\x4B", "unknown form");
    row("a piece that is a number", "\x08\x01", "wrong form");
    row("piece not UTF-8", changed([](auto& m) { m.pieces.back().text = "\xC3"; }), "not UTF-8");
    row("empty piece", changed([](auto& m) { m.pieces.back().text.clear(); }), "empty");
    row("zero byte in a piece", changed([](auto& m) { m.pieces.back().text = std::string("a\0b", 3); }),
        "zero byte");
    row("piece of 9 KB", changed([](auto& m) { m.pieces.back().text.assign(9000, 'a'); }), "too long");
    row("the same piece twice", changed([](auto& m) { m.pieces.push_back(m.pieces.back()); }), "twice");
    row("two unknown pieces", changed([](auto& m) { m.pieces[1].type = PieceType::unknown; }),
        "2 unknown pieces");
    row("no unknown piece", changed([](auto& m) { m.pieces[0].type = PieceType::normal; }),
        "0 unknown pieces");
    row("kind 9 of a piece", changed([](auto& m) { m.pieces[5].type = static_cast<PieceType>(9); }),
        "kind 9");
    row("score not a number", changed([](auto& m) { m.pieces.back().score = std::nanf(""); }), "finite");
    row("a byte piece missing", changed([](auto& m) { m.pieces[9].type = PieceType::normal; }),
        "256 byte pieces");
    row("bytes without fallback", changed([](auto& m) { m.byte_fallback = false; }), "no byte fallback");
    row("a byte piece misspelt", changed([](auto& m) { m.pieces[9].text = "<0xZZ>"; }), "<0xXX>");
    row("unknown id out of range", changed([](auto& m) { m.unk_id = 70'000; }), "out of range");
    row("unknown id of 2^40", good + "\x12\x08\xC0\x02" + varint(1ull << 40), "out of range");
    row("model of words", changed([](auto& m) { m.kind = SentencePieceModel::Kind::word; }), "not built");
    row("kind 77 of a model", changed([](auto& m) { m.kind = static_cast<SentencePieceModel::Kind>(77); }),
        "not known");
    row("white space as suffix", good + "\x12\x03\xC0\x01\x01", "suffix");
    row("rules too short", changed([](auto& m) { m.charsmap = "abc"; }), "normalizer are broken");
    row("rules longer than themselves",
        changed([](auto& m) { m.charsmap = std::string("\xFF\xFF\xFF\x7F") + std::string(64, '\0'); }),
        "normalizer are broken");
    row("rules that walk away", changed([](auto& m) {
          m.charsmap = std::string("\x04\0\0\0\xFF\xFF\xFF\x7F", 8) + std::string(8, '\0');
        }),
        "normalizer are broken");
  }
  void hostile_files_are_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    try {
      load_bytes(bytes.toStdString());
      QFAIL("the file was taken");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find(says.toStdString()) != std::string::npos, error.what());
      QVERIFY2(error.where().find("tokenizer.model") != std::string::npos, error.what());
    }
  }

 private:
  void write_sentencepiece_folder(const std::string& config) {
    write_file_atomically(folder_.filePath("tokenizer.model").toStdString(),
                          write_sentencepiece_model(test::tiny_model()));
    write_file_atomically(folder_.filePath("tokenizer_config.json").toStdString(), config);
  }
  QStringList pieces_of(const std::string& text) {
    const auto tokenizer = load_tokenizer(folder_.path().toStdString());
    QStringList pieces;
    for (const TokenId id : tokenizer->encode(text, {.add_special = false})) {
      pieces << QString::fromStdString(tokenizer->piece(id));
    }
    return pieces;
  }
};

QTEST_GUILESS_MAIN(TestSentencePiece)
#include "test_sentencepiece.moc"

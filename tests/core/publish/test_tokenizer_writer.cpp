// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/model/gguf.h"
#include "core/publish/tokenizer_writer.h"
#include "core/text/gguf_tokenizer.h"
#include "core/text/sentencepiece_model.h"
#include "core/text/tokenizer.h"
#include "kernels/base/error.h"
#include "tests/core/text/tiny_vocabulary.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

const char* const texts[] = {"",
                             "hello world",
                             "  hello  world ",
                             "the cat's 1234 toes\n\n\tran",
                             "café 🙂 日本語",
                             "a <s> b</s>c<unk>",
                             "don't STOP, we'll go 99999 %!?\r\n  end  ",
                             "\x01\x7f ｆｕｌｌ width"};

}  // namespace

class TestTokenizerWriter : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// Writes the tokenizer of a GGUF file into a folder and compares every way of encoding and decoding.
  void compare(const std::string& gguf, const std::string& folder) {
    for (const auto& [name, content] : tokenizer_files(read_gguf_tokenizer(GgufFile(gguf)), 64, gguf)) {
      write_text(folder + "/" + name, content);
    }
    const auto from = load_tokenizer(gguf), written = load_tokenizer(folder);
    QCOMPARE(written->vocab_size(), from->vocab_size());
    QCOMPARE(written->bos_id(), from->bos_id());
    QCOMPARE(written->eos_id(), from->eos_id());
    QCOMPARE(written->adds_bos(), from->adds_bos());
    QCOMPARE(written->chat_template(), from->chat_template());
    for (TokenId id = 0; id < from->vocab_size(); ++id) {
      QCOMPARE(written->piece(id), from->piece(id));
      QCOMPARE(written->is_special(id), from->is_special(id));
    }
    for (const char* text : texts) {
      for (const bool parse : {true, false}) {
        EncodeOptions options;
        options.parse_special = parse;
        const std::vector<TokenId> ids = from->encode(text, options);
        QVERIFY2(written->encode(text, options) == ids, text);
        QCOMPARE(written->decode(ids), from->decode(ids));
      }
    }
  }

 private slots:
  void a_byte_level_tokenizer_encodes_as_before_data() {
    QTest::addColumn<QString>("pre");
    for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2", "default"})
      QTest::newRow(pre) << QString(pre);
  }
  void a_byte_level_tokenizer_encodes_as_before() {
    QFETCH(QString, pre);
    TinyModel model;
    write_tiny_gguf(path("model.gguf"), model);
    GgufTokenizer tokenizer = read_gguf_tokenizer(GgufFile(path("model.gguf")));
    GgufBuilder file;
    file.add_text("tokenizer.ggml.model", "gpt2").add_text("tokenizer.ggml.pre", pre.toStdString());
    file.add_texts("tokenizer.ggml.tokens", tokenizer.tokens)
        .add_i32s("tokenizer.ggml.token_type", tokenizer.types);
    file.add_texts("tokenizer.ggml.merges", tokenizer.merges);
    file.add_u32("tokenizer.ggml.bos_token_id", 1).add_u32("tokenizer.ggml.eos_token_id", 2);
    file.add_text("tokenizer.chat_template", "{{ messages[0].content }}");
    const std::string gguf = path(pre.toStdString() + ".gguf");
    write_text(gguf, file.build());
    compare(gguf, path(pre.toStdString()));
  }

  void a_sentencepiece_tokenizer_encodes_as_before() {
    GgufBuilder file = gguf_of(tiny_model());
    write_text(path("spm.gguf"), file.build());
    compare(path("spm.gguf"), path("spm"));
    GgufBuilder bare = gguf_of(tiny_model());
    bare.add_bool("tokenizer.ggml.add_space_prefix", false).add_bool("tokenizer.ggml.add_bos_token", false);
    write_text(path("bare.gguf"), bare.build());
    compare(path("bare.gguf"), path("bare"));
  }

  void what_cannot_be_written_is_refused() {
    GgufTokenizer tokenizer;
    tokenizer.model = "wordpiece";
    tokenizer.tokens = {"a"};
    QVERIFY_EXCEPTION_THROWN(tokenizer_files(tokenizer, 1, "x"), Error);
    tokenizer.model = "gpt2";
    tokenizer.pre = "made-up";
    QVERIFY_EXCEPTION_THROWN(tokenizer_files(tokenizer, 1, "x"), Error);
    tokenizer.pre = "gpt-2";
    tokenizer.tokens = {"a", "a"};
    QVERIFY_EXCEPTION_THROWN(tokenizer_files(tokenizer, 1, "x"), Error);
    tokenizer.model = "llama";
    tokenizer.tokens = {"a", "b"};
    QVERIFY_EXCEPTION_THROWN(tokenizer_files(tokenizer, 1, "x"), Error);
    tokenizer.types = {1};
    QVERIFY_EXCEPTION_THROWN(tokenizer_files(tokenizer, 1, "x"), Error);
  }

  void a_real_vocabulary_encodes_as_before() {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty()) QSKIP("LORIKEET_TEST_DATA is not set: real GGUF vocabularies were not written");
    compare((data + "/weights/llama-2-tiny-random/llama-2-tiny-random.gguf").toStdString(), path("llama"));
    compare((data + "/tokenizers/ggml-vocab/ggml-vocab-gpt-2.gguf").toStdString(), path("gpt-2-real"));
  }
};

QTEST_GUILESS_MAIN(TestTokenizerWriter)
#include "test_tokenizer_writer.moc"

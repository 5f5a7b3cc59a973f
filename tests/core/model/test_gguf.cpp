// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/base/files.h"
#include "core/model/gguf.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

GgufBuilder small() {
  GgufBuilder file;
  file.add_text("general.architecture", "llama");
  file.add_tensor("a", {2, 4}, 0, std::string(32, 'x'));
  file.add_tensor("b", {3}, 1, std::string(6, 'y'));
  return file;
}

std::string array(std::uint32_t type, std::uint64_t count, const std::string& elements) {
  return raw_bytes(type) + raw_bytes(count) + elements;
}

}  // namespace

class TestGguf : public QObject {
  Q_OBJECT

 private slots:
  void a_good_file_is_read() {
    GgufBuilder builder = small();
    builder.add_u32("n", 7).add_f32("f", 0.5f).add_bool("yes", true).add_texts("words", {"a", "", "ccc"});
    builder.add_f32s("scores", {1, -2})
        .add_i32s("types", {1, 6})
        .add_raw("wide", 10, raw_bytes<std::uint64_t>(1));
    builder.add_raw("signed", 11, raw_bytes<std::int64_t>(-5)).add_raw("double", 12, raw_bytes(2.5));
    const std::string image = builder.build();
    const GgufFile file(bytes_of(image), "x");
    QCOMPARE(file.text("general.architecture"), std::string("llama"));
    QCOMPARE(file.text("absent", "none"), std::string("none"));
    QCOMPARE(file.integer("n", 0, 0, 10), std::int64_t{7});
    QCOMPARE(file.integer("wide", 0, 0, 10), std::int64_t{1});
    QCOMPARE(file.integer("signed", 0, -10, 10), std::int64_t{-5});
    QCOMPARE(file.integer("absent", 3, 0, 10), std::int64_t{3});
    QCOMPARE(file.number("f", 0), 0.5);
    QCOMPARE(file.number("double", 0), 2.5);
    QCOMPARE(file.number("n", 0), 7.0);
    QVERIFY(file.boolean("yes", false) && file.boolean("absent", true));
    QCOMPARE(file.texts("words"), (std::vector<std::string_view>{"a", "", "ccc"}));
    QCOMPARE(file.numbers("scores"), (std::vector<float>{1, -2}));
    QCOMPARE(file.integers("types"), (std::vector<std::int64_t>{1, 6}));
    QCOMPARE(file.count("words"), std::uint64_t{3});
    QVERIFY(file.texts("absent").empty());
    const GgufTensor* a = file.find("a");
    QVERIFY(a && file.find("b") && !file.find("c"));
    QCOMPARE(a->shape, (std::vector<std::int64_t>{2, 4}));
    QCOMPARE(file.bytes(*a).size(), std::size_t{32});
    QCOMPARE(static_cast<char>(file.bytes(*file.find("b"))[0]), 'y');
  }

  void the_alignment_of_the_file_is_used() {
    GgufBuilder builder = small();
    builder.alignment = 64;
    builder.add_u32("general.alignment", 64);
    const std::string image = builder.build();
    const GgufFile file(bytes_of(image), "x");
    QCOMPARE(static_cast<char>(file.bytes(*file.find("b"))[0]), 'y');
  }

  void a_value_of_another_type_than_asked_for_is_refused_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("as");
    QTest::newRow("text as number") << "text"
                                    << "number";
    QTest::newRow("text as integer") << "text"
                                     << "integer";
    QTest::newRow("text as list") << "text"
                                  << "texts";
    QTest::newRow("number as text") << "n"
                                    << "text";
    QTest::newRow("number as boolean") << "n"
                                       << "boolean";
    QTest::newRow("bytes as f32 scores") << "bytes"
                                         << "numbers";
    QTest::newRow("bytes as texts") << "bytes"
                                    << "texts";
    QTest::newRow("texts as integers") << "words"
                                       << "integers";
    QTest::newRow("list as integer") << "bytes"
                                     << "integer";
    QTest::newRow("out of range") << "big"
                                  << "integer";
    QTest::newRow("beyond 63 bits") << "huge"
                                    << "integer";
    QTest::newRow("not finite") << "nan"
                                << "number";
  }
  void a_value_of_another_type_than_asked_for_is_refused() {
    QFETCH(QString, key);
    QFETCH(QString, as);
    GgufBuilder builder;
    builder.add_text("text", "x")
        .add_u32("n", 1)
        .add_raw("bytes", 9, array(0, 4, "abcd"))
        .add_texts("words", {"a"});
    builder.add_u32("big", 1'000'000).add_raw("huge", 10, std::string(8, '\xff')).add_f32("nan", NAN);
    const std::string image = builder.build();
    const GgufFile file(bytes_of(image), "x.gguf");
    const std::string name = key.toStdString();
    try {
      if (as == "number") file.number(name, 0);
      if (as == "integer") file.integer(name, 0, 0, 10);
      if (as == "text") file.text(name);
      if (as == "boolean") file.boolean(name, false);
      if (as == "texts") file.texts(name);
      if (as == "numbers") file.numbers(name);
      if (as == "integers") file.integers(name);
      QFAIL("it was given");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::bad_format);
      QCOMPARE(error.where(), "x.gguf: " + name);
    }
  }

  void a_lying_file_is_refused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const std::string& file, const char* said) {
      QTest::newRow(name) << QByteArray(file.data(), static_cast<int>(file.size())) << QString(said);
    };
    const auto with_pair = [](const std::string& key, std::uint32_t type, const std::string& raw) {
      return small().add_raw(key, type, raw).build();
    };
    const auto with_tensor = [](auto change) {
      GgufBuilder builder = small();
      change(builder.tensors[0], builder);
      return builder.build();
    };
    using Tensor = GgufBuilder::Tensor;
    const std::string good = small().build();
    row("empty file", "", "not a GGUF");
    row("another magic", "GGML" + good.substr(4), "not a GGUF");
    row("version 1", "GGUF" + raw_bytes<std::uint32_t>(1) + good.substr(8), "version 1");
    row("version 4", "GGUF" + raw_bytes<std::uint32_t>(4) + good.substr(8), "version 4");
    row("big-endian", std::string("GGUF\x00\x00\x00\x03", 8) + good.substr(8), "Big-endian");
    row("only the magic", "GGUF" + raw_bytes<std::uint32_t>(3), "too early");
    row("tensor count 2^63",
        "GGUF" + raw_bytes<std::uint32_t>(3) + raw_bytes(std::uint64_t{1} << 63) + good.substr(16),
        "tensors");
    row("tensor count -1",
        "GGUF" + raw_bytes<std::uint32_t>(3) + raw_bytes<std::int64_t>(-1) + good.substr(16), "tensors");
    row("key count 2^40", good.substr(0, 16) + raw_bytes(std::uint64_t{1} << 40) + good.substr(24),
        "metadata keys");
    row("key length 2^40", good.substr(0, 24) + raw_bytes(std::uint64_t{1} << 40) + good.substr(32),
        "claims");
    row("key length all ones", good.substr(0, 24) + std::string(8, '\xff') + good.substr(32), "claims");
    row("empty key", with_pair("", 4, "1234"), "not plain ASCII");
    row("key with NUL", with_pair(std::string("a\0b", 3), 4, "1234"), "not plain ASCII");
    row("key beyond ASCII", with_pair("\xc3\xa4", 4, "1234"), "not plain ASCII");
    row("key twice", with_pair("general.architecture", 4, "1234"), "stands twice");
    row("unknown value type", with_pair("k", 13, "1234"), "Unknown value type");
    row("value type all ones", with_pair("k", 0xffffffff, "1234"), "Unknown value type");
    row("boolean 2", with_pair("k", 7, "\x02"), "neither 0 nor 1");
    row("booleans with 9", with_pair("k", 9, array(7, 2, "\x01\x09")), "neither 0 nor 1");
    row("text length 2^40", with_pair("k", 8, raw_bytes(std::uint64_t{1} << 40)), "claims");
    row("list of lists", with_pair("k", 9, array(9, 1, "")), "list of lists");
    row("list of unknown type", with_pair("k", 9, array(99, 1, "")), "Unknown value type");
    row("list count 2^62 of u64", with_pair("k", 9, array(10, std::uint64_t{1} << 62, "")), "claims");
    row("list count all ones", with_pair("k", 9, array(0, ~std::uint64_t{0}, "")), "claims");
    row("list of texts count 2^60", with_pair("k", 9, array(8, std::uint64_t{1} << 60, "")), "claims");
    row("text in a list too long", with_pair("k", 9, array(8, 1, raw_bytes(std::uint64_t{1} << 50))),
        "claims");
    row("alignment as i32", with_pair("general.alignment", 5, raw_bytes(32)), "unsigned 32-bit");
    row("alignment as u64", with_pair("general.alignment", 10, raw_bytes(std::uint64_t{1} << 63)),
        "unsigned 32-bit");
    row("alignment 0", with_pair("general.alignment", 4, raw_bytes<std::uint32_t>(0)), "power of two");
    row("alignment 3", with_pair("general.alignment", 4, raw_bytes<std::uint32_t>(3)), "power of two");
    row("alignment 2^31", with_pair("general.alignment", 4, raw_bytes(std::uint32_t{1} << 31)),
        "power of two");
    row("no dimensions", with_tensor([](Tensor& t, auto&) { t.dims.clear(); }), "0 dimensions");
    row("five dimensions", with_tensor([](Tensor& t, auto&) { t.dims = {1, 1, 1, 1, 8}; }), "5 dimensions");
    row("dimension 0", with_tensor([](Tensor& t, auto&) { t.dims = {0, 4}; }), "out of range");
    row("dimension 2^63", with_tensor([](Tensor& t, auto&) { t.dims = {std::uint64_t{1} << 63}; }),
        "out of range");
    row("dimension 2^42+1", with_tensor([](Tensor& t, auto&) {
          t.dims = {4, 4398046511105};
        }),
        "larger than the file");
    row("product wraps to zero", with_tensor([](Tensor& t, auto&) {
          t.dims = {1ull << 32, 1ull << 32};
        }),
        "overflows");
    row("product wraps to small", with_tensor([](Tensor& t, auto&) {
          t.dims = {4, 4611686018427387905ull};
        }),
        "overflows");
    row("bytes wrap", with_tensor([](Tensor& t, auto&) { t.dims = {1ull << 62}; }), "larger than the file");
    row("unknown tensor type", with_tensor([](Tensor& t, auto&) { t.type = 4; }), "not known");
    row("row no multiple of the block", with_tensor([](Tensor& t, auto&) { t.type = 8; }),
        "no multiple of the block");
    row("no tensor name", with_tensor([](Tensor& t, auto&) { t.name.clear(); }), "no proper name");
    row("long tensor name", with_tensor([](Tensor& t, auto&) { t.name.assign(64, 'n'); }), "claims");
    row("two tensors of a name", with_tensor([](Tensor& t, auto&) { t.name = "b"; }), "same name");
    row("offset not the running sum", with_tensor([](Tensor& t, auto&) { t.offset_off_by = 32; }),
        "expected 0");
    row("offset negative", with_tensor([](Tensor& t, auto&) { t.offset_off_by = -32; }), "expected 0");
    row("overlap", with_tensor([](Tensor&, GgufBuilder& f) { f.tensors[1].offset_off_by = -32; }),
        "expected 32");
    row("data cut", good.substr(0, good.size() - 40), "beyond the end");
    row("one tensor too many", with_tensor([](Tensor&, GgufBuilder& f) { f.tensor_count_off_by = 1; }), "");
    row("one key too many", with_tensor([](Tensor&, GgufBuilder& f) { f.key_count_off_by = 1; }), "");
    row("a pickle", std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15), "pickle");
  }
  void a_lying_file_is_refused() {
    QFETCH(QByteArray, file);
    QFETCH(QString, said);
    const std::vector<char> exact(file.begin(), file.end());
    try {
      GgufFile({reinterpret_cast<const std::byte*>(exact.data()), exact.size()}, "bad.gguf");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QVERIFY(error.code() == ErrorCode::bad_format || error.code() == ErrorCode::unsupported);
      QVERIFY2(error.message().find(said.toStdString()) != std::string::npos, error.what());
      QVERIFY2(error.where().rfind("bad.gguf", 0) == 0, error.what());
    }
  }

  void every_cut_of_a_file_is_refused() {
    const std::string good = small().add_texts("words", {"ab", "c"}).build();
    const std::size_t last = good.size() - 32 + 6;  // the last tensor's padding may be missing
    for (std::size_t size = 0; size < last; ++size) {
      const std::vector<char> exact(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      QVERIFY_EXCEPTION_THROWN(
          GgufFile({reinterpret_cast<const std::byte*>(exact.data()), exact.size()}, "cut"), Error);
    }
    GgufFile(bytes_of(good.substr(0, last)), "padding missing");
  }

  void no_changed_byte_leads_outside_the_file() {
    TinyModel model;
    model.layers = 1;
    QTemporaryDir folder;
    const std::string path = folder.filePath("m.gguf").toStdString();
    write_tiny_gguf(path, model);
    const std::string good = read_file(path);
    const std::uint64_t data_start = GgufFile(bytes_of(good), "good").tensors()[0].offset;
    RandomStream random({.seed = 12});
    int accepted = 0;
    for (int round = 0; round < 10'000; ++round) {
      std::string bad = good;
      for (std::uint64_t i = random.next_below(4) + 1; i > 0; --i) {
        bad[random.next_below(data_start)] = static_cast<char>(random.next_below(256));
      }
      if (round % 7 == 0) bad.resize(random.next_below(bad.size()));
      const std::vector<char> exact(bad.begin(), bad.end());
      const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(exact.data()), exact.size());
      try {
        const GgufFile file(bytes, "bad");
        for (const GgufTensor& tensor : file.tensors()) QVERIFY(tensor.offset + tensor.bytes <= bytes.size());
        for (const std::string& key : file.keys()) {
          try {
            for (const std::string_view text : file.texts(key)) {
              QVERIFY(text.empty() || text.data() + text.size() <= exact.data() + exact.size());
            }
          } catch (const Error&) {
          }
        }
        ++accepted;
      } catch (const Error&) {
      }
    }
    QVERIFY(accepted > 0);
  }

  void a_file_of_the_gguf_package_is_read() {
    const GgufFile file(QFINDTESTDATA("../../golden/gguf/blocks.gguf").toStdString());
    const auto whole = [&](const char* key) { return file.integer(key, 0, INT64_MIN, INT64_MAX); };
    QCOMPARE(whole("test.u8"), 200);
    QCOMPARE(whole("test.i8"), -100);
    QCOMPARE(whole("test.u16"), 60000);
    QCOMPARE(whole("test.i16"), -30000);
    QCOMPARE(whole("test.u32"), 4'000'000'000);
    QCOMPARE(whole("test.i32"), -2'000'000'000);
    QCOMPARE(whole("test.u64"), std::int64_t{1} << 62);
    QCOMPARE(whole("test.i64"), -(std::int64_t{1} << 62));
    QCOMPARE(file.number("test.f32", 0), static_cast<double>(0.1f));
    QCOMPARE(file.number("test.f64", 0), 0.1);
    QVERIFY(file.boolean("test.bool", false));
    QCOMPARE(file.text("test.string"), std::string("Größe 🙂"));
    QCOMPARE(file.texts("test.strings"), (std::vector<std::string_view>{"a", "", "ß"}));
    QCOMPARE(file.numbers("test.floats"), (std::vector<float>{0.5f, -1.5f}));
    QCOMPARE(file.integers("test.integers"), (std::vector<std::int64_t>{3, -4}));
    QCOMPARE(file.find("quantised.Q4_0")->shape, (std::vector<std::int64_t>{3, 512}));
  }

  void real_files_are_read() {
    const QString data = qEnvironmentVariable("LORIKEET_TEST_DATA");
    if (data.isEmpty())
      QSKIP("LORIKEET_TEST_DATA is not set: the GGUF files of the shared test data were not read");
    const GgufFile model((data + "/weights/llama-2-tiny-random/llama-2-tiny-random.gguf").toStdString());
    QCOMPARE(model.tensors().size(), std::size_t{12});
    QCOMPARE(model.count("tokenizer.ggml.tokens"), std::uint64_t{32000});
    const GgufFile vocabulary((data + "/tokenizers/ggml-vocab/ggml-vocab-gpt-2.gguf").toStdString());
    QVERIFY(vocabulary.tensors().empty());
    QCOMPARE(vocabulary.texts("tokenizer.ggml.tokens")[0], std::string_view("!"));
  }
};

QTEST_GUILESS_MAIN(TestGguf)
#include "test_gguf.moc"

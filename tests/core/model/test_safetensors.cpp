// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstring>

#include "core/model/foreign_file.h"
#include "core/model/safetensors.h"
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

/// A file with this header text and so many zero bytes of data.
std::string image(const std::string& header, std::size_t data_bytes) {
  return raw_bytes<std::uint64_t>(header.size()) + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         offsets + "]}";
}

}  // namespace

class TestSafetensors : public QObject {
  Q_OBJECT

 private slots:
  void a_good_file_is_read_in_the_order_of_its_data() {
    const std::string file =
        image("{" + entry("b", "F32", "2", "8,16") + "," + entry("a", "BF16", "2,2", "0,8") +
                  R"(,"__metadata__":{"format":"pt"}}  )",
              16);
    const SafetensorsHeader header = parse_safetensors(bytes_of(file), "x");
    QCOMPARE(header.tensors.size(), std::size_t{2});
    QCOMPARE(header.tensors[0].name, std::string("a"));
    QCOMPARE(header.tensors[0].shape, (std::vector<std::int64_t>{2, 2}));
    QCOMPARE(header.metadata.at("format"), std::string("pt"));
    QCOMPARE(header.data_start + 16, std::uint64_t{file.size()});
  }

  void scalars_and_empty_tensors_are_legal() {
    const std::string file =
        image("{" + entry("s", "F32", "", "0,4") + "," + entry("e", "F16", "0,7", "4,4") + "}", 4);
    QCOMPARE(parse_safetensors(bytes_of(file), "x").tensors.size(), std::size_t{2});
    QVERIFY(parse_safetensors(bytes_of(image("{}", 0)), "x").tensors.empty());
  }

  void a_lying_file_is_refused_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const std::string& file, const char* said) {
      QTest::newRow(name) << QByteArray(file.data(), static_cast<int>(file.size())) << QString(said);
    };
    const auto one = [](const std::string& tensor, std::size_t bytes) {
      return image("{" + tensor + "}", bytes);
    };
    row("empty file", "", "too few");
    row("seven bytes", "1234567", "too few");
    row("header length all ones", std::string(8, '\xff') + "{}", "100 MB");
    row("header length 2^63", raw_bytes(std::uint64_t{1} << 63) + "{}", "100 MB");
    row("header longer than 100 MB", raw_bytes<std::uint64_t>(100'000'001) + "{}", "100 MB");
    row("header longer than the file", raw_bytes<std::uint64_t>(100) + "{}", "longer than the file");
    row("empty header", raw_bytes<std::uint64_t>(0) + "{}", "begin with {");
    row("header begins with a space", image(" {}", 0), "begin with {");
    row("header is a list", image("[]", 0), "begin with {");
    row("header is not JSON", image("{\"a\"", 0), "not valid JSON");
    row("two JSON values", image("{}{}", 0), "not valid JSON");
    row("broken UTF-8", image("{\"\xff\":1}", 0), "not valid JSON");
    row("tensor is a number", image("{\"a\":1}", 0), "where it may not stand");
    row("tensor is null", image("{\"a\":null}", 0), "where it may not stand");
    row("tensor is a list", image("{\"a\":[]}", 0), "where it may not stand");
    row("metadata value is a number", image("{\"__metadata__\":{\"a\":1}}", 0), "where it may not stand");
    row("metadata value is an object", image("{\"__metadata__\":{\"a\":{}}}", 0), "where it may not stand");
    row("metadata twice", image("{\"__metadata__\":{},\"__metadata__\":{}}", 0), "two __metadata__");
    row("metadata key twice", image(R"({"__metadata__":{"a":"1","a":"2"}})", 0), "stands twice");
    row("unknown field", image(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":"y"}})", 0),
        "Unknown field");
    row("field twice", image(R"({"a":{"dtype":"U8","dtype":"F32","shape":[0],"data_offsets":[0,0]}})", 0),
        "twice");
    row("no dtype", image(R"({"a":{"shape":[0],"data_offsets":[0,0]}})", 0), "needs dtype");
    row("no shape", image(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0), "needs dtype");
    row("no offsets", image(R"({"a":{"dtype":"U8","shape":[0]}})", 0), "needs dtype");
    row("unknown dtype with huge offsets",
        one(entry("a", "F99", "2", "9223372036854775808,9223372036854775816"), 8), "F99");
    row("lower-case dtype", one(entry("a", "f32", "1", "0,4"), 4), "dtype");
    row("negative extent", one(entry("a", "U8", "-1", "0,1"), 1), "where it may not stand");
    row("fractional extent", one(entry("a", "U8", "1.5", "0,1"), 1), "where it may not stand");
    row("extent beyond 64 bits", one(entry("a", "U8", "99999999999999999999", "0,1"), 1),
        "where it may not stand");
    row("extent beyond 63 bits", one(entry("a", "U8", "9223372036854775808", "0,1"), 1), "63 bits");
    row("extent as text", one(entry("a", "U8", "\"1\"", "0,1"), 1), "where it may not stand");
    row("nested shape", one(entry("a", "U8", "[1]", "0,1"), 1), "where it may not stand");
    row("sixty-five dimensions",
        one(entry("a", "U8", "1" + std::string(QByteArray(",1").repeated(64)), "0,1"), 1), "64");
    row("product wraps to zero", one(entry("a", "F32", "4294967296,4294967296", "0,0"), 0), "overflows");
    row("product wraps to small", one(entry("a", "U8", "4611686018427387905,4", "0,4"), 4), "overflows");
    row("product wraps behind a zero", one(entry("a", "F32", "0,4611686018427387904,4", "0,0"), 0),
        "overflows");
    row("bytes overflow", one(entry("a", "F64", "4611686018427387904", "0,0"), 0), "overflows");
    row("half a byte", one(entry("a", "F4", "3", "0,2"), 2), "whole bytes");
    row("end before begin", one(entry("a", "U8", "1", "1,0"), 1), "ends before");
    row("size too small", one(entry("a", "F32", "2", "0,4"), 4), "needs 8 bytes");
    row("size too large", one(entry("a", "F32", "1", "0,8"), 8), "needs 4 bytes");
    row("one offset", image(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}})", 0), "two numbers");
    row("three offsets", image(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}})", 0),
        "two numbers");
    row("hole at the start", one(entry("a", "U8", "1", "1,2"), 2), "hole");
    row("hole between", one(entry("a", "U8", "1", "0,1") + "," + entry("b", "U8", "1", "2,3"), 3), "hole");
    row("overlap", one(entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "2", "1,3"), 3), "overlap");
    row("same place twice", one(entry("a", "U8", "2", "0,2") + "," + entry("b", "U8", "2", "0,2"), 2),
        "overlap");
    row("tail", one(entry("a", "U8", "1", "0,1"), 2), "the file has 2");
    row("cut", one(entry("a", "U8", "2", "0,2"), 1), "the file has 1");
    row("same name twice", one(entry("a", "U8", "1", "0,1") + "," + entry("a", "U8", "1", "1,2"), 2),
        "same name");
    row("same name by escape",
        one(entry("a", "U8", "1", "0,1") + "," + entry("\\u0061", "U8", "1", "1,2"), 2), "same name");
    row("a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "LFS");
    row("a web page", "\n<!DOCTYPE html><html>", "web page");
    row("deep nesting", image("{\"a\":" + std::string(100'000, '['), 0), "where it may not stand");
  }
  void a_lying_file_is_refused() {
    QFETCH(QByteArray, file);
    QFETCH(QString, said);
    // An exact copy on the heap, so that a read beyond it is seen by the address sanitizer.
    const std::vector<char> exact(file.begin(), file.end());
    try {
      parse_safetensors({reinterpret_cast<const std::byte*>(exact.data()), exact.size()}, "bad.safetensors");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::bad_format);
      QVERIFY2(error.message().find(said.toStdString()) != std::string::npos, error.what());
      QVERIFY2(error.where().rfind("bad.safetensors", 0) == 0, error.what());
    }
  }

  void overlapping_tensors_are_both_named() {
    const std::string file =
        image("{" + entry("left", "U8", "2", "0,2") + "," + entry("right", "U8", "2", "1,3") + "}", 3);
    try {
      parse_safetensors(bytes_of(file), "x");
      QFAIL("accepted");
    } catch (const Error& error) {
      QVERIFY(error.where().find("left") != std::string::npos &&
              error.where().find("right") != std::string::npos);
    }
  }

  void a_pickle_is_refused_by_its_content_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::newRow("PyTorch archive") << QByteArray("PK\x03\x04\x00\x00\x08\x08\x00\x00", 10) +
                                            "archive/data.pkl" + QByteArray(64, 'x');
    QTest::newRow("legacy PyTorch") << QByteArray(
        "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.", 21);
    QTest::newRow("protocol 4") << QByteArray("\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x08posix.",
                                              19);
    QTest::newRow("protocol 5") << QByteArray("\x80\x05]q.", 5) + QByteArray(16, '.');
    QTest::newRow("text protocol, a call") << QByteArray("cos\nsystem\n(S'true'\ntR.");
    QTest::newRow("text protocol, a dictionary") << QByteArray("(dp0\nS'a'\np1\nI1\ns.");
  }
  void a_pickle_is_refused_by_its_content() {
    QFETCH(QByteArray, file);
    const std::string text(file.data(), static_cast<std::size_t>(file.size()));
    QVERIFY(is_pickle(bytes_of(text)));
    try {
      parse_safetensors(bytes_of(text), "model.safetensors");
      QFAIL("it was accepted");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::unsupported);
      QVERIFY2(error.message().find("pickle") != std::string::npos, error.what());
      QVERIFY2(error.hint().find("safetensors") != std::string::npos, error.what());
    }
  }

  void a_safetensors_file_whose_length_looks_like_a_pickle_is_read() {
    // A header of 0x280 bytes begins with 80 02, the mark of pickle protocol 2.
    std::string header = "{" + entry("a", "U8", "1", "0,1") + "}";
    header.append(0x280 - header.size(), ' ');
    QCOMPARE(parse_safetensors(bytes_of(image(header, 1)), "x").tensors.size(), std::size_t{1});
  }

  void the_writer_gives_the_reference_writers_bytes() {
    // Order by dtype rank descending, then name; compact JSON; padded to 8; metadata first.
    const SafetensorsLayout layout =
        plan_safetensors({{"b", "BF16", {2}}, {"a", "F16", {1}}, {"z", "F32", {1, 2}}, {"c", "F32", {}}});
    std::string expected =
        R"({"__metadata__":{"format":"pt"},"c":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
        R"("z":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},)"
        R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[12,16]},)"
        R"("a":{"dtype":"F16","shape":[1],"data_offsets":[16,18]}})";
    expected.append((8 - expected.size() % 8) % 8, ' ');
    QCOMPARE(layout.header.substr(8), expected);
    QCOMPARE(layout.header.substr(0, 8), raw_bytes<std::uint64_t>(expected.size()));
    QCOMPARE(layout.file_bytes, std::uint64_t{8 + expected.size() + 18});
  }

  void what_was_written_is_read_back() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("w.safetensors").toStdString();
    const std::vector<float> values = {1.5f, -2.0f, 0.25f};
    {
      SafetensorsWriter writer(
          path, plan_safetensors({{"x", "F32", {3}}, {"empty", "F32", {0}}, {"t", "F16", {2}}}));
      for (const SafetensorsEntry& tensor : writer.layout().tensors) {
        if (tensor.name == "x") {
          const auto bytes = std::as_bytes(std::span(values));
          writer.write(bytes.first(5));
          writer.write(bytes.subspan(5));
        } else {
          writer.write(std::vector<std::byte>(tensor.bytes(), std::byte{7}));
        }
      }
      QVERIFY(!QFile::exists(QString::fromStdString(path)));
      writer.commit();
    }
    const SafetensorsFile file(path);
    const SafetensorsEntry* x = file.find("x");
    QVERIFY(x && file.find("empty") && file.find("t") && !file.find("y"));
    QCOMPARE(std::memcmp(file.bytes(*x).data(), values.data(), 12), 0);
    QCOMPARE(file.metadata().at("format"), std::string("pt"));
  }

  void the_writer_refuses_too_many_and_too_few_bytes() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("w.safetensors").toStdString();
    SafetensorsWriter writer(path, plan_safetensors({{"x", "F32", {2}}}));
    const std::vector<std::byte> nine(9);
    QVERIFY_EXCEPTION_THROWN(writer.write(nine), Error);
    writer.write(std::span(nine).first(7));
    QVERIFY_EXCEPTION_THROWN(writer.commit(), Error);
    QVERIFY(!QFile::exists(QString::fromStdString(path)));
  }

  void the_writer_refuses_what_cannot_be_stored() {
    QVERIFY_EXCEPTION_THROWN(plan_safetensors({{"x", "F99", {2}}}), Error);
    QVERIFY_EXCEPTION_THROWN(plan_safetensors({{"x", "F32", {2}}, {"x", "F16", {2}}}), Error);
    QVERIFY_EXCEPTION_THROWN(plan_safetensors({{"x", "F32", {std::int64_t{1} << 62, 4}}}), Error);
    QVERIFY_EXCEPTION_THROWN(plan_safetensors({{"x", "F32", {-1}}}), Error);
  }

  void no_changed_byte_leads_outside_the_file() {
    TinyModel model;
    model.layers = 1;
    const std::string good = safetensors_image(tiny_weights(model), "F32");
    const SafetensorsHeader header = parse_safetensors(bytes_of(good), "good");
    RandomStream random({.seed = 11});
    int accepted = 0;
    for (int round = 0; round < 20'000; ++round) {
      std::string bad = good.substr(0, header.data_start + 256);
      // Sometimes the data is kept whole, so that changed headers can still be right.
      if (round % 2) bad = good;
      for (std::uint64_t i = random.next_below(4) + 1; i > 0; --i) {
        bad[random.next_below(header.data_start)] = static_cast<char>(random.next_below(256));
      }
      if (round % 7 == 0) bad.resize(random.next_below(bad.size()));
      const std::vector<char> exact(bad.begin(), bad.end());
      const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(exact.data()), exact.size());
      try {
        const SafetensorsHeader read = parse_safetensors(bytes, "bad");
        for (const SafetensorsEntry& tensor : read.tensors)
          QVERIFY(read.data_start + tensor.end <= bytes.size());
        ++accepted;
      } catch (const Error&) {
      }
    }
    QVERIFY(accepted > 0);  // some changes only rename a tensor
  }
};

QTEST_GUILESS_MAIN(TestSafetensors)
#include "test_safetensors.moc"

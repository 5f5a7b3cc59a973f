// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <fstream>

#include "core/base/hash.h"
#include "core/data/dataset.h"
#include "kernels/base/error.h"
#include "tests/core/data/packed.h"

using namespace lorikeet;

namespace {

std::string rows_text(const InstructionData& data) {
  std::string text;
  for (const InstructionRow& row : data.rows)
    text += std::to_string(row.number) + ":" + row.instruction + "|" + row.output + "\n";
  return text;
}

std::string many_rows(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += "{\"instruction\":\"question " + std::to_string(i * 7919 % 1000) + "\",\"output\":\"answer " +
            std::to_string(i) + "\"}\n";
  }
  return text;
}

bool has_warning(const InstructionData& data, const std::string& part) {
  for (const std::string& warning : data.report.warnings) {
    if (warning.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

class TestCompressedData : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  InstructionData read(const std::string& content) {
    const std::string path = folder_.path().toStdString() + "/data.jsonl";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return read_instruction_data(path);
  }

 private slots:
  void packed_rows_are_those_that_were_packed_data() {
    QTest::addColumn<QByteArray>("packed");
    const std::string text = many_rows(2000), half = text.substr(0, 40'000), rest = text.substr(40'000);
    const auto row = [](const char* name, const std::string& bytes) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes);
    };
    row("gzip", test::gzip(text));
    row("gzip members one after the other", test::gzip(half) + test::gzip("") + test::gzip(rest));
    row("gzip with zeros behind it", test::gzip(text) + std::string(512, '\0'));
    row("zstd", test::zstd(text));
    row("zstd frames one after the other", test::zstd(half) + test::zstd(rest));
    row("a skippable frame first", std::string("\x50\x2A\x4D\x18\x03\0\0\0abc", 11) + test::zstd(text));
  }
  void packed_rows_are_those_that_were_packed() {
    QFETCH(QByteArray, packed);
    const InstructionData data = read(packed.toStdString());
    QCOMPARE(rows_text(data), rows_text(read(many_rows(2000))));
    QCOMPARE(data.report.bytes, packed.size());
    QCOMPARE(data.sha256, sha256_hex(packed.toStdString()));
    QVERIFY(has_warning(data, "Unpacked from "));
  }

  void what_breaks_off_keeps_the_rows_before() {
    const std::string text = many_rows(400);
    const std::string whole = rows_text(read(text));
    for (const std::string& packed : {test::gzip(text), test::zstd(text)}) {
      std::size_t most = 0;
      for (std::size_t length = 20; length < packed.size(); length += 37) {
        try {
          const InstructionData data = read(packed.substr(0, length));
          QVERIFY(has_warning(data, "break off"));
          QVERIFY(whole.starts_with(rows_text(data)));
          QCOMPARE(data.report.read, data.report.used + data.report.refused_rows);
          most = std::max(most, data.rows.size());
        } catch (const Error& error) {
          QVERIFY2(error.code() == ErrorCode::bad_format, error.what());
        }
      }
      QVERIFY(most > 100 || packed.starts_with("\x28"));  // zstd hands out whole blocks
    }
  }

  void what_is_damaged_keeps_the_rows_before() {
    const std::string text = many_rows(30'000);
    for (std::string packed : {test::gzip(text), test::zstd(text)}) {
      packed[packed.size() - packed.size() / 5] ^= 0x55;
      const InstructionData data = read(packed);
      QVERIFY(has_warning(data, "damaged"));
      QVERIFY(data.rows.size() > 1000);
      QVERIFY(data.rows.size() < 30'000);
    }
  }

  void a_file_without_rows_says_that_its_data_broke_off() {
    try {
      read(test::gzip(many_rows(10)).substr(0, 12));
      QFAIL("it was read");
    } catch (const Error& error) {
      QVERIFY2(std::string(error.what()).find("break off") != std::string::npos, error.what());
    }
  }

  void a_bomb_is_refused() {
    std::string bomb = "[";
    for (int i = 0; i < 16; ++i) bomb += std::string(std::size_t{16} << 20, ' ');
    for (const std::string& packed : {test::gzip(bomb), test::zstd(bomb)}) {
      try {
        read(packed);
        QFAIL("it was unpacked");
      } catch (const Error& error) {
        QVERIFY2(std::string(error.what()).find("unpacks to more than 200 times") != std::string::npos,
                 error.what());
      }
    }
  }

  void other_packings_are_refused_by_name_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("name");
    QTest::newRow("bzip2") << QByteArray("BZh91AY&SY") << "bzip2";
    QTest::newRow("xz") << QByteArray(
                               "\xFD"
                               "7zXZ\0\0\0",
                               8)
                        << "xz";
    QTest::newRow("zip") << QByteArray("PK\x03\x04zzzz") << "zip";
    QTest::newRow("lz4") << QByteArray("\x04\x22\x4D\x18zzz") << "LZ4";
  }
  void other_packings_are_refused_by_name() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, name);
    try {
      read(bytes.toStdString());
      QFAIL("it was read");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::unsupported);
      QVERIFY(QString(error.what()).contains(name));
    }
  }
};

QTEST_GUILESS_MAIN(TestCompressedData)
#include "test_compressed_data.moc"

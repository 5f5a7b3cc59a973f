// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/data/parquet/bits.h"
#include "core/data/parquet/parquet_records.h"
#include "kernels/base/random.h"
#include "tests/core/data/reading.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

std::string parquet_file(const std::string& name) {
  return golden::path("parquet/" + name);
}

/// All columns of all rows as JSON, one line a row.
std::vector<Json> rows_of(const std::string& path) {
  parquet::ParquetRecords records(path, {}, [](const std::string&) { return true; });
  std::vector<Json> rows;
  DataRecord record;
  while (records.next(record)) {
    if (!record.problem.empty()) throw std::logic_error(record.problem);
    Json row = Json::object();
    for (const JsonMember& member : record.members) {
      const std::string text(member.value.text);
      row[std::string(member.key)] = member.value.kind == JsonKind::string ? Json(text) : Json::parse(text);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) rows.push_back(Json::parse(line));
  return rows;
}

/// Thrift's compact protocol, as far as one Parquet file needs it: fields come in the order of their numbers.
class Thrift {
 public:
  Thrift& integer(int id, std::int64_t value, int type = 5) {
    head(id, type);
    return number(static_cast<std::uint64_t>(value) << 1);  // zigzag of what is not negative
  }
  Thrift& text(int id, const std::string& value) {
    head(id, 8);
    number(value.size());
    bytes_ += value;
    return *this;
  }
  Thrift& inside(int id, const Thrift& value) {
    head(id, 12);
    bytes_ += value.done();
    return *this;
  }
  Thrift& list(int id, const std::vector<Thrift>& values) {
    head(id, 9);
    bytes_ += static_cast<char>(values.size() << 4 | 12);
    for (const Thrift& value : values) bytes_ += value.done();
    return *this;
  }
  std::string done() const { return bytes_ + '\0'; }

 private:
  void head(int id, int type) {
    bytes_ += static_cast<char>((id - last_) << 4 | type);
    last_ = id;
  }
  Thrift& number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }

  std::string bytes_;
  int last_ = 0;
};

/// A file of `rows` equal texts, each of which takes no byte: dictionary indexes of no width.
std::string file_of_equal_rows(std::int64_t rows, const std::string& text) {
  constexpr int i64 = 6;
  const std::string length(1, static_cast<char>(text.size()));
  const std::string dictionary = length + std::string(3, '\0') + text, indexes(1, '\0');
  const auto page = [](int type, std::size_t bytes, int id, const Thrift& inner) {
    const auto size = static_cast<std::int64_t>(bytes);
    return Thrift().integer(1, type).integer(2, size).integer(3, size).inside(id, inner).done();
  };
  std::string file = "PAR1";
  file += page(2, dictionary.size(), 7, Thrift().integer(1, 1).integer(2, 0)) + dictionary;
  file += page(0, 1, 5, Thrift().integer(1, rows).integer(2, 8).integer(3, 3).integer(4, 3)) + indexes;
  const auto bytes = static_cast<std::int64_t>(file.size()) - 4;
  const Thrift column =
      Thrift().integer(1, 6).integer(4, 0).integer(5, rows, i64).integer(7, bytes, i64).integer(9, 4, i64);
  const Thrift group = Thrift().list(1, {Thrift().inside(3, column)}).integer(3, rows, i64);
  const Thrift root = Thrift().text(4, "root").integer(5, 1),
               leaf = Thrift().integer(1, 6).integer(3, 0).text(4, "text");
  const std::string footer = Thrift().list(2, {root, leaf}).integer(3, rows, i64).list(4, {group}).done();
  return file + footer + static_cast<char>(footer.size()) + std::string(3, '\0') + "PAR1";
}

}  // namespace

class TestParquet : public QObject {
  Q_OBJECT
  test::DataFolder folder_;

 private slots:
  void every_file_of_pyarrow_gives_its_rows_data() {
    QTest::addColumn<QString>("rows");
    for (const auto& entry : std::filesystem::directory_iterator(parquet_file(""))) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() != ".parquet") continue;
      for (const char* rows : {"flat", "chat", "deep"}) {
        if (name.starts_with(rows)) QTest::newRow(name.c_str()) << QString(rows);
      }
    }
  }
  void every_file_of_pyarrow_gives_its_rows() {
    QFETCH(QString, rows);
    const std::vector<Json> expected = lines_of(parquet_file(rows.toStdString() + ".jsonl"));
    const std::vector<Json> found = rows_of(parquet_file(std::string(QTest::currentDataTag()) + ".parquet"));
    QCOMPARE(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) QCOMPARE(dump_json(found[i]), dump_json(expected[i]));
  }

  void instructions_and_conversations_are_those_of_the_same_rows_in_json() {
    for (const char* name : {"flat", "chat"}) {
      const InstructionData json = read_instruction_data(parquet_file(std::string(name) + ".jsonl"));
      const std::string file = std::string(name) == "flat" ? "flat_snappy_v1_dictionary" : "chat_v2";
      const InstructionData data = read_instruction_data(parquet_file(file + ".parquet"));
      QCOMPARE(test::rows_text(data), test::rows_text(json));
      QCOMPARE(test::refused_text(data), test::refused_text(json));
      QVERIFY(data.report.format.ends_with(" Parquet"));
      QVERIFY(data.report.columns == json.report.columns);
      QCOMPARE(data.report.bytes,
               static_cast<std::int64_t>(read_file(parquet_file(file + ".parquet")).size()));
      QCOMPARE(data.sha256.size(), std::size_t{64});
    }
  }

  void D25_a_writer_that_is_not_arrow_reads_the_same_every_time_data() {
    QTest::addColumn<QString>("rows");
    for (const char* name : {"uncompressed", "snappy", "gzip", "zstd", "dictionary"})
      QTest::newRow(name) << "1:a||é\n2:b||d\n";
  }
  void D25_a_writer_that_is_not_arrow_reads_the_same_every_time() {
    QFETCH(QString, rows);
    for (int again = 0; again < 5; ++again) {
      const InstructionData data = read_instruction_data(
          parquet_file("third_party_" + std::string(QTest::currentDataTag()) + ".parquet"));
      QCOMPARE(QString::fromStdString(test::rows_text(data)), rows);
    }
  }

  void D26_ninety_thousand_equal_texts_are_all_read() {
    for (const char* name : {"same_90k", "third_party_same_90k"}) {
      const InstructionData data = read_instruction_data(parquet_file(std::string(name) + ".parquet"));
      QCOMPARE(data.report.used, 90'000);
      QCOMPARE(data.report.duplicates, 89'999);
      QVERIFY(data.rows.back().output == data.rows.front().output);
    }
  }

  void D27_limits_come_from_the_file_so_that_a_text_of_10_mb_loads() {
    const InstructionData data = read_instruction_data(parquet_file("long_cell.parquet"));
    QCOMPARE(data.rows[0].output, std::string(10'000'000, 'x'));
    QCOMPARE(data.rows[1].output, std::string("y"));
    const InstructionData statistics = read_instruction_data(parquet_file("third_party_statistics.parquet"));
    QCOMPARE(statistics.rows[0].output.size(), std::size_t{100'000});
  }

  void what_is_not_read_is_refused_by_name_data() {
    QTest::addColumn<QString>("part");
    QTest::newRow("refused_DELTA_BYTE_ARRAY")
        << "\"text\" of row group 1 has values in the encoding DELTA_BYTE_ARRAY";
    QTest::newRow("refused_DELTA_LENGTH_BYTE_ARRAY") << "in the encoding DELTA_LENGTH_BYTE_ARRAY";
    QTest::newRow("refused_brotli") << "\"text\" of row group 1 is compressed by Brotli";
    QTest::newRow("refused_lz4") << "is compressed by LZ4";
    QTest::newRow("empty") << "The file holds no rows";
  }
  void what_is_not_read_is_refused_by_name() {
    QFETCH(QString, part);
    try {
      read_instruction_data(parquet_file(std::string(QTest::currentDataTag()) + ".parquet"));
      QFAIL("it was read");
    } catch (const Error& error) {
      QVERIFY2(QString(error.what()).contains(part), error.what());
    }
  }

  void a_file_without_a_known_column_names_those_it_has() {
    try {
      read_instruction_data(parquet_file("deep.parquet"), {}, {}, {.columns = "instruction=x,output=y"});
      QFAIL("it was read");
    } catch (const Error& error) {
      QVERIFY2(error.hint().find("Columns found: text, tools") != std::string::npos, error.hint().c_str());
    }
  }

  void a_file_that_breaks_off_is_refused() {
    const std::string whole = read_file(parquet_file("chat_v1.parquet"));
    for (std::size_t length = 4; length < whole.size(); length += 13) {
      const std::string error = folder_.error_of(whole.substr(0, length), "data.parquet");
      QVERIFY2(error.find("not written or copied to its end") != std::string::npos, error.c_str());
    }
  }

  void rows_that_take_no_bytes_are_read_but_do_not_fill_memory() {
    const InstructionData data = folder_.read(file_of_equal_rows(100'000, "hello"), "data.parquet");
    QCOMPARE(data.report.used, 100'000);
    QCOMPARE(data.rows.back().output, std::string("hello"));
    const std::string error = folder_.error_of(file_of_equal_rows(2'000'000'000, "hello"), "data.parquet");
    QVERIFY2(error.find("unpacks to more than 200 times its size") != std::string::npos, error.c_str());
  }

  void changed_bytes_end_in_rows_or_an_error() {
    std::vector<std::string> seeds;
    for (const char* name :
         {"flat_none_v1_dictionary", "flat_none_v2_plain", "flat_snappy_v1_plain", "flat_gzip_v2_dictionary",
          "chat_v1", "chat_v2", "chat_old_names", "deep", "third_party_dictionary"})
      seeds.push_back(read_file(parquet_file(std::string(name) + ".parquet")));
    RandomStream random({.seed = 11, .use = RandomUse::test});
    for (int round = 0; round < 6000; ++round) {
      std::string content = seeds[random.next_below(seeds.size())];
      for (std::uint64_t change = random.next_below(4) + 1; change > 0; --change) {
        // Footers say most, so that half of the changes go there.
        const std::size_t from = random.next_below(2) == 0 ? content.size() / 2 : 4;
        const std::size_t at = from + random.next_below(content.size() - from);
        content[at] =
            random.next_below(3) == 0 ? static_cast<char>(0xFF) : static_cast<char>(random.next_below(256));
      }
      const std::string path = folder_.write(content, "data.parquet");
      try {
        const InstructionData data = read_instruction_data(path);
        QCOMPARE(data.report.read, data.report.used + data.report.refused_rows);
      } catch (const Error& error) {
        QVERIFY2(error.where().find(path) != std::string::npos, error.what());
      }
    }
  }

  void runs_and_packed_bits_are_decoded() {
    // A run of five 3s, then eight packed values of three bits: the example of Encodings.md.
    parquet::HybridDecoder decoder(std::string_view("\x0A\x03\x03\x88\xC6\xFA", 6), 3);
    for (int i = 0; i < 5; ++i) QCOMPARE(decoder.next(), 3u);
    for (std::uint32_t i = 0; i < 8; ++i) QCOMPARE(decoder.next(), i);
    QVERIFY_EXCEPTION_THROWN(decoder.next(), Error);
    parquet::HybridDecoder nothing(std::string_view(), 0);
    QCOMPARE(nothing.next(), 0u);
    QCOMPARE(parquet::bits_for(0), 0);
    QCOMPARE(parquet::bits_for(1), 1);
    QCOMPARE(parquet::bits_for(4), 3);
  }
};

QTEST_GUILESS_MAIN(TestParquet)
#include "test_parquet.moc"

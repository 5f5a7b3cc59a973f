// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "core/data/dataset.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

using namespace lorikeet;

/// Files that no honest program writes: reading must end, with rows or with an Error.
class TestInstructionReaderHostile : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string write(const std::string& content) {
    const std::string path = folder_.path().toStdString() + "/data.json";
    std::filesystem::remove(path);  // cutting an old file to length makes some file systems wait for the disk
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  /// Number of rows used, -1 for an Error.
  std::int64_t used_rows(const std::string& content) {
    try {
      const InstructionData data = read_instruction_data(write(content));
      const DataReport& report = data.report;
      if (report.read != report.used + report.refused_rows || report.used != std::ssize(data.rows)) return -2;
      return report.used;
    } catch (const Error&) {
      return -1;
    }
  }

 private slots:
  void a_row_larger_than_64_mb_is_refused_and_the_next_is_read() {
    const std::string good = R"({"instruction":"a","output":"b"})";
    const std::string huge =
        "{\"instruction\":\"a\",\"output\":\"" + std::string((std::size_t{64} << 20) + 5, 'x') + "\"}";
    for (const std::string& content :
         {"[" + good + "," + huge + "," + good + "]", good + "\n" + huge + "\n" + good}) {
      const InstructionData data = read_instruction_data(write(content));
      QCOMPARE(data.report.used, 2);
      QCOMPARE(data.rows[1].number, 3);
      QCOMPARE(data.report.refused.size(), std::size_t{1});
      QCOMPARE(data.report.refused[0].reason, std::string("The row is larger than 64 MB"));
    }
  }

  void a_long_text_is_read_whole() {
    const std::string text(std::size_t{10} << 20, 'x');
    const InstructionData data =
        read_instruction_data(write("[{\"instruction\":\"a\",\"output\":\"" + text + "\"}]"));
    QCOMPARE(data.rows[0].output.size(), text.size());
  }

  void refused_rows_are_counted_beyond_those_listed() {
    std::string content = R"([{"instruction":"a","output":"b"})";
    for (int i = 0; i < 30'000; ++i) content += ",1";
    const InstructionData data = read_instruction_data(write(content + "]"));
    QCOMPARE(data.report.refused_rows, 30'000);
    QCOMPARE(data.report.refused.size(), max_listed_rows);
  }

  void a_file_that_is_no_json_is_given_up_soon() {
    std::string content;
    for (int i = 0; i < 200'000; ++i) content += "Once upon a time there was a file.\n";
    try {
      read_instruction_data(write(content));
      QFAIL("it was read");
    } catch (const Error& error) {
      QVERIFY(error.message().find("1000 read") != std::string::npos);
    }
  }

  void every_prefix_of_a_file_ends_in_rows_or_an_error() {
    const std::string content =
        "{\"train\": [{\"instruction\":\"a\\u00e9\",\"input\":[],\"output\":\"é🦜\"},\n"
        "{\"instruction\":1.5e-3,\"x\":{\"y\":[true,null]},\"output\":\"b\\n\"}], \"n\": 2}";
    for (std::size_t length = 0; length <= content.size(); ++length) {
      const std::int64_t used = used_rows(content.substr(0, length));
      QVERIFY(used >= -1 && used <= 2);
    }
    QCOMPARE(used_rows(content), 2);
  }

  void changed_bytes_never_do_harm() {
    const std::vector<std::string> seeds = {
        R"([{"instruction":"a","input":"b","output":"c"},{"instruction":"d","output":"\ud83e\udd9c"},{"instruction":"f","output":0.5}])",
        "{\"instruction\":\"a\",\"output\":\"b\"}\r\n{\"instruction\":\"é\",\"input\":null,\"output\":\"d\"}"
        "\r\n",
        "{\"data\":[{\"prompt\":\"a\",\"completion\":\"b\"}],\"more\":[[[]]]}",
        std::string("\xFF\xFE[\0{\0\"\0a\0\"\0:\0\"\0b\0\"\0}\0]\0", 24),
    };
    const std::string alphabet = "{}[],:\"\\u0n1-e \n\r\t\xEF\xE6\xFF\x80";
    RandomStream random({.seed = 5, .use = RandomUse::test});
    for (int round = 0; round < 4000; ++round) {
      std::string content = seeds[random.next_below(seeds.size())];
      for (std::uint64_t change = random.next_below(6) + 1; change > 0; --change) {
        const std::size_t at = random.next_below(content.size());
        switch (random.next_below(4)) {
          case 0:
            content[at] = alphabet[random.next_below(alphabet.size())];
            break;
          case 1:
            content.erase(at, random.next_below(8));
            break;
          case 2:
            content.insert(at, 1, alphabet[random.next_below(alphabet.size())]);
            break;
          default:
            content.insert(at, content.substr(at / 2, random.next_below(20)));
            break;
        }
        if (content.empty()) content = " ";
      }
      if (const std::int64_t used = used_rows(content); used < -1) QFAIL(content.c_str());
    }
  }
};

QTEST_GUILESS_MAIN(TestInstructionReaderHostile)
#include "test_instruction_reader_hostile.moc"

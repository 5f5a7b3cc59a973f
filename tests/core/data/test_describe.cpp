// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <nlohmann/json.hpp>

#include "core/data/describe.h"
#include "tests/core/data/reading.h"

using namespace lorikeet;

/// `lorikeet inspect DATA` in one screen.
class TestDescribe : public QObject {
  Q_OBJECT
  test::DataFolder folder_;

 private slots:
  void a_file_is_described_with_its_first_row_and_what_is_read_as_what() {
    const Json found = describe_data(folder_.write(
        "question;answer;id\n\"" + std::string(158, 'q') + "éé\";\"two\nlines\";1\nb;c;2\n", "data.csv"));
    QCOMPARE(found["format"].get<std::string>(), std::string("Question and answer CSV (semicolons)"));
    QCOMPARE(found["confidence"].get<std::string>(), std::string("medium"));
    QCOMPARE(dump_json(found["read_as"]), std::string(R"({"instruction":"question","output":"answer"})"));
    QCOMPARE(found["columns"].get<std::string>(), std::string("question, answer, id"));
    QCOMPARE(found["first_row"]["instruction"].get<std::string>(), std::string(158, 'q') + "é ...");
    QCOMPARE(found["first_row"]["answer"].get<std::string>(), std::string("two lines"));
    QCOMPARE(found["used"].get<int>(), 2);
  }

  void refused_rows_stand_together_by_reason() {
    std::string content;
    for (int i = 0; i < 30; ++i) content += "{\"instruction\":\"a\",\"output\":\"\"}\n";
    content += "{\"instruction\":\"a\",\"output\":\"b\"}\n{\"output\":\"b\"}\n";
    const Json found = describe_data(folder_.write(content, "data.jsonl"));
    QCOMPARE(found["refused"].get<int>(), 31);
    const Json& notes = found["notes"];
    QCOMPARE(notes.at(notes.size() - 2).get<std::string>(),
             std::string("30 rows (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...): The answer is empty"));
    QCOMPARE(notes.back().get<std::string>(),
             std::string("Row 32: The instruction is missing (no column \"instruction\")"));
  }

  void any_number_of_reasons_fits_one_screen() {
    std::string content = "{\"instruction\":\"a\",\"output\":\"b\"}\n";
    for (int i = 0; i < 500; ++i) content += "{\"instruction\":\"a\xFF\",\"output\":\"b\"}\n";
    const Json found = describe_data(folder_.write(content, "data.jsonl"));
    QVERIFY(found["notes"].size() < 20);
    QVERIFY(found["notes"].back().get<std::string>().ends_with("more rows are refused for other reasons"));
  }

  void conversations_show_their_turns() {
    const Json found = describe_data(folder_.write(
        R"({"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]})", "data.json"));
    QCOMPARE(dump_json(found["first_row"]), std::string(R"({"1 user":"a","2 assistant":"b"})"));
    QCOMPARE(found["most_turns"].get<int>(), 2);
  }
};

QTEST_GUILESS_MAIN(TestDescribe)
#include "test_describe.moc"

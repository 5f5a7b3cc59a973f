// SPDX-License-Identifier: Apache-2.0
// Faults that other programs had with data sets, each with the number it has in our list. Those of Parquet
// files are in test_parquet.cpp (D25 to D27).
#include <QtTest>
#include <clocale>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/data/packing.h"
#include "core/train/run_folder.h"
#include "tests/core/data/reading.h"
#include "tests/support/byte_tokenizer.h"

using namespace lorikeet;

namespace {

PromptFormat plain_format() {
  return PromptFormat::choose(
      "none", "", "",
      std::make_shared<ByteTokenizer>(
          ByteTokenizer::Options{.specials = {"<s>", "</s>"}, .bos = "<s>", .eos = "</s>", .adds_bos = true}),
      {});
}

/// Ten rows of which four have 80 tokens, the others 32.
std::vector<InstructionRow> ten_rows() {
  std::vector<InstructionRow> rows;
  for (int i = 0; i < 10; ++i)
    rows.push_back({i + 1, std::string(10, 'q'), "", std::string(i < 4 ? 68 : 20, 'a')});
  return rows;
}

/// The locale of a machine that is not set up for UTF-8, while this lives.
class PlainLocale {
 public:
  PlainLocale() : before_(std::setlocale(LC_ALL, nullptr)) { std::setlocale(LC_ALL, "C"); }
  ~PlainLocale() { std::setlocale(LC_ALL, before_.c_str()); }

 private:
  std::string before_;
};

const std::string pair = R"({"instruction":"a","output":"b"})";
const std::string mark = "\xEF\xBB\xBF";

}  // namespace

class TestDataFaults : public QObject {
  Q_OBJECT
  test::DataFolder folder_;

 private slots:
  void D01_an_answer_that_is_an_object_is_refused_by_row_or_becomes_json() {
    const std::string content = "[" + pair + R"(, {"instruction":"c","output":{"x": null, "y": 8}}])";
    const InstructionData data = folder_.read(content, "x.json");
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
    QCOMPARE(test::refused_text(data),
             std::string("2:The answer is an object, not text (column \"output\")\n"));
    QCOMPARE(test::rows_text(folder_.read(content, "x.json", {.nested = NestedValues::json})),
             std::string("1:a||b\n2:c||{\"x\":null,\"y\":8}\n"));
    const std::string error = folder_.error_of(R"([{"instruction":"c","output":{"x":null}}])", "x.json");
    QVERIFY2(error.find("row 1: The answer is an object, not text (column \"output\")") != std::string::npos,
             error.c_str());
  }

  void D03_types_belong_to_a_row_and_not_to_a_column() {
    const InstructionData data = folder_.read(
        R"([{"instruction":"a","input":"","output":"1"},{"instruction":"b","input":"","output":"2"},)"
        R"({"instruction":"c","input":[],"output":"3"}])",
        "x.json");
    QCOMPARE(test::rows_text(data), std::string("1:a||1\n2:b||2\n3:c||3\n"));
  }

  void D04_numbers_become_the_text_that_is_written() {
    const InstructionData data = folder_.read(
        "{\"instruction\":\"a\",\"output\":0.5}\n{\"instruction\":\"b\",\"output\":\"-0.2253\"}", "x.jsonl");
    QCOMPARE(test::rows_text(data), std::string("1:a||0.5\n2:b||-0.2253\n"));
  }

  void D05_wrappers_and_single_objects_are_recognised_or_named() {
    for (const std::string& content :
         {"[" + pair + "]", "{\"data\":[" + pair + "]}", "{\"train\":[" + pair + "]}", pair})
      QCOMPARE(test::rows_text(folder_.read(content, "x.json")), std::string("1:a||b\n"));
    const std::string error = folder_.error_of("?" + pair, "x.json");
    QVERIFY2(error.find("byte 0") != std::string::npos && error.find("found '?'") != std::string::npos,
             error.c_str());
  }

  void D06_the_contents_decide_and_not_the_extension() {
    const InstructionData data = folder_.read("[" + pair + "]", "data.txt");
    QCOMPARE(data.report.format, std::string("Alpaca JSON"));
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
  }

  void D07_an_empty_or_cut_file_is_named_and_keeps_its_whole_rows() {
    const std::string error = folder_.error_of("", "nothing.json");
    QVERIFY2(error.find("The file is empty") != std::string::npos &&
                 error.find("nothing.json") != std::string::npos,
             error.c_str());
    const InstructionData data = folder_.read("[" + pair + "," + pair.substr(0, 20), "x.json");
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
    QCOMPARE(test::refused_text(data),
             std::string("2:The file breaks off inside this row, which begins at byte 34\n"));
  }

  void D08_a_byte_order_mark_is_no_part_of_the_first_column() {
    const InstructionData table = folder_.read(mark + "instruction,output\na,b\n", "x.csv");
    QCOMPARE(table.report.columns.front(), std::string("instruction"));
    for (const auto& data :
         {table, folder_.read(mark + "[" + pair + "]", "x.json"), folder_.read(mark + pair, "x.jsonl")})
      QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
  }

  void D09_text_is_utf8_whatever_the_locale() {
    const PlainLocale locale;
    for (const char* name : {"x.csv", "x.tsv"}) {
      const char delimiter = std::string(name) == "x.csv" ? ',' : '\t';
      const std::string content =
          std::string("instruction") + delimiter + "output\n问题" + delimiter + "🦜 ≤\n";
      QCOMPARE(test::rows_text(folder_.read(content, name)), std::string("1:问题||🦜 ≤\n"));
    }
    QCOMPARE(test::rows_text(folder_.read(R"({"instruction":"问题","output":"🦜"})", "x.jsonl")),
             std::string("1:问题||🦜\n"));
  }

  void D10_an_invalid_byte_refuses_its_row_and_utf16_is_converted() {
    const InstructionData data = folder_.read("\xE6" + pair + "\n" + pair, "x.jsonl");
    QCOMPARE(test::rows_text(data), std::string("2:a||b\n"));
    QVERIFY(test::refused_text(data).starts_with("1:Not valid JSON at byte 0"));
    const InstructionData inside =
        folder_.read("{\"instruction\":\"\xE6 x\",\"output\":\"b\"}\n" + pair, "x.jsonl");
    QCOMPARE(test::refused_text(inside), std::string("1:Not valid UTF-8 at byte 16\n"));
    std::string wide = "\xFF\xFE";
    for (const char c : pair) (wide += c) += '\0';
    QCOMPARE(test::rows_text(folder_.read(wide, "x.json")), std::string("1:a||b\n"));
  }

  void D11_a_carriage_return_belongs_to_no_field() {
    for (const char* end : {"\r\n", "\n", "\r"}) {
      const InstructionData data =
          folder_.read(std::string("instruction,output") + end + "a,b" + end, "x.csv");
      QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
      QVERIFY(data.report.columns == (std::vector<std::string>{"instruction", "output"}));
    }
  }

  void D12_empty_answers_are_counted_and_may_be_kept() {
    const std::string content = "instruction,output\na,\nb,\nc,\n";
    const std::string error = folder_.error_of(content, "x.csv");
    QVERIFY2(error.find("3 read, 3 with an empty answer") != std::string::npos, error.c_str());
    const InstructionData data = folder_.read(content, "x.csv", {.empty_answers = EmptyAnswers::keep});
    QCOMPARE(data.report.empty_answers, 3);
    const TokenisedData tokens = tokenise(data.rows, plain_format(), {});
    QCOMPARE(tokens.rows.size(), std::size_t{3});
    QCOMPARE(tokens.trained_tokens, 3);  // the end of each
  }

  void D15_events_are_utf8_whatever_the_locale_and_survive_one_by_one() {
    const PlainLocale locale;
    QTemporaryDir folder;
    auto run = RunFolder::create(folder.path().toStdString() + "/run", Job{});
    run.lock();
    run.append({{"type", "sample"}, {"step", 1}, {"prompt", "p"}, {"answer", "x ≤ y"}});
    QVERIFY(read_file(run.path() + "/events.jsonl").find("x ≤ y") != std::string::npos);
  }

  void D17_circles_of_parents_are_listed_and_followed_by_nobody() {
    const InstructionData own = folder_.read("id,parent_id,instruction,output\n1,1,a,b\n", "x.csv");
    QCOMPARE(own.report.used, 1);
    QVERIFY(test::has_warning(own, "The row is its own ancestor by parent_id: row 1"));
    const InstructionData two =
        folder_.read("id,parent_id,instruction,output\n1,2,a,b\n2,1,c,d\n3,1,e,f\n4,,g,h\n", "x.csv");
    QCOMPARE(two.report.used, 4);
    QVERIFY(test::has_warning(two, "The row is its own ancestor by parent_id: 2 rows, 1, 2"));
    const InstructionData tree =
        folder_.read("id,parent_id,instruction,output\n1,,a,b\n2,1,c,d\n3,1,e,f\n", "x.csv");
    QVERIFY(!test::has_warning(tree, "ancestor"));
  }

  void D21_what_was_read_is_known_by_path_and_hash() {
    const std::string path = folder_.write(pair, "x.json");
    const InstructionData data = read_instruction_data(path);
    QCOMPARE(data.path, path);
    QCOMPARE(data.sha256, sha256_file(path));
  }

  void D22_long_rows_are_counted_with_what_became_of_them() {
    const TokenisedData data =
        tokenise(ten_rows(), plain_format(), {.max_length = 64, .too_long = TooLong::drop});
    QCOMPARE(data.long_rows, 4);
    QCOMPARE(data.refused.size(), std::size_t{4});
    QCOMPARE(data.refused[0].reason, std::string("Longer than 64 tokens (80)"));
  }

  void D23_the_rows_kept_are_the_same_with_and_without_packing() {
    for (const TooLong policy : {TooLong::cut, TooLong::drop, TooLong::split}) {
      const TokenisedData data = tokenise(ten_rows(), plain_format(), {.max_length = 64, .too_long = policy});
      std::vector<std::vector<std::int64_t>> used(2);
      for (const bool packing : {false, true}) {
        const auto order = epoch_order(std::ssize(data.rows), 1, 0, true);
        for (const auto& batch : plan_batches(data.rows, order, 2, 64, packing).micro_batches)
          used[packing].insert(used[packing].end(), batch.begin(), batch.end());
        std::sort(used[packing].begin(), used[packing].end());
      }
      QVERIFY(used[0] == used[1]);
      QCOMPARE(used[0].size(), data.rows.size());
    }
  }

  void D24_a_cut_row_is_trained_with_exactly_as_many_tokens_as_fit() {
    const TokenisedData data =
        tokenise({ten_rows()[0]}, plain_format(), {.max_length = 64, .too_long = TooLong::cut});
    QCOMPARE(data.rows.size(), std::size_t{1});
    QCOMPARE(data.rows[0].ids.size(), std::size_t{64});
    QVERIFY(data.rows[0].trained_tokens > 0);
  }
};

QTEST_GUILESS_MAIN(TestDataFaults)
#include "test_data_faults.moc"

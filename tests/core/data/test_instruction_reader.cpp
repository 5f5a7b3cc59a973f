// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <clocale>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/data/dataset.h"
#include "kernels/base/error.h"

using namespace lorikeet;

namespace {

std::string utf16(const std::u16string& text, bool little, bool mark) {
  std::string bytes;
  const auto put = [&](char16_t unit) {
    const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    bytes += little ? low : high;
    bytes += little ? high : low;
  };
  if (mark) put(0xFEFF);
  for (const char16_t unit : text) put(unit);
  return bytes;
}

/// "instruction|input|output" of every row, one a line.
std::string rows_text(const InstructionData& data) {
  std::string text;
  for (const InstructionRow& row : data.rows) {
    text += std::to_string(row.number) + ":" + row.instruction + "|" + row.input + "|" + row.output + "\n";
  }
  return text;
}

std::string refused_text(const DataReport& report) {
  std::string text;
  for (const RefusedRow& row : report.refused) text += std::to_string(row.number) + ":" + row.reason + "\n";
  return text;
}

const std::string bom = "\xEF\xBB\xBF";
const std::string two_rows_array =
    R"([{"instruction":"a","input":"b","output":"c"},{"instruction":"d","output":"e"}])";
const std::string two_rows = "1:a|b|c\n2:d||e\n";

}  // namespace

class TestInstructionReader : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string write(const std::string& content, const char* name = "data.json") {
    const std::string path = folder_.path().toStdString() + "/" + name;
    write_file_atomically(path, content);
    return path;
  }
  InstructionData read(const std::string& content, const char* name = "data.json") {
    InstructionData data = read_instruction_data(write(content, name));
    const DataReport& report = data.report;
    if (report.read != report.used + report.refused_rows)
      throw std::logic_error("rows are missing from the report");
    if (std::ssize(report.refused) != report.refused_rows)
      throw std::logic_error("refused rows are not listed");
    return data;
  }
  std::string error_of(const std::string& content) {
    try {
      read(content);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private slots:
  void every_layout_gives_the_same_rows_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("format");
    const auto row = [](const char* name, const std::string& content, const char* format) {
      QTest::newRow(name) << QByteArray::fromStdString(content) << QString(format);
    };
    const std::string one = R"({"instruction":"a","input":"b","output":"c"})",
                      two = R"({"instruction":"d","output":"e"})";
    row("array", two_rows_array, "Alpaca JSON");
    row("array with byte order mark", bom + two_rows_array, "Alpaca JSON");
    row("array with a comma at its end", "[" + one + "," + two + ",]", "Alpaca JSON");
    row("array without a comma between rows", "[" + one + "\n" + two + "]", "Alpaca JSON");
    row("data wrapper", "{\"data\": " + two_rows_array + "}", "Alpaca JSON");
    row("train wrapper after other members", "{\"version\": [1,{\"x\":2}], \"train\":" + two_rows_array + "}",
        "Alpaca JSON");
    row("wrapper with a second list",
        "{\"train\":" + two_rows_array + ",\"test\":[{\"instruction\":\"]}\"}]}", "Alpaca JSON");
    row("two lists one after the other", "[" + one + "]\n[" + two + "]", "Alpaca JSON");
    row("JSONL", one + "\n" + two + "\n", "Alpaca JSONL");
    row("JSONL without a last line end", one + "\n" + two, "Alpaca JSONL");
    row("JSONL with byte order mark", bom + one + "\n" + two, "Alpaca JSONL");
    row("JSONL with CRLF", one + "\r\n" + two + "\r\n", "Alpaca JSONL");
    row("JSONL with lone CR", one + "\r" + two + "\r", "Alpaca JSONL");
    row("JSONL with blank lines", "\n\n" + one + "\n\n  \n" + two + "\n\n", "Alpaca JSONL");
    row("objects one after the other", one + two, "Alpaca JSONL");
    row("objects with commas between them", one + ",\n" + two + ",\n", "Alpaca JSONL");
    row("objects over many lines",
        "{\n  \"instruction\": \"a\",\n  \"input\": \"b\",\n  \"output\": \"c\"\n}\n{\n"
        "  \"instruction\": \"d\",\n  \"output\": \"e\"\n}\n",
        "Alpaca JSONL");
    row("input null", "[" + one + R"(,{"instruction":"d","input":null,"output":"e"}])", "Alpaca JSON");
    row("input an empty list", "[" + one + R"(,{"instruction":"d","input":[],"output":"e"}])", "Alpaca JSON");
    row("input NaN as Python writes it", "[" + one + R"(,{"instruction":"d","input":NaN,"output":"e"}])",
        "Alpaca JSON");
    row("more columns",
        "[" + one + R"(,{"id":7,"instruction":"d","output":"e","tags":["x",{"y":[]}],"f":-1.5e3}])",
        "Alpaca JSON");
    row("a repeated key: the last counts",
        "[" + one + R"(,{"instruction":"x","instruction":"d","output":"e"}])", "Alpaca JSON");
    row("escapes",
        R"([{"instruction":"\u0061","input":"b","output":"c"},{"instruction":"d","output":"\u0065"}])",
        "Alpaca JSON");
    std::u16string wide(two_rows_array.begin(), two_rows_array.end());
    row("UTF-16 little endian", utf16(wide, true, true), "Alpaca JSON");
    row("UTF-16 big endian", utf16(wide, false, true), "Alpaca JSON");
    row("UTF-16 without a mark", utf16(wide, true, false), "Alpaca JSON");
  }
  void every_layout_gives_the_same_rows() {
    QFETCH(QByteArray, content);
    QFETCH(QString, format);
    const InstructionData data = read(content.toStdString());
    QCOMPARE(rows_text(data), two_rows);
    QCOMPARE(QString::fromStdString(data.report.format), format);
    QCOMPARE(data.report.refused_rows, 0);
    QCOMPARE(data.report.bytes, content.size());
    QCOMPARE(data.sha256, sha256_hex(content.toStdString()));
  }

  void the_name_of_the_file_does_not_matter_and_a_single_object_is_a_row() {
    QCOMPARE(rows_text(read(two_rows_array, "data.txt")), two_rows);
    QCOMPARE(rows_text(read(R"({"instruction":"a","output":"c"})", "one.csv")), std::string("1:a||c\n"));
  }

  void a_row_that_holds_lists_is_no_wrapper() {
    const InstructionData data = read(R"({"instruction":"a","examples":[{"x":1}],"output":"c"})");
    QCOMPARE(rows_text(data), std::string("1:a||c\n"));
  }

  void an_answer_that_is_an_object_is_refused_and_the_others_stay() {
    const InstructionData data =
        read(R"([{"instruction":"a","output":"b"},{"instruction":"a","output":{"x": null, "y": 8}}])");
    QCOMPARE(data.report.used, 1);
    QCOMPARE(refused_text(data.report),
             std::string("2:The answer is an object, not text (column \"output\")\n"));
  }

  void types_are_checked_row_by_row() {
    const InstructionData data = read(
        R"([{"instruction":"a","input":"","output":"1"},{"instruction":"b","input":"","output":"2"},)"
        R"({"instruction":"c","input":[],"output":"3"},{"instruction":"d","input":["x"],"output":"4"}])");
    QCOMPARE(data.report.used, 3);
    QCOMPARE(refused_text(data.report), std::string("4:The input is a list, not text (column \"input\")\n"));
  }

  void numbers_become_text_exactly_as_written() {
    const InstructionData data = read(
        "{\"instruction\":\"a\",\"output\":0.5}\n{\"instruction\":\"a\",\"output\":\"-0.2253\"}\n"
        "{\"instruction\":1e400,\"input\":12345678901234567890123,\"output\":-0.10}\n"
        "{\"instruction\":true,\"output\":false}");
    QCOMPARE(rows_text(data), std::string("1:a||0.5\n2:a||-0.2253\n3:1e400|12345678901234567890123|-0.10\n"
                                          "4:true||false\n"));
  }

  void text_is_kept_byte_for_byte_whatever_the_locale() {
    const char* before = std::setlocale(LC_ALL, nullptr);
    const std::string kept = before ? before : "C";
    std::setlocale(LC_ALL, "C");
    const InstructionData data =
        read(R"([{"instruction":"问题 ≤ 🦜","output":"\u4f60\ud83e\udd9c é\t\n\/"}])");
    std::setlocale(LC_ALL, kept.c_str());
    QCOMPARE(rows_text(data), std::string("1:问题 ≤ 🦜||你🦜 é\t\n/\n"));
    QCOMPARE(rows_text(read(utf16(u"[{\"instruction\":\"问 🦜\",\"output\":\"é\"}]", true, true))),
             std::string("1:问 🦜||é\n"));
  }

  void an_invalid_byte_refuses_its_row_only_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("reason");
    const std::string good = R"({"instruction":"a","output":"b"})";
    const auto row = [](const char* name, const std::string& content, const char* reason) {
      QTest::newRow(name) << QByteArray::fromStdString(content) << QString(reason);
    };
    row("in a text", "{\"instruction\":\"a\xE6z\",\"output\":\"b\"}\n" + good,
        "1:Not valid UTF-8 at byte 17\n");
    row("in another column", "{\"x\":\"\xC0\x80\",\"instruction\":\"a\",\"output\":\"b\"}\n" + good,
        "1:Not valid UTF-8 at byte 6\n");
    row("at the start of a line", "\xE6{\"instruction\":\"a\",\"output\":\"b\"}\n" + good,
        "1:Not valid JSON at byte 0: a value was expected, found byte 0xE6 (not valid UTF-8)\n");
    row("in a list", "[{\"instruction\":\"a\xFF\",\"output\":\"b\"}," + good + "]",
        "1:Not valid UTF-8 at byte 18\n");
    row("half of a pair, escaped", R"([{"instruction":"a","output":"\ud83e"},)" + good + "]",
        "1:The answer holds half of a surrogate pair, which is no character\n");
  }
  void an_invalid_byte_refuses_its_row_only() {
    QFETCH(QByteArray, content);
    QFETCH(QString, reason);
    const InstructionData data = read(content.toStdString());
    QCOMPARE(rows_text(data), std::string("2:a||b\n"));
    QCOMPARE(QString::fromStdString(refused_text(data.report)), reason);
  }

  void half_of_a_pair_in_utf16_refuses_its_row() {
    std::u16string text =
        u"[{\"instruction\":\"a?\",\"output\":\"b\"},{\"instruction\":\"a\",\"output\":\"b\"}]";
    text[text.find(u'?')] = 0xD83E;
    const InstructionData data = read(utf16(text, true, true));
    QCOMPARE(rows_text(data), std::string("2:a||b\n"));
    QVERIFY(refused_text(data.report).starts_with("1:Not valid UTF-8"));
    QVERIFY(std::find(data.report.warnings.begin(), data.report.warnings.end(), "Converted from UTF-16") !=
            data.report.warnings.end());
  }

  void a_broken_row_is_refused_and_the_next_is_found_data() {
    QTest::addColumn<QByteArray>("bad");
    QTest::newRow("raw line break") << QByteArray("{\"instruction\":\"a\nb\",\"output\":\"c\"}");
    QTest::newRow("unclosed text") << QByteArray("{\"instruction\":\"a,\"output\":\"c\"}");
    QTest::newRow("unclosed answer") << QByteArray("{\"instruction\":\"a\",\"output\":\"c}");
    QTest::newRow("no closing brace") << QByteArray("{\"instruction\":\"a\",\"output\":\"c\"");
    QTest::newRow("single quotes") << QByteArray("{'instruction':'a','output':'c'}");
    QTest::newRow("unknown escape") << QByteArray("{\"instruction\":\"\\x\",\"output\":\"c\"}");
    QTest::newRow("bad number") << QByteArray("{\"instruction\":01,\"output\":\"c\"}");
    QTest::newRow("too deep") << QByteArray("{\"x\":" + QByteArray(200, '[') + QByteArray(200, ']') + "}");
    QTest::newRow("a number") << QByteArray("17");
    QTest::newRow("a text") << QByteArray("\"a},{\"");
    QTest::newRow("null") << QByteArray("null");
    QTest::newRow("a list") << QByteArray("[{\"instruction\":\"a\",\"output\":\"c\"}]");
    QTest::newRow("no instruction") << QByteArray("{\"input\":\"a\",\"output\":\"c\"}");
    QTest::newRow("empty instruction") << QByteArray("{\"instruction\":\" \",\"output\":\"c\"}");
    QTest::newRow("empty object") << QByteArray("{}");
  }
  void a_broken_row_is_refused_and_the_next_is_found() {
    QFETCH(QByteArray, bad);
    const std::string good = R"({"instruction":"a","output":"b"})";
    const std::string expected = "1:a||b\n3:a||b\n4:a||b\n";
    const std::string middle = bad.toStdString();
    InstructionData data = read("[" + good + ",\n" + middle + ",\n" + good + ",\n" + good + "]");
    QCOMPARE(rows_text(data), expected);
    QCOMPARE(data.report.refused.front().number, 2);
    data = read("[" + good + "," + middle + "," + good + "," + good + "]");
    QCOMPARE(rows_text(data), expected);
    data = read(good + "\n" + middle + "\n" + good + "\n" + good);
    QCOMPARE(rows_text(data), expected);
  }

  void rows_without_an_answer_are_counted() {
    const std::string content =
        R"([{"instruction":"a","output":""},{"instruction":"a","output":" \n"},{"instruction":"a","output":null},)"
        R"({"instruction":"a"},{"instruction":"a","output":"b"}])";
    const InstructionData data = read(content);
    QCOMPARE(data.report.empty_answers, 3);
    QCOMPARE(data.report.refused_rows, 4);
    QCOMPARE(refused_text(data.report),
             std::string("1:The answer is empty\n2:The answer is only white space\n3:The answer is empty\n"
                         "4:The answer is missing (no column \"output\")\n"));
  }

  void equal_rows_are_counted_and_kept() {
    const InstructionData data = read("[" + two_rows_array.substr(1, two_rows_array.size() - 2) + "," +
                                      two_rows_array.substr(1, two_rows_array.size() - 2) + "]");
    QCOMPARE(data.report.duplicates, 2);
    QCOMPARE(data.report.used, 4);
  }

  void a_file_that_breaks_off_keeps_the_rows_before_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("in a text") << QByteArray(
        "[{\"instruction\":\"a\",\"output\":\"b\"},{\"instruction\":\"a\",\"outp");
    QTest::newRow("after a backslash")
        << QByteArray("[{\"instruction\":\"a\",\"output\":\"b\"},{\"instruction\":\"a\\");
    QTest::newRow("in a literal") << QByteArray(R"([{"instruction":"a","output":"b"},{"instruction":tru)");
    QTest::newRow("in JSONL") << QByteArray("{\"instruction\":\"a\",\"output\":\"b\"}\n{\"instruction\":");
    QTest::newRow("in a character") << QByteArray(
        "[{\"instruction\":\"a\",\"output\":\"b\"},{\"instruction\":\"\xF0\x9F");
  }
  void a_file_that_breaks_off_keeps_the_rows_before() {
    QFETCH(QByteArray, content);
    const InstructionData data = read(content.toStdString());
    QCOMPARE(rows_text(data), std::string("1:a||b\n"));
    QVERIFY(refused_text(data.report)
                .starts_with("2:The file breaks off inside this row, which begins at byte 3"));
  }

  void a_list_that_is_not_closed_is_said() {
    const InstructionData data = read(R"([{"instruction":"a","output":"b"},)");
    QCOMPARE(data.report.read, 1);
    QCOMPARE(data.report.warnings.size(), std::size_t{1});
    QVERIFY(data.report.warnings[0].find("breaks off after 1 rows (byte 34)") != std::string::npos);
  }

  void other_column_names_are_taken_when_only_one_is_there_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("rows");
    QTest::addColumn<int>("warnings");
    QTest::newRow("prompt and completion") << QByteArray(R"([{"prompt":"a","completion":"b"}])") << "1:a||b\n"
                                           << 2;
    QTest::newRow("Dolly") << QByteArray(
                                  R"([{"instruction":"a","context":"x","response":"b","category":"c"}])")
                           << "1:a|x|b\n"
                           << 2;
    QTest::newRow("question and answer")
        << QByteArray(R"([{"question":"a","answer":"b"},{"question":"c","answer":"d"}])")
        << "1:a||b\n2:c||d\n"
        << 2;
    QTest::newRow("input and output alone")
        << QByteArray(R"([{"input":"a","output":"b"},{"input":"c","output":"d"}])") << "1:a||b\n2:c||d\n"
        << 1;
    QTest::newRow("the standard name wins")
        << QByteArray(R"([{"instruction":"a","prompt":"z","output":"b"}])") << "1:a||b\n"
        << 0;
    QTest::newRow("two would do, but one row is clear")
        << QByteArray(R"([{"instruction":"a","response":"x","answer":"y"},{"instruction":"a","output":"b"}])")
        << "2:a||b\n"
        << 1;
    QTest::newRow("not after the standard name was there")
        << QByteArray(R"([{"instruction":"a","output":"b"},{"instruction":"a","response":"z"}])")
        << "1:a||b\n"
        << 0;
  }
  void other_column_names_are_taken_when_only_one_is_there() {
    QFETCH(QByteArray, content);
    QFETCH(QString, rows);
    QFETCH(int, warnings);
    const InstructionData data = read(content.toStdString());
    QCOMPARE(QString::fromStdString(rows_text(data)), rows);
    QCOMPARE(static_cast<int>(data.report.warnings.size()), warnings);
  }

  void columns_are_listed_in_the_order_they_are_met() {
    const InstructionData data =
        read(R"([{"b":1,"instruction":"a","output":"b"},{"c":1,"b":2,"instruction":"a","output":"b"}])");
    const std::vector<std::string> expected = {"b", "instruction", "output", "c"};
    QVERIFY(data.report.columns == expected);
  }

  void a_file_without_a_usable_row_says_what_and_where_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("part");
    const auto row = [](const char* name, const std::string& content, const char* part) {
      QTest::newRow(name) << QByteArray::fromStdString(content) << QString(part);
    };
    row("no byte", "", "The file is empty");
    row("a mark only", bom, "The file is empty");
    row("white space", " \n ", "The file holds no rows");
    row("an empty list", "[]", "The file holds no rows");
    row("an empty wrapper", "{\"data\":[]}", "The file holds no rows");
    row("empty answers",
        R"([{"instruction":"a","output":""},{"instruction":"b","output":""},{"instruction":"c","output":""}])",
        "3 read, 3 with an empty answer; row 1: The answer is empty");
    row("a missing column", R"([{"instruction":"a","text":"b"}])",
        "The answer is missing (no column \"output\"): ");
    row("the columns found", R"([{"title":"a","body":"b"}])", "Columns found: title, body. Expected rows");
    row("plain text", "Once upon a time\nthere was\n", "found 'O'");
    row("a conversation without an answer", R"([{"messages":[{"role":"user","content":"x"}]}])",
        "No turn of the conversation is an answer");
    row("UTF-32", std::string("\xFF\xFE\0\0[\0\0\0", 8), "UTF-32");
  }
  void a_file_without_a_usable_row_says_what_and_where() {
    QFETCH(QByteArray, content);
    QFETCH(QString, part);
    const QString error = QString::fromStdString(error_of(content.toStdString()));
    QVERIFY2(error.contains(part), qPrintable(error));
    QVERIFY2(error.contains("/data.json"), qPrintable(error));
  }

  void a_missing_file_and_a_folder_are_errors() {
    QVERIFY_EXCEPTION_THROWN(read_instruction_data(folder_.path().toStdString() + "/nothing.json"), Error);
    QVERIFY_EXCEPTION_THROWN(read_instruction_data(folder_.path().toStdString()), Error);
  }

  void reading_can_be_stopped() {
    std::stop_source stop;
    stop.request_stop();
    try {
      read_instruction_data(write(two_rows_array), stop.get_token());
      QFAIL("it was read");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::cancelled);
    }
  }
};

QTEST_GUILESS_MAIN(TestInstructionReader)
#include "test_instruction_reader.moc"

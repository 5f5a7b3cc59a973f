// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "kernels/base/random.h"
#include "tests/core/data/reading.h"

using namespace lorikeet;

/// CSV, TSV and plain text.
class TestTables : public QObject {
  Q_OBJECT
  test::DataFolder folder_;

 private slots:
  void every_dialect_gives_the_same_rows_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("format");
    const auto row = [](const char* title, const char* name, const std::string& content, const char* format) {
      QTest::newRow(title) << QByteArray::fromStdString(content) << QString(name) << QString(format);
    };
    const std::string lf = "instruction,input,output\na,b,c\nd,,e\n";
    const auto with = [&](const std::string& from, const std::string& to) {
      std::string text = lf;
      for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
      return text;
    };
    row("LF", "data.csv", lf, "Alpaca CSV");
    row("CRLF", "data.csv", with("\n", "\r\n"), "Alpaca CSV");
    row("lone CR", "data.csv", with("\n", "\r"), "Alpaca CSV");
    row("no line end at the end", "data.csv", lf.substr(0, lf.size() - 1), "Alpaca CSV");
    row("a carriage return at the very end", "data.csv", lf.substr(0, lf.size() - 1) + "\r", "Alpaca CSV");
    row("byte order mark", "data.csv", "\xEF\xBB\xBF" + lf, "Alpaca CSV");
    row("blank lines", "data.csv", "\n" + with("\n", "\n\n"), "Alpaca CSV");
    row("a delimiter at every end", "data.csv", with("\n", ",\n"), "Alpaca CSV");
    row("tabs", "data.tsv", with(",", "\t"), "Alpaca TSV");
    row("semicolons", "data.csv", with(",", ";"), "Alpaca CSV (semicolons)");
    row("bars", "data.csv", with(",", "|"), "Alpaca CSV (bars)");
    row("quotes", "data.csv", "\"instruction\",\"input\",\"output\"\n\"a\",\"b\",\"c\"\n\"d\",\"\",\"e\"\n",
        "Alpaca CSV");
    row("blanks around names", "data.csv", "instruction , input, output\na,b,c\nd,,e\n", "Alpaca CSV");
    row("a name that promises nothing", "data", lf, "Alpaca CSV");
    row("a name that promises JSON", "data.json", lf, "Alpaca CSV");
  }
  void every_dialect_gives_the_same_rows() {
    QFETCH(QByteArray, content);
    QFETCH(QString, name);
    QFETCH(QString, format);
    const InstructionData data = folder_.read(content.toStdString(), name.toStdString());
    QCOMPARE(test::rows_text(data), std::string("1:a|b|c\n2:d||e\n"));
    QCOMPARE(QString::fromStdString(data.report.format), format);
    QCOMPARE(data.report.refused_rows, 0);
  }

  void quoted_fields_keep_delimiters_line_breaks_and_doubled_quotes() {
    const InstructionData data = folder_.read(
        "instruction,output\n\"a, \"\"b\"\"\",\"one\ntwo\r\n\n\"\"\"\n\"\"\"\"\"\",c\n", "data.csv");
    QCOMPARE(test::rows_text(data), std::string("1:a, \"b\"||one\ntwo\r\n\n\"\n2:\"\"||c\n"));
  }

  void other_names_of_columns_count_in_tables_too() {
    QCOMPARE(test::rows_text(folder_.read("Question;Answer\na;b\n", "x.csv")), std::string("1:a||b\n"));
    const InstructionData conversation = folder_.read(
        "messages\n\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"a\"\"},"
        "{\"\"role\"\":\"\"assistant\"\",\"\"content\"\":\"\"b\"\"}]\"\n",
        "x.csv");
    QCOMPARE(test::rows_text(conversation), std::string("1:user=a;assistant=b\n"));
  }

  void broken_lines_are_refused_by_number_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QString>("reason");
    QTest::newRow("too few") << QByteArray("x") << "2:The row has 1 fields, the first line names 2";
    QTest::newRow("too many") << QByteArray("x,y,z") << "2:The row has 3 fields, the first line names 2";
    QTest::newRow("text behind a quote")
        << QByteArray("\"x\" y,z") << "2:Text stands behind the closing quote of field 1";
    QTest::newRow("not UTF-8") << QByteArray("x\xE6,y") << "2:Not valid UTF-8 at byte 24";
    QTest::newRow("no answer") << QByteArray("x,") << "2:The answer is empty";
  }
  void broken_lines_are_refused_by_number() {
    QFETCH(QByteArray, line);
    QFETCH(QString, reason);
    const InstructionData data =
        folder_.read("instruction,output\na,b\n" + line.toStdString() + "\nc,d\n", "data.csv");
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n3:c||d\n"));
    QCOMPARE(QString::fromStdString(test::refused_text(data)), reason + "\n");
  }

  void a_quote_that_is_never_closed_refuses_its_line_alone() {
    const InstructionData data = folder_.read("instruction,output\na,b\n\"x,y\nc,d\n", "data.csv");
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n3:c||d\n"));
    QCOMPARE(test::refused_text(data),
             std::string("2:A quote in the row that begins at byte 23 is never closed\n"));
  }

  void a_table_with_unknown_columns_names_them_and_takes_a_choice() {
    const std::string content = "frage,antwort,id\na,b,1\n";
    const std::string error = folder_.error_of(content, "data.csv");
    QVERIFY2(error.find("Columns found: frage, antwort, id") != std::string::npos, error.c_str());
    const InstructionData data =
        folder_.read(content, "data.csv", {.columns = "instruction=frage, output=\"antwort\""});
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n"));
    QCOMPARE(data.report.confidence, std::string("chosen"));
  }

  void words_for_a_missing_value_are_kept_and_told() {
    const InstructionData data = folder_.read("instruction,output\na,NaN\nb,None\nc,d\n", "data.csv");
    QCOMPARE(data.report.used, 3);
    QVERIFY(test::has_warning(data, "The answer is the word for a missing value: 2 rows, 1, 2"));
  }

  void documents_of_a_text_end_at_a_blank_line_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("LF") << QByteArray("one\ntwo\n\nthree\n");
    QTest::newRow("CRLF") << QByteArray("one\r\ntwo\r\n\r\nthree");
    QTest::newRow("lone CR") << QByteArray("one\rtwo\r\rthree\r");
    QTest::newRow("many blank lines") << QByteArray("\n \n\none\ntwo\n\t\n\n\nthree\n\n\n");
    QTest::newRow("byte order mark") << QByteArray("\xEF\xBB\xBFone\ntwo\n\nthree");
  }
  void documents_of_a_text_end_at_a_blank_line() {
    QFETCH(QByteArray, content);
    const InstructionData data = folder_.read(content.toStdString(), "story.txt");
    QCOMPARE(test::rows_text(data), std::string("1:one\ntwo\n2:three\n"));
    QCOMPARE(data.report.format, std::string("Plain text"));
    QVERIFY(data.rows[0].kind == RowKind::text);
  }

  void a_text_may_begin_with_a_bracket_and_bytes_are_no_text() {
    QCOMPARE(test::rows_text(folder_.read("[Chapter one] once\n\nmore", "story.txt")),
             std::string("1:[Chapter one] once\n2:more\n"));
    const std::string error =
        folder_.error_of(std::string("\x7F\x45LF\x02\x01\0\0\0\x80\x81", 11), "story.txt");
    QVERIFY2(error.find("neither text nor a known format") != std::string::npos, error.c_str());
  }

  void a_document_larger_than_64_mb_is_refused_and_the_next_is_read() {
    const std::string line(1000, 'x');
    std::string content = "first\n\n";
    while (content.size() < (std::size_t{65} << 20)) content += line + "\n";
    const InstructionData data = folder_.read(content + "\nlast\n", "story.txt");
    QCOMPARE(test::rows_text(data), std::string("1:first\n3:last\n"));
    QCOMPARE(test::refused_text(data), std::string("2:The row is larger than 64 MB\n"));
  }

  void changed_bytes_never_do_harm() {
    const std::vector<std::string> seeds = {
        "instruction,input,output\r\n\"a, \"\"b\"\"\",,c\r\nd,\"e\nf\",g\r\n",
        "text\tid\none two\t1\n\"three\nfour\"\t2\n",
        "Once upon a time\n\nthere was\r\n\r\na parrot.\n",
    };
    const std::string alphabet = "\"\",;\t|\n\r a\xEF\xFF";
    RandomStream random({.seed = 7, .use = RandomUse::test});
    for (int round = 0; round < 4000; ++round) {
      std::string content = seeds[random.next_below(seeds.size())];
      for (std::uint64_t change = random.next_below(6) + 1; change > 0; --change) {
        const std::size_t at = random.next_below(content.size());
        if (random.next_below(2) == 0)
          content[at] = alphabet[random.next_below(alphabet.size())];
        else if (random.next_below(2) == 0)
          content.insert(at, 1, alphabet[random.next_below(alphabet.size())]);
        else
          content.resize(std::max<std::size_t>(at, 1));
      }
      const std::string error = folder_.error_of(content, random.next_below(2) == 0 ? "x.csv" : "x.txt");
      QVERIFY2(error == "no error" || error.find(folder_.write("", "y").substr(0, 5)) != std::string::npos,
               error.c_str());
    }
  }
};

QTEST_GUILESS_MAIN(TestTables)
#include "test_tables.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstdlib>

#include "core/data/known_columns.h"
#include "core/data/messages.h"
#include "tests/core/data/reading.h"

using namespace lorikeet;

/// What the columns of a row mean, and conversations.
class TestRowShapes : public QObject {
  Q_OBJECT
  test::DataFolder folder_;

  InstructionData read(const std::string& content, const ReadOptions& options = {}) const {
    return folder_.read(content, "data.jsonl", options);
  }

 private slots:
  void shapes_are_recognised_with_a_confidence_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("shape");
    QTest::addColumn<QString>("confidence");
    QTest::addColumn<QString>("rows");
    const auto row = [](const char* name, const char* content, const char* shape, const char* confidence,
                        const char* rows) {
      QTest::newRow(name) << QByteArray(content) << QString(shape) << QString(confidence) << QString(rows);
    };
    row("Alpaca", R"({"instruction":"a","input":"b","output":"c"})", "Alpaca", "high", "1:a|b|c\n");
    row("Alpaca with a ready text", R"({"instruction":"a","input":"","output":"c","text":"a c"})", "Alpaca",
        "high", "1:a||c\n");
    row("Alpaca with a system text", R"({"instruction":"a","input":"b","output":"c","system":"s"})", "Alpaca",
        "high", "1:system=s;user=a\n\nb;assistant=c\n");
    row("Alpaca with a history", R"({"instruction":"a","output":"c","history":[["x","y"],["z",""]]})",
        "Alpaca", "high", "1:user=x;assistant=y;user=z;assistant=;user=a;assistant=c\n");
    row("an empty history", R"({"instruction":"a","output":"c","history":[],"system":""})", "Alpaca", "high",
        "1:a||c\n");
    row("Dolly", R"({"instruction":"a","context":"b","response":"c","category":"qa"})", "Dolly", "high",
        "1:a|b|c\n");
    row("prompt and completion", R"({"prompt":"a","completion":"b"})", "Prompt and completion", "medium",
        "1:a||b\n");
    row("question and answer", R"({"question":"a","answer":"b"})", "Question and answer", "medium",
        "1:a||b\n");
    row("OpenOrca", R"({"id":"1","system_prompt":"s","question":"a","response":"b"})", "Question and answer",
        "medium", "1:system=s;user=a;assistant=b\n");
    row("ShareGPT",
        R"({"id":"1","conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}],"system":"s"})",
        "ShareGPT", "high", "1:system=s;user=a;assistant=b\n");
    row("OpenAI messages",
        R"({"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})",
        "OpenAI messages", "high", "1:system=s;user=a;assistant=b\n");
    row("messages beside a prompt",
        R"({"prompt":"a","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})",
        "OpenAI messages", "high", "1:user=a;assistant=b\n");
    row("prompt and completion as lists of turns",
        R"({"prompt":[{"role":"user","content":"a"}],"completion":[{"role":"assistant","content":"b"}]})",
        "Prompt and completion", "medium", "1:user=a;assistant=b\n");
    row("a list of turns and an answer", R"({"prompt":[{"role":"user","content":"a"}],"completion":"b"})",
        "Prompt and completion", "medium", "1:user=a;assistant=b\n");
    row("text", R"({"text":"a"})", "Text", "high", "1:a\n");
    row("two shapes in one file", "{\"text\":\"a\"}\n{\"instruction\":\"b\",\"output\":\"c\"}", "Alpaca",
        "low", "1:a\n2:b||c\n");
    row("half of the rows are of use", "{\"x\":1}\n{\"x\":1}\n{\"text\":\"a\"}", "Text", "low", "3:a\n");
  }
  void shapes_are_recognised_with_a_confidence() {
    QFETCH(QByteArray, content);
    QFETCH(QString, shape);
    QFETCH(QString, confidence);
    QFETCH(QString, rows);
    const InstructionData data = read(content.toStdString());
    QCOMPARE(QString::fromStdString(test::rows_text(data)), rows);
    QCOMPARE(QString::fromStdString(data.report.shape), shape);
    QCOMPARE(QString::fromStdString(data.report.confidence), confidence);
  }

  void role_words_are_mapped_and_unknown_ones_refused_by_row() {
    const std::vector<std::pair<const char*, const char*>> words = {{"human", "user"},
                                                                    {"Human", "user"},
                                                                    {"user", "user"},
                                                                    {"prompter", "user"},
                                                                    {"gpt", "assistant"},
                                                                    {"GPT", "assistant"},
                                                                    {"assistant", "assistant"},
                                                                    {"model", "assistant"},
                                                                    {"chatgpt", "assistant"},
                                                                    {"bing", "assistant"},
                                                                    {"system", "system"},
                                                                    {"developer", "system"},
                                                                    {"tool", "tool"},
                                                                    {"function", "tool"},
                                                                    {"observation", "tool"},
                                                                    {"function_call", "assistant"},
                                                                    {"alien", ""},
                                                                    {"", ""}};
    for (const auto& [word, role] : words) QCOMPARE(standard_role(word), std::string_view(role));
    const InstructionData data =
        read(R"({"messages":[{"role":"alien","content":"a"},{"role":"assistant","content":"b"}]})"
             "\n"
             R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})");
    QCOMPARE(test::refused_text(data),
             std::string("1:Turn 1 has the role \"alien\", which is none of system, user, "
                         "assistant and tool\n"));
  }

  void contents_of_turns_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QString>("expected");
    QTest::newRow("a text") << QByteArray(R"("content":"b")") << "1:user=a;assistant=b\n";
    QTest::newRow("escapes") << QByteArray(R"("content":"b\n\u00e9")") << "1:user=a;assistant=b\né\n";
    QTest::newRow("a number") << QByteArray(R"("content":7)") << "1:user=a;assistant=7\n";
    QTest::newRow("parts") << QByteArray(
                                  R"("content":[{"type":"text","text":"b"},{"type":"text","value":"c"},"d"])")
                           << "1:user=a;assistant=bcd\n";
    QTest::newRow("null beside calls of tools")
        << QByteArray(R"("content":null,"tool_calls":[ {"function": {"name": "f g"} } ])")
        << "1:user=a;assistant=[{\"function\":{\"name\":\"f g\"}}]\n";
    QTest::newRow("null alone") << QByteArray(R"("content":null)") << "The answer is empty";
    QTest::newRow("white space") << QByteArray(R"("content":" \n")") << "The answer is only white space";
    QTest::newRow("none") << QByteArray(R"("name":"x")") << "Turn 2 has no content";
    QTest::newRow("an object") << QByteArray(R"("content":{"x":1})") << "Turn 2 is an object, not text";
    QTest::newRow("a picture") << QByteArray(R"("content":[{"type":"image_url","image_url":{}}])")
                               << "Turn 2 holds a part that is no text (image_url)";
    QTest::newRow("half of a pair") << QByteArray(R"("content":"\ud83e")")
                                    << "Turn 2 holds half of a surrogate pair, which is no character";
  }
  void contents_of_turns() {
    QFETCH(QByteArray, answer);
    QFETCH(QString, expected);
    const std::string bad =
        R"({"messages":[{"role":"user","content":"a"},{"role":"assistant",)" + answer.toStdString() + "}]}";
    const InstructionData data = read(bad + "\n{\"text\":\"x\"}");
    const std::string found = data.rows.size() == 2 ? test::rows_text(data) : test::refused_text(data);
    const std::string wanted =
        data.rows.size() == 2 ? expected.toStdString() + "2:x\n" : "1:" + expected.toStdString() + "\n";
    QCOMPARE(found, wanted);
  }

  void what_is_no_conversation_is_refused_with_its_reason_data() {
    QTest::addColumn<QByteArray>("messages");
    QTest::addColumn<QString>("reason");
    QTest::newRow("no answer") << QByteArray(R"([{"role":"user","content":"a"}])")
                               << "No turn of the conversation is an answer (role assistant)";
    QTest::newRow("empty") << QByteArray("[]") << "The conversation is empty";
    QTest::newRow("no objects") << QByteArray("[1]") << "Turn 1 is no object with a role and a content";
    QTest::newRow("no role") << QByteArray(R"([{"content":"a"}])") << "Turn 1 has no role";
    QTest::newRow("null") << QByteArray("null") << "The column \"messages\" is missing or no list of turns";
    QTest::newRow("a text that is no list")
        << QByteArray("\"[1,\"") << "The conversation is a text that is no JSON list";
  }
  void what_is_no_conversation_is_refused_with_its_reason() {
    QFETCH(QByteArray, messages);
    QFETCH(QString, reason);
    const InstructionData data =
        read(R"({"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]})"
             "\n{\"messages\":" +
             messages.toStdString() + "}");
    QCOMPARE(QString::fromStdString(test::refused_text(data)), "2:" + reason + "\n");
  }

  void what_a_conversation_holds_besides_is_told() {
    const InstructionData data = read(
        R"({"tools":[{"name":"f"}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]})");
    QVERIFY(test::has_warning(data, "The list of tools is not shown to the model: row 1"));
    QVERIFY(test::has_warning(data, "The turns behind the last answer are not trained: row 1"));
    QCOMPARE(data.rows[0].tools, std::string(R"([{"name":"f"}])"));
    QCOMPARE(data.rows[0].instruction, std::string("a"));
    QCOMPARE(data.rows[0].output, std::string("b"));
  }

  void a_conversation_may_be_a_list_of_roles_and_a_list_of_contents() {
    const InstructionData data = read(
        "{\"conversations\":{\"from\":[\"human\",\"gpt\"],\"value\":[\"a\",\"b\"]}}\n"
        "{\"conversations\":{\"from\":[\"human\"],\"value\":[\"a\",\"b\"]}}\n"
        "{\"conversations\":{\"from\":[\"human\",\"x\"],\"value\":[\"a\",\"b\"]}}\n{\"conversations\":{\"x\":"
        "1}}");
    QCOMPARE(test::rows_text(data), std::string("1:user=a;assistant=b\n"));
    QCOMPARE(
        test::refused_text(data),
        std::string(
            "2:The conversation has 1 roles and 2 contents\n3:Turn 2 has the role \"x\", which is none of "
            "system, user, assistant and tool\n4:The conversation is no list of turns\n"));
  }

  void an_answer_of_weight_0_is_not_trained() {
    const std::string turn = R"({"role":"assistant","content":"b","weight":)",
                      user = R"({"role":"user","content":"a"},)";
    const InstructionData data = read("{\"messages\":[" + user + turn + "0}," + user + turn +
                                      "1}]}\n{\"messages\":[" + user + turn + "0.0}]}");
    QCOMPARE(data.rows.size(), std::size_t{1});
    QVERIFY(!data.rows[0].messages[1].trained);
    QVERIFY(data.rows[0].messages[3].trained);
    QCOMPARE(test::refused_text(data),
             std::string("2:No answer of the conversation is to be trained (their weights are 0)\n"));
  }

  void policies_decide_what_becomes_of_doubtful_rows() {
    const std::string content =
        "{\"instruction\":\"a\",\"output\":\"\"}\n{\"instruction\":\"a\",\"output\":{\"x\": null}}\n"
        "{\"instruction\":\"b\",\"output\":\"c\"}\n{\"instruction\":\"b\",\"output\":\"c\"}";
    const InstructionData plain = read(content);
    QCOMPARE(test::rows_text(plain), std::string("3:b||c\n4:b||c\n"));
    QVERIFY(test::has_warning(plain, "The row is equal to an earlier one: row 4"));
    const InstructionData chosen = read(
        content,
        {.empty_answers = EmptyAnswers::keep, .nested = NestedValues::json, .duplicates = Duplicates::drop});
    QCOMPARE(test::rows_text(chosen), std::string("1:a||\n2:a||{\"x\":null}\n3:b||c\n"));
    QCOMPARE(test::refused_text(chosen), std::string("4:Equal to an earlier row\n"));
    QCOMPARE(chosen.report.empty_answers, 1);
  }

  void rows_beyond_those_kept_are_counted() {
    const std::string path =
        folder_.write("{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"\"}\n", "data.jsonl");
    const InstructionData data = read_instruction_data(path, {}, {}, {.most_kept = 1});
    QCOMPARE(test::rows_text(data), std::string("1:a\n"));
    QCOMPARE(data.report.used, 2);
    QCOMPARE(data.report.refused_rows, 1);
  }

  void mixed_types_are_told_with_their_rows() {
    const InstructionData data = read(
        "{\"instruction\":\"a\",\"output\":\"b\"}\n{\"instruction\":\"a\",\"output\":1.50}\n"
        "{\"instruction\":true,\"input\":NaN,\"output\":\"b\"}");
    QCOMPARE(test::rows_text(data), std::string("1:a||b\n2:a||1.50\n3:true||b\n"));
    QVERIFY(test::has_warning(data,
                              "A number, true or false is taken as the text that is written: 2 rows, 2, 3"));
    QVERIFY(test::has_warning(data, "NaN is taken as an empty text: row 3"));
  }

  void columns_can_be_chosen_data() {
    QTest::addColumn<QString>("columns");
    QTest::addColumn<QString>("rows");
    QTest::newRow("a pair") << "instruction=q,output=a"
                            << "1:x||y\n";
    QTest::newRow("with an input") << " instruction = q , output = a , input = \"my, column\" "
                                   << "1:x|z|y\n";
    QTest::newRow("with a system text") << "instruction=q,output=a,system=my_system"
                                        << "1:system=s;user=x;assistant=y\n";
    QTest::newRow("a text") << "text=a"
                            << "1:y\n";
    QTest::newRow("a conversation") << "messages=talk"
                                    << "1:user=m;assistant=n\n";
    QTest::newRow("auto") << "auto"
                          << "1:no||no\n";
  }
  void columns_can_be_chosen() {
    QFETCH(QString, columns);
    QFETCH(QString, rows);
    const InstructionData data = read(
        R"({"q":"x","a":"y","my, column":"z","my_system":"s","talk":[{"from":"human","value":"m"},{"from":"gpt","value":"n"}],"instruction":"no","output":"no"})",
        {.columns = columns.toStdString()});
    QCOMPARE(QString::fromStdString(test::rows_text(data)), rows);
  }

  void a_choice_that_makes_no_row_is_refused_data() {
    QTest::addColumn<QString>("columns");
    QTest::addColumn<QString>("part");
    QTest::newRow("no equals sign") << "instruction"
                                    << "names no column";
    QTest::newRow("no such role") << "question=a,output=b"
                                  << "There is no role \"question\"";
    QTest::newRow("twice") << "output=a,output=b"
                           << "given twice";
    QTest::newRow("no column") << "instruction=,output=b"
                               << "given no column";
    QTest::newRow("half a pair") << "instruction=a"
                                 << "make no row";
    QTest::newRow("an open quote") << "text=\"a"
                                   << "not closed";
    QTest::newRow("no comma") << "text=\"a\"b"
                              << "comma is missing";
  }
  void a_choice_that_makes_no_row_is_refused() {
    QFETCH(QString, columns);
    QFETCH(QString, part);
    try {
      parse_columns(columns.toStdString());
      QFAIL("it was taken");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::invalid_argument);
      QVERIFY2(QString(error.what()).contains(part), error.what());
    }
  }

  void published_files_are_what_they_are_data() {
    QTest::addColumn<QString>("format");
    QTest::addColumn<qint64>("used");
    const auto row = [](const char* name, const char* format, qint64 used) {
      QTest::newRow(name) << format << used;
    };
    row("alpaca/alpaca_tiny.json", "Alpaca JSON", 100);
    row("alpaca/alpaca_unsloth.json", "Alpaca JSON", 257);
    row("alpaca/prompt.txt", "Plain text", 3);
    row("alpaca/train_canary.jsonl", "Alpaca JSONL", 16);
    row("examples/example_messages.json", "OpenAI messages JSON", 8);
    row("examples/example_sharegpt.json", "ShareGPT JSON", 8);
    row("llama-factory/alpaca_en_demo.json", "Alpaca JSON", 999);
    row("llama-factory/identity.json", "Alpaca JSON", 91);
    row("llama-factory/v1_sft_demo.jsonl", "OpenAI messages JSONL", 500);
    row("sharegpt/fastchat_dummy_conversation.json", "ShareGPT JSON", 500);
    row("alpaca/seed_tasks.jsonl", "The answer is missing (no column \"output\")", -1);
    row("llama-factory/dataset_info.json", "The instruction is missing (no column \"instruction\")", -1);
  }
  void published_files_are_what_they_are() {
    QFETCH(QString, format);
    QFETCH(qint64, used);
    const char* folder = std::getenv("LORIKEET_TEST_DATA");
    if (!folder) QSKIP("LORIKEET_TEST_DATA is not set: the published data files are not here");
    const std::string path = std::string(folder) + "/instruct/" + QTest::currentDataTag();
    try {
      const InstructionData data = read_instruction_data(path);
      QCOMPARE(data.report.used, used);
      QCOMPARE(data.report.refused_rows, 0);
      QCOMPARE(QString::fromStdString(data.report.format), format);
      QCOMPARE(data.report.confidence, std::string("high"));
    } catch (const Error& error) {
      QCOMPARE(used, -1);
      QVERIFY2(QString(error.what()).contains(format), error.what());
    }
  }
};

QTEST_GUILESS_MAIN(TestRowShapes)
#include "test_row_shapes.moc"

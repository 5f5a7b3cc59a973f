// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/base/files.h"
#include "tests/app/cli_support.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestCliChat : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, adapter_;

  /// One line of the engine's answer, waiting for it.
  static Json next_line(QProcess& engine) {
    while (!engine.canReadLine()) {
      if (!engine.waitForReadyRead(30'000)) return {{"type", "nothing"}};
    }
    return parse_json(engine.readLine().toStdString(), "answer");
  }
  static void ask(QProcess& engine, const Json& request) { engine.write((request.dump() + "\n").c_str()); }
  /// All text until done; `last` gets the done line.
  static std::string answer_text(QProcess& engine, Json* last = nullptr) {
    std::string text;
    for (;;) {
      const Json line = next_line(engine);
      if (line["type"] == "token") text += line["text"].get<std::string>();
      if (line["type"] == "done" || line["type"] == "error" || line["type"] == "nothing") {
        if (last) *last = line;
        return text;
      }
    }
  }
  static Json message(int id, const std::string& text, int tokens = 20) {
    return {{"id", id},
            {"op", "message"},
            {"messages", {{{"role", "user"}, {"content", text}}}},
            {"sampling", {{"greedy", true}, {"max_new_tokens", tokens}}}};
  }

 private slots:
  void initTestCase() {
    model_ = folder_.path() + "/model";
    write_tiny_folder(model_.toStdString(), cli_model());
    write_alpaca(folder_.path().toStdString() + "/data.json", 30);
    const QString run = folder_.path() + "/run";
    const CliResult trained =
        run_cli({"train", "--model", model_, "--data", folder_.path() + "/data.json", "--run", run,
                 "--max-steps", "40", "--learning-rate", "1e-2", "--max-length", "320"});
    QVERIFY2(trained.code == 0, trained.err.c_str());
    adapter_ = run + "/adapter";
  }

  void standard_output_carries_the_answer_only() {
    const QStringList arguments = {"chat",     "--model",          model_, "--prompt", "Say number 4",
                                   "--greedy", "--max-new-tokens", "12"};
    const CliResult first = run_cli(arguments), second = run_cli(arguments);
    QCOMPARE(first.code, 0);
    QVERIFY(!first.out.empty());
    QCOMPARE(first.out, second.out);
    const CliResult from_input =
        run_cli({"chat", "--model", model_, "--greedy", "--max-new-tokens", "12"}, "Say number 4");
    QCOMPARE(from_input.out, first.out);
  }

  void an_adapter_changes_the_answer_and_strength_zero_does_not() {
    const QStringList base = {"chat",     "--model",      model_,     "--template",       "alpaca",
                              "--prompt", "Say number 4", "--greedy", "--max-new-tokens", "12"};
    const std::string without = run_cli(base).out;
    QVERIFY(run_cli(base + QStringList{"--adapter", adapter_}).out != without);
    QCOMPARE(run_cli(base + QStringList{"--adapter", adapter_ + ":0"}).out, without);
  }

  void seeds_repeat_an_answer() {
    const QStringList base = {"chat", "--model", model_, "--prompt", "x", "--temperature",
                              "1.5",  "--top-k", "0",    "--min-p",  "0", "--max-new-tokens",
                              "40",   "--seed"};
    const std::string one = run_cli(base + QStringList{"7"}).out;
    QCOMPARE(run_cli(base + QStringList{"7"}).out, one);
    QVERIFY(run_cli(base + QStringList{"8"}).out != one);
  }

  void the_protocol_loads_answers_and_survives_errors() {
    const auto engine = start_cli({"chat", "--json"});
    ask(*engine, message(1, "too early"));
    QCOMPARE(next_line(*engine)["type"].get<std::string>(), std::string("error"));
    engine->write("this is no JSON\n");
    QCOMPARE(next_line(*engine)["type"].get<std::string>(), std::string("error"));
    ask(*engine, {{"id", 2}, {"op", "load"}, {"model", "/nowhere"}});
    const Json refused = next_line(*engine);
    QCOMPARE(refused["type"].get<std::string>(), std::string("error"));
    QCOMPARE(refused["id"].get<int>(), 2);
    ask(*engine, {{"id", 3}, {"op", "load"}, {"model", model_.toStdString()}, {"template", "alpaca"}});
    const Json loaded = next_line(*engine);
    QVERIFY2(loaded["type"] == "loaded", loaded.dump().c_str());
    QCOMPARE(loaded["context"].get<int>(), 512);
    ask(*engine, message(4, "Say number 4"));
    Json last;
    const std::string base = answer_text(*engine, &last);
    QCOMPARE(last["id"].get<int>(), 4);
    QVERIFY(last.contains("reason"));
    ask(*engine, {{"id", 5},
                  {"op", "adapters"},
                  {"adapters", {{{"path", adapter_.toStdString()}, {"strength", 1.0}}}}});
    QCOMPARE(next_line(*engine)["type"].get<std::string>(), std::string("done"));
    ask(*engine, message(6, "Say number 4"));
    QVERIFY(answer_text(*engine) != base);
    ask(*engine, {{"id", 7}, {"op", "adapters"}, {"adapters", Json::array()}});
    QCOMPARE(next_line(*engine)["type"].get<std::string>(), std::string("done"));
    ask(*engine, message(8, "Say number 4"));
    QCOMPARE(answer_text(*engine), base);
    ask(*engine, message(9, std::string(2000, 'x')));  // longer than the context
    answer_text(*engine, &last);
    QCOMPARE(last["type"].get<std::string>(), std::string("error"));
    engine->closeWriteChannel();
    QVERIFY(engine->waitForFinished(10'000));
    QCOMPARE(engine->exitCode(), 0);
  }

  void stop_ends_an_answer_at_once() {
    const auto engine = start_cli({"chat", "--json", "--model", model_, "--context", "100000"});
    QCOMPARE(next_line(*engine)["type"].get<std::string>(), std::string("loaded"));
    Json request = message(1, "go on", 90'000);
    request["sampling"]["greedy"] = false;
    request["sampling"]["temperature"] = 5;
    ask(*engine, request);
    while (next_line(*engine)["type"] != "token") {
    }
    ask(*engine, {{"id", 2}, {"op", "stop"}});
    Json last;
    answer_text(*engine, &last);
    QCOMPARE(last["id"].get<int>(), 1);
    // An end token may come first by chance; otherwise the answer was cancelled.
    QVERIFY(last["reason"] == "cancelled" || last["reason"] == "end_token");
    engine->closeWriteChannel();
    QVERIFY(engine->waitForFinished(10'000));
  }

  void tokenize_and_render_show_what_the_model_sees() {
    const Json tokens = run_cli({"tokenize", "--model", model_, "--text", "abc"}).json();
    QVERIFY(tokens["ids"].size() >= 3);
    QCOMPARE(tokens["ids"].size(), tokens["pieces"].size());
    const Json raw = run_cli({"tokenize", "--model", model_, "--raw"}, "abc").json();
    QCOMPARE(raw["ids"].size(), std::size_t{3});
    const std::string file = folder_.path().toStdString() + "/messages.json";
    write_file_atomically(file, R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}])");
    const CliResult rendered = run_cli(
        {"render", "--model", model_, "--messages", QString::fromStdString(file), "--template", "chatml"});
    QVERIFY2(rendered.code == 0, rendered.err.c_str());
    QVERIFY(rendered.json()["text"].get<std::string>().find("Hello") != std::string::npos);
    QCOMPARE(rendered.json()["trained"].size(), std::size_t{1});
  }
};

QTEST_GUILESS_MAIN(TestCliChat)
#include "test_cli_chat.moc"

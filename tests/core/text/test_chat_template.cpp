// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/text/chat_template.h"
#include "core/text/known_templates.h"
#include "kernels/base/error.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

using Conversations = std::map<std::string, std::vector<Message>>;

Conversations read_conversations() {
  Conversations conversations;
  const Json all = golden::read_json("templates/conversations.json");
  for (const auto& [name, turns] : all.items()) {
    std::vector<Message>& messages = conversations[name];
    for (const Json& turn : turns) messages.push_back({turn["role"], turn["content"]});
  }
  return conversations;
}

ByteTokenizer tokenizer_of(const Json& tokens) {
  return ByteTokenizer({.bos = tokens.value("bos_token", ""),
                        .eos = tokens.value("eos_token", ""),
                        .unk = tokens.value("unk_token", ""),
                        .has_pad = false});
}

/// What is rendered, or "error syntax|raised|render" with the template's words.
std::string outcome(const std::string& source, const std::vector<Message>& messages, bool prompt,
                    const Tokenizer& tokenizer,
                    std::vector<std::pair<std::size_t, std::size_t>>* generation = nullptr) {
  try {
    const ChatTemplate chat_template(source);
    try {
      const RenderedChat chat = chat_template.render(messages, prompt, tokenizer);
      if (generation) *generation = chat.generation;
      return chat.text;
    } catch (const Error& error) {
      const std::string mark = "refuses this conversation: ";
      const std::size_t at = error.message().find(mark);
      if (!error.where().starts_with("line ")) return "an error without a line";
      return at == std::string::npos ? "error render"
                                     : "error raised " + error.message().substr(at + mark.size());
    }
  } catch (const Error& error) {
    return error.where().starts_with("line ") ? "error syntax" : "an error without a line";
  }
}

std::string expected_of(const Json& golden_case) {
  if (golden_case.contains("text")) return golden_case["text"];
  const std::string kind = golden_case["error"];
  return kind == "raised" ? "error raised " + golden_case.value("message", "") : "error " + kind;
}

std::string template_at(const std::string& path) {
  const std::string text = read_file(path);
  return path.ends_with(".json") ? parse_json(text, path)["chat_template"].get<std::string>() : text;
}

}  // namespace

class TestChatTemplate : public QObject {
  Q_OBJECT
  const Conversations conversations_ = read_conversations();

  void check_cases(const Json& entry, const std::string& source) {
    const ByteTokenizer tokenizer = tokenizer_of(entry["tokens"]);
    for (const Json& golden_case : entry["cases"]) {
      const std::vector<Message>& messages = conversations_.at(golden_case["conversation"]);
      const bool prompt = golden_case["add_generation_prompt"];
      std::vector<std::pair<std::size_t, std::size_t>> generation;
      const std::string text = outcome(source, messages, prompt, tokenizer, &generation);
      const std::string name =
          golden_case["conversation"].get<std::string>() + (prompt ? " with prompt" : "");
      QVERIFY2(text == expected_of(golden_case),
               (name + "\n" + text + "\nexpected\n" + expected_of(golden_case)).c_str());
      if (golden_case.contains("generation")) {
        QVERIFY2(Json(generation) == golden_case["generation"], (name + Json(generation).dump()).c_str());
      }
      if (!golden_case.contains("prompt_adds")) continue;
      const std::string longer = outcome(source, messages, true, tokenizer);
      QCOMPARE(longer, text + golden_case["prompt_adds"].get<std::string>());
    }
  }

 private slots:
  void every_feature_gives_what_jinja_gives_data() {
    QTest::addColumn<int>("index");
    const Json features = golden::read_json("templates/features.json");
    for (std::size_t i = 0; i < features["cases"].size(); ++i) {
      QTest::newRow(features["cases"][i]["name"].get<std::string>().c_str()) << static_cast<int>(i);
    }
  }
  void every_feature_gives_what_jinja_gives() {
    QFETCH(int, index);
    static const Json features = golden::read_json("templates/features.json");
    const Json& golden_case = features["cases"][static_cast<std::size_t>(index)];
    std::vector<std::pair<std::size_t, std::size_t>> generation;
    QCOMPARE(outcome(golden_case["template"], conversations_.at(golden_case["conversation"]), false,
                     tokenizer_of(features["tokens"]), &generation),
             expected_of(golden_case));
    if (golden_case.contains("generation"))
      QCOMPARE(Json(generation).dump(), golden_case["generation"].dump());
  }

  void templates_of_usual_shapes_give_what_jinja_gives() {
    const Json shapes = golden::read_json("templates/shapes.json");
    for (const Json& entry : shapes["templates"]) {
      check_cases(entry, read_file(golden::path(entry["file"])));
    }
  }

  void published_templates_give_what_jinja_gives_data() {
    QTest::addColumn<int>("index");
    const Json shared = golden::read_json("templates/shared.json");
    for (std::size_t i = 0; i < shared["templates"].size(); ++i) {
      QTest::newRow(shared["templates"][i]["file"].get<std::string>().c_str()) << static_cast<int>(i);
    }
  }
  void published_templates_give_what_jinja_gives() {
    QFETCH(int, index);
    const char* folder = std::getenv("LORIKEET_TEST_DATA");
    if (!folder) QSKIP("LORIKEET_TEST_DATA is not set: the published templates are not here");
    const Json entry =
        golden::read_json("templates/shared.json")["templates"][static_cast<std::size_t>(index)];
    check_cases(entry, template_at(std::string(folder) + "/" + entry["file"].get<std::string>()));
  }

  void our_own_templates_render_the_published_prompts_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("begin");
    QTest::newRow("chatml") << "chatml"
                            << "chatml"
                            << "";
    QTest::newRow("llama3") << "llama3"
                            << "llama3-instruct"
                            << "<s>";
    QTest::newRow("mistral") << "mistral"
                             << "mistral-instruct"
                             << "<s>";
  }
  void our_own_templates_render_the_published_prompts() {
    QFETCH(QString, name);
    QFETCH(QString, folder);
    QFETCH(QString, begin);
    const char* data = std::getenv("LORIKEET_TEST_DATA");
    if (!data) QSKIP("LORIKEET_TEST_DATA is not set: the published prompts are not here");
    const ByteTokenizer tokenizer({.bos = "<s>", .eos = "</s>"});
    std::vector<Message> messages = {{"system", "You are a helpful assistant."},
                                     {"user", "Hello, how are you?"},
                                     {"assistant", "I'm doing great. How can I help you today?"},
                                     {"user", "I'd like to show off how chat templating works!"}};
    for (const char* file : {"system-user-assistant-user", "user-assistant-user", "user"}) {
      if (std::string(file) == "user-assistant-user") messages.erase(messages.begin());
      if (std::string(file) == "user") messages.resize(1);
      const std::string path =
          std::string(data) + "/configs/rendered_prompts/" + folder.toStdString() + "/" + file + ".txt";
      for (const KnownTemplate& known : known_templates()) {
        if (known.name != name.toStdString()) continue;
        QCOMPARE(outcome(std::string(known.text), messages, true, tokenizer),
                 begin.toStdString() + read_file(path));
      }
    }
  }

  void our_own_templates_render_what_the_makers_templates_render_data() {
    QTest::addColumn<QString>("known");
    QTest::addColumn<QString>("shape");
    for (const char* name : {"chatml", "zephyr", "llama2", "llama3"}) QTest::newRow(name) << name << name;
  }
  void our_own_templates_render_what_the_makers_templates_render() {
    QFETCH(QString, known);
    const Json shapes = golden::read_json("templates/shapes.json");
    for (const Json& entry : shapes["templates"]) {
      if (entry["file"] != "template_shapes/" + known.toStdString() + ".jinja") continue;
      const ByteTokenizer tokenizer = tokenizer_of(entry["tokens"]);
      for (const KnownTemplate& one : known_templates()) {
        if (one.name != known.toStdString()) continue;
        for (const Json& golden_case : entry["cases"]) {
          if (!golden_case.contains("text") || golden_case["conversation"] == "unknown_role") continue;
          if (golden_case["conversation"] == "late_system")
            continue;  // ours refuses what the shape drops in silence
          const std::string text =
              outcome(std::string(one.text), conversations_.at(golden_case["conversation"]),
                      golden_case["add_generation_prompt"], tokenizer);
          QVERIFY2(text == golden_case["text"], (golden_case.dump() + "\n" + text).c_str());
        }
      }
    }
  }

  void the_reader_learns_which_bytes_people_wrote_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("text");  ///< people's bytes between < and >, with the number of the message
    const auto row = [](const char* name, const char* source, const char* text) {
      QTest::newRow(name) << source << text;
    };
    row("as it is", "a{{ messages[0].content }}b", "a<0:  Hi ho  >b");
    row("trimmed", "a{{ messages[0].content | trim }}b", "a<0:Hi ho>b");
    row("stripped", "a{{ messages[0].content.strip() ~ '!' }}b", "a<0:Hi ho>!b");
    row("cut", "{{ messages[0].content[3:6] }}", "<0:i h>");
    row("backwards", "{{ messages[0].content[::-1] }}", "<0:  oh iH  >");
    row("upper case", "{{ messages[0].content | upper | trim }}", "<0:HI HO>");
    row("split and joined", "{{ messages[0].content.split() | join('+') }}", "<0:Hi>+<0:ho>");
    row("replaced", "{{ messages[0].content.strip().replace('i', 'o') }}", "<0:H>o<0: ho>");
    row("put into a template's text", "{{ 'x%sx' % messages[0].content.strip() }}", "x<0:Hi ho>x");
    row("formatted", "{{ '[{}]'.format(messages[1].content) }}", "[<1:é>]");
    row("as JSON", "{{ messages[1] | tojson }}", "{\"role\": \"assistant\", \"content\": \"<1:é>\"}");
    row("in a list", "{{ [messages[1].content] }}", "['<1:é>']");
    row("through a macro", "{% macro m(x) %}({{ x }}){% endmacro %}{{ m(messages[1].content) }}", "(<1:é>)");
    row("through set", "{% set x %}-{{ messages[1].content }}{% endset %}{{ x }}", "-<1:é>");
    row("by characters", "{% for c in messages[0].content.strip() %}{{ c }}{% endfor %}", "<0:Hi ho>");
    row("two messages", "{{ messages[0].content.strip() + messages[1].content }}", "<0:Hi ho><1:é>");
    row("a role is the template's", "{{ messages[1].role }}", "assistant");
    row("indented", "{{ messages[0].content.strip() | replace(' ', '\n') | indent(2) }}", "<0:Hi>\n  <0:ho>");
  }
  void the_reader_learns_which_bytes_people_wrote() {
    QFETCH(QString, source);
    QFETCH(QString, text);
    const ByteTokenizer tokenizer({});
    const RenderedChat chat = ChatTemplate(source.toStdString())
                                  .render({{"user", "  Hi ho  "}, {"assistant", "é"}}, false, tokenizer);
    std::string shown;
    std::size_t done = 0;
    for (const ContentRange& range : chat.content) {
      shown += chat.text.substr(done, range.begin - done) + "<" + std::to_string(range.message) + ":" +
               chat.text.substr(range.begin, range.end - range.begin) + ">";
      done = range.end;
    }
    QCOMPARE(QString::fromStdString(shown + chat.text.substr(done)), text);
  }

  void an_error_names_the_line_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("where");
    QTest::newRow("syntax") << "a\n{{ 1 }}\n{{ 1 + }}"
                            << "line 3";
    QTest::newRow("unclosed") << "a\n{% if x %}\nb"
                              << "line 3";
    QTest::newRow("unknown filter") << "a\n\n{{ 1 | nosuch }}"
                                    << "line 3";
    QTest::newRow("while rendering") << "a\n{{ nothing.x }}\n"
                                     << "line 2";
    QTest::newRow("inside a macro") << "{% macro m() %}\n\n{{ 1 // 0 }}{% endmacro %}\n{{ m() }}"
                                    << "line 3";
    QTest::newRow("raised") << "\n{{ raise_exception('no') }}"
                            << "line 2";
    QTest::newRow("in a long expression") << "{{ 'a' +\n'b' +\n1 }}"
                                          << "line 2";
    QTest::newRow("include") << "{% include 'x' %}"
                             << "line 1";
    QTest::newRow("import") << "\n{% import 'x' as y %}"
                            << "line 2";
    QTest::newRow("extends") << "{% extends 'x' %}"
                             << "line 1";
  }
  void an_error_names_the_line() {
    QFETCH(QString, source);
    QFETCH(QString, where);
    try {
      ChatTemplate(source.toStdString()).render({{"user", "x"}}, false, ByteTokenizer({}));
      QFAIL("it rendered");
    } catch (const Error& error) {
      QCOMPARE(QString::fromStdString(error.where()), where);
    }
  }
};

QTEST_GUILESS_MAIN(TestChatTemplate)
#include "test_chat_template.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QElapsedTimer>
#include <QtTest>

#include "core/text/chat_template.h"
#include "core/text/known_templates.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/support/byte_tokenizer.h"

using namespace lorikeet;

namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

const std::vector<Message> conversation = {
    {"system", "s"}, {"user", " u "}, {"assistant", "a\n"}, {"user", "é"}};

/// 1 = rendered, 0 = an Error.
int render(const std::string& source, const std::vector<Message>& messages = conversation) {
  static const ByteTokenizer tokenizer({.bos = "<s>", .eos = "</s>"});
  try {
    ChatTemplate(source).render(messages, true, tokenizer);
    return 1;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

/// Templates that no honest maker writes: each ends soon with an Error.
class TestChatTemplateHostile : public QObject {
  Q_OBJECT

 private slots:
  void it_ends_soon_with_an_error_data() {
    QTest::addColumn<QByteArray>("source");
    const auto row = [](const char* name, const std::string& source) {
      QTest::newRow(name) << QByteArray::fromStdString(source);
    };
    row("a text repeated", "{{ 'a' * 1000000000 }}");
    row("a text repeated more", "{{ 'a' * 9223372036854775807 }}");
    row("a list repeated", "{{ [1] * 1000000000 }}");
    row("a text doubled",
        "{% set ns = namespace(x='abcdefgh') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor "
        "%}");
    row("a list doubled",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}");
    row("shared lists",
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
        "ns.x == ns.x }}");
    row("shared lists printed",
        "{% set ns = namespace(x=[1]) %}{% for i in range(90) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ "
        "ns.x }}");
    row("lists in lists",
        "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}");
    row("methods in lists",
        "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x.index] %}{% endfor %}");
    row("dicts in dicts",
        "{% set ns = namespace(x={}) %}{% for i in range(99999) %}{% set ns.x = {'a': ns.x} %}{% endfor %}");
    row("loops in loops",
        "{% for a in range(99999) %}{% for b in range(99999) %}{{ b }}{% endfor %}{% endfor %}");
    row("loops without output",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
    row("a loop kept in a list in a loop",
        "{% set ns = namespace(v=1) %}{% for i in range(9999) %}{% for x in [ns.v] %}{% set ns.v = loop %}{% "
        "endfor %}{% endfor %}");
    row("output without end", "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}");
    row("data without end", "{% for a in range(99999) %}" + std::string(1000, 'x') + "{% endfor %}");
    row("a macro calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}");
    row("macros call each other",
        "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}");
    row("a macro calls itself twice",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}");
    row("a default value calls its macro", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}");
    row("caller calls its macro",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% "
        "endmacro %}{{ n() }}");
    row("range of everything", "{% for i in range(9223372036854775807) %}{% endfor %}");
    row("range with a vast step", "{{ range(0, 9223372036854775807, 3)[0] }}");
    row("brackets", "{{ " + times(100'000, "(") + "1" + times(100'000, ")") + " }}");
    row("lists nested", "{{ " + times(100'000, "[") + times(100'000, "]") + " }}");
    row("dicts nested", "{{ " + times(100'000, "{1:") + "1" + times(100'000, "}") + " }}");
    row("minus signs", "{{ " + times(100'000, "- ") + "1 }}");
    row("nots", "{{ " + times(100'000, "not ") + "1 }}");
    row("sums", "{{ 1" + times(100'000, "+1") + " }}");
    row("powers", "{{ 2" + times(100'000, "**2") + " }}");
    row("members", "{{ a" + times(100'000, ".b") + " }}");
    row("calls", "{{ a" + times(100'000, "()") + " }}");
    row("filters", "{{ 'a'" + times(100'000, "|trim") + " }}");
    row("tests", "{{ 1" + times(100'000, " is defined") + " }}");
    row("inline ifs", "{{ 1" + times(50'000, " if 1 else 1") + " }}");
    row("inline ifs in front", "{{ 1" + times(50'000, " if 1") + " }}");
    row("ors", "{{ 0" + times(100'000, " or 0") + " }}");
    row("blocks", times(50'000, "{% if 1 %}") + times(50'000, "{% endif %}"));
    row("loops nested", times(20'000, "{% for a in [1] %}") + times(20'000, "{% endfor %}"));
    row("targets nested",
        "{% for " + times(100'000, "(") + "a" + times(100'000, ")") + " in [] %}{% endfor %}");
    row("a vast number", "{{ 99999999999999999999 }}");
    row("a sum too large", "{{ 9223372036854775807 + 1 }}");
    row("a power too large", "{{ 10 ** 100 }}");
    row("the smallest number", "{{ (0 - 9223372036854775807 - 1) // -1 }}");
    row("a slow search", "{% set a = 'a' * 2000000 %}{% set b = 'a' * 1000000 + 'b' %}{{ b in a }}");
    row("a slow replace", "{% set a = 'a' * 2000000 %}{{ a.replace('a' * 500000 + 'b', 'c') }}");
    row("a slow split", "{% set a = 'a' * 2000000 %}{{ a.split('a' * 500000 + 'b') }}");
    row("a vast replace", "{{ ('a' * 1000000).replace('a', 'b' * 1000) }}");
    row("a vast join", "{{ range(99999) | join('x' * 1000) }}");
    row("a vast indent", "{{ ('\\n' * 100000) | indent(4000, blank=true) }}");
    row("a vast JSON indent", "{{ range(99999) | list | tojson(indent=1000000) }}");
    row(
        "many members", "{{ {" + [] {
          std::string text;
          for (int i = 0; i < 5000; ++i) text += std::to_string(i) + ":1,";
          return text;
        }() + "} }}");
    row("many names",
        "{% for i in range(99999) %}{% set ns = namespace(a=ns) %}{% set ns.b = ns %}{% endfor %}{{ 'x' * "
        "100000000 }}");
    row("namespaces in a chain",
        "{% set h = namespace(n=1) %}{% for i in range(99999) %}{% set h.n = namespace(p=h.n) %}{% endfor "
        "%}");
    row("macros in a chain",
        "{% set h = namespace(n=1) %}{% for i in range(9999) %}{% set before = h.n %}"
        "{% macro m() %}{{ before }}{% endmacro %}{% set h.n = m %}{% endfor %}{{ h.n() }}{{ 1 // 0 }}");
    row("slow lines of characters",
        "{% for i in range(999) %}{% for c in 'a' * 1000000 %}{% endfor %}{% endfor %}");
    row("unclosed comment", "{#" + std::string(100'000, '#'));
    row("unclosed text", "{{ '" + std::string(100'000, '\\'));
    row("raw without end", "{% raw %}" + times(100'000, "{% endra"));
    row("larger than a template may be", std::string((1 << 20) + 1, 'x'));
    row("not UTF-8", "\xFF");
    row("a broken escape", "{{ '\\ud800' }}");
    row("a format of strftime that grows", "{{ strftime_now('%99999999d') }}{{ 1 // 0 }}");
  }
  void it_ends_soon_with_an_error() {
    QFETCH(QByteArray, source);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(render(source.toStdString()), 0);
    QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
  }

  void deep_but_honest_templates_render() {
    QCOMPARE(render("{{ " + times(60, "(") + "1" + times(60, ")") + times(100, " + 1") + " }}"), 1);
    QCOMPARE(render(times(60, "{% if 1 %}") + "x" + times(60, "{% endif %}")), 1);
    QCOMPARE(render("{% if 0 %}" + times(5000, "{% elif 0 %}") + "{% endif %}"), 1);
    QCOMPARE(render("{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(90) }}"), 1);
    QCOMPARE(render("{% for i in range(20000) %}{{ i }}{% endfor %}"), 1);
  }

  void a_long_conversation_renders() {
    std::vector<Message> messages;
    for (int i = 0; i < 2000; ++i)
      messages.push_back({i % 2 == 0 ? "user" : "assistant", std::string(1000, 'x')});
    for (const KnownTemplate& known : known_templates())
      QCOMPARE(render(std::string(known.text), messages), 1);
    messages[0].content = std::string(3 << 20, 'y');
    messages.resize(3);
    for (const KnownTemplate& known : known_templates())
      QCOMPARE(render(std::string(known.text), messages), 1);
  }

  void content_that_is_not_utf8_is_refused() { QCOMPARE(render("x", {{"user", "\xC0"}}), 0); }

  void changed_templates_never_do_harm() {
    std::vector<std::string> seeds = {
        "{% for m in messages if m.role != 'system' %}{{ loop.index0 % 2 == 0 and m.content | trim ~ '\\n' "
        "}}{% else %}x{% endfor %}",
        "{%- set ns = namespace(a=[], b='x') -%}{% for k, v in messages[0].items() %}{% set ns.a = ns.a + "
        "[k] %}{% endfor %}"
        "{{ ns.a | join(', ') }}{{ messages[1:][::-1] | map(attribute='content') | list | tojson(indent=2) "
        "}}",
        "{% macro f(a, b='c') %}{{ a[1:] + b.upper() }}{{ caller() if caller }}{% endmacro %}{% call f('xy') "
        "%}{% raw %}{{{% endraw %}"
        "{% endcall %}{{ f('ab', b='d') }}{# c #}",
        "{% set x %}{% filter upper %}a{{ 1.5 * 3 // 2 - -4 }}{% endfilter %}{% endset %}{{ "
        "x.split('A')[-1].strip() | default('d') }}",
        "{% generation %}{{ '%s-%d' % ('a', 3) }}{% endgeneration %}{% if 'a' in x is defined and not y %}{{ "
        "(1, 2) }}{% endif %}",
    };
    for (const KnownTemplate& known : known_templates()) seeds.emplace_back(known.text);
    const std::vector<std::string> pieces = {
        "{%",   "%}",   "{{",   "}}",     "-",     "|",    "(",        ")",     "[",      "]",
        ":",    ".",    "'",    "\\",     "~",     "*",    "**",       "//",    "0",      "9999",
        " in ", " is ", " if ", " else ", " not ", "loop", "messages", "{",     "}",      "endfor",
        "for",  "\n",   "é",    "\xFF",   ",",     "=",    "trim",     "split", "range(", "x"};
    RandomStream random({.seed = 3, .use = RandomUse::test});
    int rendered = 0;
    for (int round = 0; round < 20'000; ++round) {
      std::string source = seeds[random.next_below(seeds.size())];
      for (std::uint64_t change = random.next_below(4) + 1; change > 0; --change) {
        const std::size_t at = random.next_below(source.size() + 1);
        switch (random.next_below(3)) {
          case 0:
            source.insert(at, pieces[random.next_below(pieces.size())]);
            break;
          case 1:
            source.erase(at, random.next_below(6));
            break;
          default:
            source.insert(at, source.substr(random.next_below(source.size() + 1), random.next_below(30)));
            break;
        }
      }
      rendered += render(source);
    }
    QVERIFY2(rendered > 1000,
             qPrintable(QString::number(rendered)));  // the changes leave some templates whole
  }
};

QTEST_GUILESS_MAIN(TestChatTemplateHostile)
#include "test_chat_template_hostile.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <fstream>

#include "core/text/prompt.h"
#include "kernels/base/error.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/encoded_text.h"

using namespace lorikeet;

namespace {

const std::string without_input =
    "Below is an instruction that describes a task. Write a response that appropriately completes the "
    "request.\n\n"
    "### Instruction:\nSing.\n\n### Response:";
const std::string with_input =
    "Below is an instruction that describes a task, paired with an input that provides further context. "
    "Write a "
    "response that appropriately completes the request.\n\n### Instruction:\nSing.\n\n### Input:\nA song\n\n"
    "### Response:";

std::shared_ptr<const Tokenizer> plain_tokenizer(bool adds_bos = true, bool adds_eos = false) {
  return std::make_shared<ByteTokenizer>(ByteTokenizer::Options{.specials = {"<s>", "</s>", "<|im_end|>"},
                                                                .bos = "<s>",
                                                                .eos = "</s>",
                                                                .adds_bos = adds_bos,
                                                                .adds_eos = adds_eos});
}

PromptFormat format_of(const std::string& setting, const std::string& system = "",
                       std::shared_ptr<const Tokenizer> tokenizer = plain_tokenizer()) {
  return PromptFormat::choose(setting, "", system, std::move(tokenizer), {});
}

}  // namespace

class TestPrompt : public QObject {
  Q_OBJECT

 private slots:
  void an_alpaca_record_is_the_published_text_then_the_answer_and_one_end_token() {
    const PromptFormat format = format_of("alpaca");
    QCOMPARE(marked(format.encode_instruction("Sing.", "", "La la"), format.tokenizer()),
             "<s>" + without_input + "{{La la</s>}}");
    QCOMPARE(marked(format.encode_instruction("Sing.", "A song", "La la"), format.tokenizer()),
             "<s>" + with_input + "{{La la</s>}}");
    QCOMPARE(format.encode_instruction("Sing.", "", "La la").text, without_input + "La la</s>");
  }

  void chat_sends_the_ids_that_training_saw_data() {
    QTest::addColumn<QString>("setting");
    for (const char* name : {"alpaca", "none"}) QTest::newRow(name) << QString(name);
  }
  void chat_sends_the_ids_that_training_saw() {
    QFETCH(QString, setting);
    const PromptFormat format = format_of(setting.toStdString());
    const EncodedText row = format.encode_instruction("Sing.", "", "La la");
    const EncodedText prompt = format.encode_prompt({{"user", "Sing."}});
    QCOMPARE(row.trained.size(), std::size_t{1});
    QCOMPARE(row.trained[0].first, std::ssize(prompt.ids));
    QCOMPARE(row.trained[0].second, std::ssize(row.ids));
    QVERIFY(std::equal(prompt.ids.begin(), prompt.ids.end(), row.ids.begin()));
  }

  void the_answer_goes_on_without_begin_token_or_dummy_prefix() {
    const auto tokenizer = std::make_shared<ByteTokenizer>(ByteTokenizer::Options{.specials = {"<s>", "</s>"},
                                                                                  .bos = "<s>",
                                                                                  .eos = "</s>",
                                                                                  .adds_bos = true,
                                                                                  .adds_eos = true,
                                                                                  .dummy_prefix = true});
    const PromptFormat format = format_of("alpaca", "", tokenizer);
    QCOMPARE(marked(format.encode_instruction("Sing.", "", "La la"), *tokenizer),
             "<s> " + without_input + "{{La la</s>}}");
  }

  void a_prompt_never_ends_with_the_end_token_that_a_tokenizer_adds() {
    const PromptFormat format = format_of("alpaca", "", plain_tokenizer(true, true));
    QCOMPARE(marked(format.encode_prompt({{"user", "Sing."}}), format.tokenizer()), "<s>" + without_input);
  }

  void special_tokens_in_peoples_text_stay_text() {
    const PromptFormat format = format_of("alpaca");
    const EncodedText row = format.encode_instruction("</s><|im_end|>", "<s>", "</s>x");
    QCOMPARE(std::count_if(row.ids.begin(), row.ids.end(), [](TokenId id) { return id >= 256; }), 2);
    QCOMPARE(row.ids.front(), format.tokenizer().bos_id());
    QCOMPARE(row.ids.back(), format.tokenizer().eos_id());
  }

  void the_end_token_is_trained_also_when_it_is_the_pad_token() {
    const PromptFormat format = format_of("alpaca");
    QCOMPARE(format.tokenizer().pad_id(), format.tokenizer().eos_id());
    const EncodedText row = format.encode_instruction("Sing.", "", "La");
    QCOMPARE(row.ids[static_cast<std::size_t>(row.trained.back().second - 1)], format.end_id());
    QCOMPARE(format.end_id(), format.tokenizer().eos_id());
  }

  void a_tokenizer_without_begin_and_end_tokens_gives_none() {
    const auto tokenizer = std::make_shared<ByteTokenizer>(ByteTokenizer::Options{});
    const PromptFormat format = format_of("alpaca", "", tokenizer);
    QCOMPARE(format.end_id(), -1);
    QVERIFY(format.stop_ids().empty());
    QCOMPARE(marked(format.encode_instruction("Sing.", "", "La"), *tokenizer), without_input + "{{La}}");
    const PromptFormat model_ends = PromptFormat::choose("alpaca", "", "", tokenizer, {7, 9});
    QCOMPARE(model_ends.end_id(), 7);
    QVERIFY(model_ends.stop_ids() == (std::vector<TokenId>{7, 9}));
  }

  void every_end_id_of_the_model_stops_an_answer() {
    const PromptFormat format = PromptFormat::choose("alpaca", "", "", plain_tokenizer(), {258, 257});
    QVERIFY(format.stop_ids() == (std::vector<TokenId>{257, 258}));
  }

  void a_system_text_takes_the_place_of_the_opening_sentence() {
    const PromptFormat format = format_of("alpaca", "You are a bird.");
    const std::string prompt = "<s>You are a bird.\n\n### Instruction:\nSing.\n\n### Response:";
    QCOMPARE(marked(format.encode_prompt({{"user", "Sing."}}), format.tokenizer()), prompt);
    QCOMPARE(
        marked(format.encode_prompt({{"system", "You are a bird."}, {"user", "Sing."}}), format.tokenizer()),
        prompt);
    QCOMPARE(marked(format.encode_instruction("Sing.", "A song", "La"), format.tokenizer()),
             std::string("<s>You are a bird.\n\n### Instruction:\nSing.\n\n### Input:\nA song\n\n### "
                         "Response:{{La</s>}}"));
  }

  void an_alpaca_conversation_repeats_the_headings() {
    const PromptFormat format = format_of("alpaca");
    const std::vector<Message> messages = {
        {"user", "Sing."}, {"assistant", "La"}, {"user", "More"}, {"assistant", "Lala"}};
    const std::string more = "\n\n### Instruction:\nMore\n\n### Response:";
    QCOMPARE(marked(format.encode_conversation(messages, false), format.tokenizer()),
             "<s>" + without_input + "La</s>" + more + "{{Lala</s>}}");
    QCOMPARE(marked(format.encode_conversation(messages, true), format.tokenizer()),
             "<s>" + without_input + "{{La</s>}}" + more + "{{Lala</s>}}");
    QCOMPARE(marked(format.encode_prompt({messages.begin(), messages.begin() + 3}), format.tokenizer()),
             "<s>" + without_input + "La</s>" + more);
    QVERIFY_EXCEPTION_THROWN(format.encode_prompt({{"narrator", "x"}}), Error);
  }

  void none_goes_on_from_plain_text() {
    const PromptFormat format = format_of("none");
    QCOMPARE(marked(format.encode_prompt({{"user", "Once upon"}}), format.tokenizer()),
             std::string("<s>Once upon"));
    QCOMPARE(marked(format.encode_prompt({{"user", ""}}), format.tokenizer()), std::string("<s>"));
    QCOMPARE(marked(format.encode_instruction("Once", " upon", " a time"), format.tokenizer()),
             std::string("<s>Once\n\n upon{{ a time</s>}}"));
  }

  void auto_without_any_template_is_the_alpaca_form() {
    const PromptFormat format = format_of("auto");
    QCOMPARE(format.format(), std::string("alpaca"));
    QVERIFY(format.template_text().empty());
    QVERIFY(format.template_hash() != format_of("none").template_hash());
    QCOMPARE(format.template_hash(), format_of("alpaca").template_hash());
  }

  void an_unknown_template_is_named() {
    try {
      format_of("chatmll");
      QFAIL("it was found");
    } catch (const Error& error) {
      QCOMPARE(error.where(), std::string("chatmll"));
      QVERIFY(error.hint().find("chatml, zephyr, llama2, llama3, mistral") != std::string::npos);
    }
  }

  void a_template_file_with_json_escapes_is_refused_with_its_place() {
    QTemporaryDir folder;
    const std::string path = folder.path().toStdString() + "/t.jinja";
    std::ofstream(path) << "{% for m in messages %}\n{{ m.content + '\\n' }}</s>\\n{% endfor %}";
    try {
      format_of(path);
      QFAIL("it was taken");
    } catch (const Error& error) {
      QVERIFY2(error.where().ends_with("t.jinja, line 2, column 27"), error.what());
    }
  }
};

QTEST_GUILESS_MAIN(TestPrompt)
#include "test_prompt.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/data/dataset.h"
#include "core/data/packing.h"
#include "kernels/base/error.h"
#include "tests/support/byte_tokenizer.h"

using namespace lorikeet;

namespace {

/// Plain text, so that a row has 1 + instruction + answer + 1 tokens.
PromptFormat plain_format() {
  return PromptFormat::choose(
      "none", "", "",
      std::make_shared<ByteTokenizer>(
          ByteTokenizer::Options{.specials = {"<s>", "</s>"}, .bos = "<s>", .eos = "</s>", .adds_bos = true}),
      {});
}

InstructionRow row_of(std::int64_t number, std::size_t instruction, std::size_t answer) {
  return {number, std::string(instruction, 'q'), "", std::string(answer, 'a')};
}

constexpr TokenId end = 257;

}  // namespace

class TestTokenise : public QObject {
  Q_OBJECT
  const PromptFormat format_ = plain_format();

 private slots:
  void targets_are_the_next_tokens_of_the_answer() {
    const TokenisedData data = tokenise({{5, "qq", "", "ab"}}, format_, {});
    QCOMPARE(data.rows.size(), std::size_t{1});
    QVERIFY(data.rows[0].ids == (std::vector<TokenId>{256, 'q', 'q', 'a', 'b', end}));
    QVERIFY(data.rows[0].targets == (std::vector<TokenId>{-1, -1, 'a', 'b', end, -1}));
    QCOMPARE(data.rows[0].trained_tokens, 3);
    QCOMPARE(data.rows[0].number, 5);
    QCOMPARE(data.tokens, 6);
    QCOMPARE(data.trained_tokens, 3);
    QCOMPARE(data.end_rows, 1);
  }

  void all_tokens_are_trained_when_asked() {
    const TokenisedData data = tokenise({{1, "qq", "", "ab"}}, format_, {.train_all_tokens = true});
    QVERIFY(data.rows[0].targets == (std::vector<TokenId>{'q', 'q', 'a', 'b', end, -1}));
  }

  void every_answer_of_a_conversation_is_trained_but_those_that_are_not_to_be() {
    InstructionRow row;
    row.kind = RowKind::conversation;
    row.messages = {{"user", "q"}, {"assistant", "ab"}, {"user", "r"}, {"assistant", "c"}};
    TokenisedData data = tokenise({row}, format_, {});
    QVERIFY(data.rows[0].ids == (std::vector<TokenId>{256, 'q', 'a', 'b', 'r', 'c', end}));
    QVERIFY(data.rows[0].targets == (std::vector<TokenId>{-1, 'a', 'b', -1, 'c', end, -1}));
    row.messages[1].trained = false;
    data = tokenise({row}, format_, {});
    QVERIFY(data.rows[0].targets == (std::vector<TokenId>{-1, -1, -1, -1, 'c', end, -1}));
  }

  void a_text_is_trained_whole_and_closed_once() {
    InstructionRow row;
    row.kind = RowKind::text;
    for (const char* text : {"ab", "ab</s>", "<s>ab</s>"}) {
      row.output = text;
      const TokenisedData data = tokenise({row}, format_, {});
      QVERIFY(data.rows[0].ids == (std::vector<TokenId>{256, 'a', 'b', end}));
      QVERIFY(data.rows[0].targets == (std::vector<TokenId>{'a', 'b', end, -1}));
      QCOMPARE(data.end_rows, 1);
    }
  }

  void a_row_that_the_form_cannot_write_is_refused_alone() {
    InstructionRow row;
    row.number = 3;
    row.kind = RowKind::conversation;
    row.messages = {{"user", "q"}, {"tool", "t"}, {"assistant", "c"}};
    const TokenisedData data = tokenise({row, {4, "a", "", "b"}}, format_, {});
    QCOMPARE(data.rows.size(), std::size_t{1});
    QCOMPARE(data.refused[0].number, 3);
    QVERIFY(
        data.refused[0].reason.starts_with("The template cannot write this row: The roles are system, user"));
  }

  void every_row_of_a_batch_has_exactly_one_end_token() {
    const TokenisedData data = tokenise({row_of(1, 3, 4), row_of(2, 9, 1)}, format_, {});
    const TokenBatch batch = make_batch(data.rows, {0, 1});
    QCOMPARE(std::count(batch.targets.begin(), batch.targets.end(), end), 2);
    QCOMPARE(batch.trained_tokens, 7);
  }

  void a_row_that_is_cut_has_exactly_max_length_tokens_and_no_end_token() {
    const TokenisedData data = tokenise({row_of(1, 10, 68)}, format_, {.max_length = 64});
    QCOMPARE(data.rows.size(), std::size_t{1});
    QCOMPARE(data.rows[0].ids.size(), std::size_t{64});
    QCOMPARE(data.rows[0].ids.back(), 'a');
    QCOMPARE(data.rows[0].trained_tokens, 64 - 11);
    QCOMPARE(data.longest, 80);
    QCOMPARE(data.lengths, std::vector<std::int64_t>{80});
    QCOMPARE(data.long_rows, 1);
    QCOMPARE(data.cut_rows, 1);
    QCOMPARE(data.end_rows, 0);
    QCOMPARE(data.warnings.size(), std::size_t{1});
  }

  void the_policy_for_long_rows_keeps_the_rows_it_says_data() {
    QTest::addColumn<int>("policy");
    QTest::addColumn<qint64>("rows");
    QTest::addColumn<qint64>("refused");
    QTest::addColumn<qint64>("cut");
    QTest::newRow("cut") << static_cast<int>(TooLong::cut) << qint64{10} << qint64{0} << qint64{4};
    QTest::newRow("drop") << static_cast<int>(TooLong::drop) << qint64{6} << qint64{4} << qint64{0};
    QTest::newRow("split") << static_cast<int>(TooLong::split) << qint64{14} << qint64{0} << qint64{0};
  }
  void the_policy_for_long_rows_keeps_the_rows_it_says() {
    QFETCH(int, policy);
    QFETCH(qint64, rows);
    QFETCH(qint64, refused);
    QFETCH(qint64, cut);
    std::vector<InstructionRow> source;
    for (int i = 0; i < 10; ++i) source.push_back(row_of(i + 1, 10, i < 4 ? 68 : 20));  // 4 of 80 tokens
    const TokenisedData data =
        tokenise(source, format_, {.max_length = 64, .too_long = static_cast<TooLong>(policy)});
    QCOMPARE(std::ssize(data.rows), rows);
    QCOMPARE(std::ssize(data.refused), refused);
    QCOMPARE(data.long_rows, 4);
    QCOMPARE(data.cut_rows, cut);
    if (refused > 0) QCOMPARE(data.refused[0].reason, std::string("Longer than 64 tokens (80)"));
    for (const bool packing : {false, true}) {
      const BatchPlan plan = plan_batches(data.rows, epoch_order(rows, 1, 0, true), 2, 64, packing);
      std::int64_t used = 0;
      for (const auto& batch : plan.micro_batches) used += std::ssize(batch);
      QCOMPARE(used, rows);
    }
  }

  void a_split_row_keeps_every_token_and_its_number() {
    const TokenisedData data =
        tokenise({row_of(9, 10, 68)}, format_, {.max_length = 32, .too_long = TooLong::split});
    QCOMPARE(data.rows.size(), std::size_t{3});
    std::vector<TokenId> joined;
    for (const TokenRow& row : data.rows) {
      QCOMPARE(row.number, 9);
      QCOMPARE(row.targets.back(), -1);
      joined.insert(joined.end(), row.ids.begin(), row.ids.end());
    }
    QCOMPARE(joined.size(), std::size_t{80});
    QCOMPARE(joined.back(), end);
    QCOMPARE(data.end_rows, 1);
  }

  void a_row_whose_prompt_fills_it_is_refused_with_the_reason() {
    for (const TooLong policy : {TooLong::cut, TooLong::split}) {
      const TokenisedData data =
          tokenise({row_of(1, 63, 5), row_of(2, 5, 5)}, format_, {.max_length = 64, .too_long = policy});
      if (policy == TooLong::split) {
        QCOMPARE(data.rows.size(), std::size_t{2});  // the answer is in the second part
        QCOMPARE(data.cut_rows, 1);
        continue;
      }
      QCOMPARE(data.rows.size(), std::size_t{1});
      QCOMPARE(data.refused.size(), std::size_t{1});
      QCOMPARE(data.refused[0].number, 1);
      QVERIFY(data.refused[0].reason.starts_with("No trained token is left in 64 tokens (the row has 70"));
    }
  }

  void tokenising_can_be_stopped_and_tells_how_far_it_is() {
    const std::vector<InstructionRow> rows(1000, row_of(1, 3, 3));
    std::int64_t told = 0;
    tokenise(rows, format_, {}, {}, [&](std::int64_t done) { told = done; });
    QCOMPARE(told, 1000);
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(tokenise(rows, format_, {}, stop.get_token()), Error);
    QVERIFY_EXCEPTION_THROWN(tokenise(rows, format_, {.max_length = 1}), Error);
  }
};

QTEST_GUILESS_MAIN(TestTokenise)
#include "test_tokenise.moc"

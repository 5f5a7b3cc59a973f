// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "core/data/token_store.h"
#include "core/train/prepare_parts.h"
#include "kernels/base/error.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
namespace fs = std::filesystem;

/// Data that are streamed through a file of tokens are what rows in memory are.
class TestPrepareStreamed : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_, data_path_, cache_;
  ModelSpec spec_;

  PreparedData streamed(const Settings& settings) const {
    PreparedData data;
    data.tokenizer = load_tokenizer(model_);
    data.format = choose_format(spec_, settings, "", data.tokenizer);
    data.max_length = resolved_max_length(settings, spec_);
    return prepare_streamed(std::move(data), spec_, model_, data_path_, settings, cache_, {}, {});
  }
  std::vector<std::string> cached() const {
    std::vector<std::string> paths;
    for (const auto& file : fs::directory_iterator(cache_)) paths.push_back(file.path().string());
    return paths;
  }
  static Settings small() {
    Settings settings;
    settings.template_name = "none";
    settings.max_length = 48;
    settings.eval_fraction = 0.1;
    return settings;
  }

 private slots:
  void initTestCase() {
    const std::string base = folder_.path().toStdString();
    model_ = base + "/model";
    test::write_tiny_folder(model_, {});
    spec_ = read_model_spec(model_);
    data_path_ = base + "/data.jsonl";
    std::ofstream file(data_path_);
    for (int i = 0; i < 300; ++i) {
      const std::string answer = i % 17 == 0 ? "" : std::string(static_cast<std::size_t>(i % 60 + 1), 'a');
      if (i % 23 == 5)
        file << "{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":\""
             << answer << "\"}]}\n";
      else
        file << "{\"instruction\":\"" << i << "\",\"output\":\"" << answer << "\"}\n";
    }
  }
  void init() {
    cache_ = folder_.path().toStdString() + "/cache-" + QTest::currentTestFunction() +
             (QTest::currentDataTag() ? QTest::currentDataTag() : "");
  }

  void streamed_data_are_those_in_memory_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::newRow("cut") << "too-long"
                         << "cut";
    QTest::newRow("drop") << "too-long"
                          << "drop";
    QTest::newRow("split") << "too-long"
                           << "split";
    QTest::newRow("all tokens") << "train-on"
                                << "all";
    QTest::newRow("no evaluation") << "eval-fraction"
                                   << "0";
    QTest::newRow("evaluation of its own") << "eval-data"
                                           << "";
    QTest::newRow("kept") << "empty-answers"
                          << "keep";
  }
  void streamed_data_are_those_in_memory() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    Settings settings = small();
    settings.template_name = "none";
    set_setting(settings, key.toStdString(), key == "eval-data" ? data_path_ : value.toStdString());
    const PreparedData memory = prepare_data(model_, spec_, data_path_, "", settings);
    for (int again = 0; again < 2; ++again) {
      const PreparedData data = streamed(settings);
      QCOMPARE(data.source.sha256, memory.source.sha256);
      QCOMPARE(data.source.report.read, memory.source.report.read);
      QCOMPARE(data.source.report.empty_answers, memory.source.report.empty_answers);
      QVERIFY(data.source.report.warnings == memory.source.report.warnings);
      QCOMPARE(data.long_rows, memory.long_rows);
      QCOMPARE(data.cut_rows, memory.cut_rows);
      QCOMPARE(data.end_rows, memory.end_rows);
      QCOMPARE(data.train_end_rows, memory.train_end_rows);
      QCOMPARE(data.longest, memory.longest);
      QVERIFY(data.lengths == memory.lengths);
      QCOMPARE(data.refused.size(), memory.refused.size());
      for (std::size_t i = 0; i < data.refused.size(); ++i)
        QCOMPARE(data.refused[i].reason, memory.refused[i].reason);
      for (const auto part : {&PreparedData::train, &PreparedData::evaluation}) {
        QCOMPARE((data.*part).size(), (memory.*part).size());
        for (std::size_t i = 0; i < (data.*part).size(); ++i) {
          const TokenRow &row = (data.*part)[i], &expected = (memory.*part)[i];
          QCOMPARE(row.number, expected.number);
          QVERIFY(row.ids == expected.ids);
          QVERIFY(row.targets == expected.targets);
          QCOMPARE(row.trained_tokens, expected.trained_tokens);
        }
      }
      QCOMPARE(data.shape.micro_batches_per_epoch, memory.shape.micro_batches_per_epoch);
    }
    QCOMPARE(cached().size(), std::size_t{1});
  }

  void another_setting_makes_another_file_and_one_that_changes_no_token_does_not() {
    Settings settings = small();
    streamed(settings);
    settings.seed = 5;
    settings.eval_fraction = 0.5;
    settings.learning_rate = 1;
    streamed(settings);
    QCOMPARE(cached().size(), std::size_t{1});
    settings.max_length = 40;
    streamed(settings);
    QCOMPARE(cached().size(), std::size_t{2});
    settings.system = "s";
    streamed(settings);
    QCOMPARE(cached().size(), std::size_t{3});
  }

  void a_damaged_file_is_made_anew_and_a_removed_one_too() {
    const PreparedData first = streamed(small());
    const std::string path = cached().front(), whole = read_file(path);
    for (const std::size_t at : {std::size_t{0}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
      std::string damaged = whole;
      damaged[at] ^= 1;
      write_file_atomically(path, damaged);
      QVERIFY(streamed(small()).train.size() == first.train.size());
      QVERIFY(read_file(path) == whole);
    }
    fs::remove(path);
    QVERIFY(first.train.front().ids == streamed(small()).train.front().ids);  // what is open stays readable
  }

  void a_store_is_opened_whole_with_its_key_and_known_ids_only() {
    const std::string key(64, 'k'), path = folder_.path().toStdString() + "/one.tokens";
    {
      TokenStoreWriter writer(path, key);
      writer.add({7, {1, 2, 3}, {-1, 3, -1}, 1}, 0, true);
      writer.commit({1, {3}, "notes"});
    }
    const auto store = TokenStore::open(path, key, 4);
    QVERIFY(store != nullptr);
    QCOMPARE(store->summary().notes, std::string("notes"));
    const TokenRow row = store->row(store->rows()[0]);
    QVERIFY(row.ids == TokenList({1, 2, 3}));
    QVERIFY(row.targets == TokenList({-1, 3, -1}));
    QVERIFY(!TokenStore::open(path, key, 3));
    QVERIFY(!TokenStore::open(path, std::string(64, 'j'), 4));
    QVERIFY(!TokenStore::open(path + "x", key, 4));
    const std::string whole = read_file(path);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write_file_atomically(path, whole.substr(0, length));
      QVERIFY(!TokenStore::open(path, key, 4));
    }
  }

  void borrowed_ids_become_own_ones_when_they_are_changed() {
    const std::vector<TokenId> ids = {1, 2, 3};
    TokenList list = TokenList::borrowed(ids.data(), ids.size());
    TokenList copy = list;
    QCOMPARE(copy.begin() != nullptr, true);
    copy[1] = 9;
    copy.push_back(4);
    QVERIFY(copy == TokenList({1, 9, 3, 4}));
    QVERIFY(list == TokenList({1, 2, 3}));
    QCOMPARE(ids[1], 2);
    TokenList own = copy;
    own[0] = 5;
    QCOMPARE(copy.front(), 1);
  }
};

QTEST_GUILESS_MAIN(TestPrepareStreamed)
#include "test_prepare_streamed.moc"

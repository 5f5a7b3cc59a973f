// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/train/schedule.h"
#include "core/train/settings.h"
#include "kernels/base/error.h"

using namespace lorikeet;

class TestSettings : public QObject {
  Q_OBJECT

 private slots:
  void the_table_and_the_struct_have_the_same_defaults() {
    std::set<std::string> keys;
    for (const auto& info : settings_table()) {
      QVERIFY2(keys.insert(info.key).second, info.key.c_str());
      QVERIFY2(!info.help.empty() && !info.group.empty(), info.key.c_str());
      Settings settings;
      set_setting(settings, info.key, info.default_text);
      QCOMPARE(setting_text(settings, info.key), setting_text(Settings{}, info.key));
    }
    for (const char* key :
         {"quantization", "rank", "max-length", "learning-rate", "eval-every", "memory-limit", "seed"}) {
      QVERIFY2(keys.contains(key), key);
    }
  }

  void every_value_survives_json() {
    Settings settings;
    settings.learning_rate = 1.7e-4;
    settings.max_length = 512;
    settings.system = "Be \"brief\"\nand kind";
    settings.sample_prompts = {"One?", "Zwei?"};
    settings.seed = 18446744073709551615u;
    settings.memory_limit_bytes = 6000000000;
    settings.packing = false;
    const Settings back = settings_from_json(settings_to_json(settings), "job.json");
    for (const auto& info : settings_table()) {
      QCOMPARE(setting_text(back, info.key), setting_text(settings, info.key));
    }
    QCOMPARE(back.learning_rate, settings.learning_rate);
    QCOMPARE(back.seed, settings.seed);
  }

  void wrong_values_are_refused_by_name_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::addColumn<int>("code");
    const int invalid = static_cast<int>(ErrorCode::invalid_argument);
    const int unsupported = static_cast<int>(ErrorCode::unsupported);
    QTest::newRow("unknown key") << "ranks"
                                 << "8" << invalid;
    QTest::newRow("not a number") << "rank"
                                  << "eight" << invalid;
    QTest::newRow("a number and more") << "rank"
                                       << "8x" << invalid;
    QTest::newRow("below the range") << "rank"
                                     << "0" << invalid;
    QTest::newRow("a fraction of a rank") << "rank"
                                          << "8.5" << invalid;
    QTest::newRow("learning rate far too high") << "learning-rate"
                                                << "2" << invalid;
    QTest::newRow("not a number at all") << "learning-rate"
                                         << "nan" << invalid;
    QTest::newRow("infinite") << "epochs"
                              << "inf" << invalid;
    QTest::newRow("unknown choice") << "optimizer"
                                    << "sgd" << invalid;
    QTest::newRow("known but not built") << "head-quantization"
                                         << "int8" << unsupported;
    QTest::newRow("dropout of nearly all") << "dropout"
                                           << "0.99" << invalid;
    QTest::newRow("a size without digits") << "memory-limit"
                                           << "lots" << invalid;
    QTest::newRow("a size that is too small") << "memory-limit"
                                              << "1MB" << invalid;
  }
  void wrong_values_are_refused_by_name() {
    QFETCH(QString, key);
    QFETCH(QString, text);
    QFETCH(int, code);
    Settings settings;
    try {
      set_setting(settings, key.toStdString(), text.toStdString());
      QFAIL("accepted");
    } catch (const Error& error) {
      QCOMPARE(static_cast<int>(error.code()), code);
      QCOMPARE(error.where(), key.toStdString());
      QVERIFY(!error.hint().empty());
    }
  }

  void sizes_are_read_as_people_write_them() {
    Settings settings;
    set_setting(settings, "memory-limit", "6GB");
    QCOMPARE(settings.memory_limit_bytes, std::uint64_t{6000000000});
    set_setting(settings, "memory-limit", "1.5 GiB");
    QCOMPARE(settings.memory_limit_bytes, std::uint64_t{1610612736});
    set_setting(settings, "memory-limit", "auto");
    QCOMPARE(settings.memory_limit_bytes, std::uint64_t{0});
  }

  void unknown_keys_in_a_job_are_refused() {
    QVERIFY_EXCEPTION_THROWN(settings_from_json(Json{{"lerning-rate", 1e-4}}, "job.json"), Error);
    QVERIFY_EXCEPTION_THROWN(settings_from_json(Json{{"rank", true}}, "job.json"), Error);
    QVERIFY_EXCEPTION_THROWN(settings_from_json(Json{{"packing", "true"}}, "job.json"), Error);
  }

  // Values of transformers' get_scheduler at 100 steps, 10 of them warm-up (formulas of its optimization
  // module).
  void schedules_are_those_of_transformers() {
    const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-12; };
    const Schedule linear{"linear", 1.0, 0, 100, 10};
    QVERIFY(near(linear.rate_at(0), 0.0) && near(linear.rate_at(5), 0.5) && near(linear.rate_at(10), 1.0));
    QVERIFY(near(linear.rate_at(55), 0.5) && near(linear.rate_at(99), 1.0 / 90));
    const Schedule cosine{"cosine", 2.0, 0, 100, 10};
    QVERIFY(near(cosine.rate_at(10), 2.0) && near(cosine.rate_at(55), 1.0) && near(cosine.rate_at(40), 1.5));
    const Schedule floor{"cosine-min", 1.0, 0.1, 100, 10};
    QVERIFY(near(floor.rate_at(55), 0.55) && near(floor.rate_at(100), 0.1));
    const Schedule constant{"constant", 1.0, 0, 100, 10};
    QVERIFY(near(constant.rate_at(1), 0.1) && near(constant.rate_at(80), 1.0));
    const Schedule root{"inverse-sqrt", 1.0, 0, 100, 10};
    QVERIFY(near(root.rate_at(10), 1.0) && near(root.rate_at(40), 0.5));
    const Schedule flat{"linear", 1.0, 0, 1, 0};
    QVERIFY(near(flat.rate_at(0), 1.0));
  }
};

QTEST_GUILESS_MAIN(TestSettings)
#include "test_settings.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/train/gpu_models.h"
#include "core/train/plan_fit.h"
#include "kernels/base/error.h"

using namespace lorikeet;

class TestPlanFit : public QObject {
  Q_OBJECT
  std::vector<TokenRow> rows_, none_;

  static ModelSpec llama_7b() {
    ModelSpec spec;
    spec.vocab_size = 32000;
    spec.hidden_size = 4096;
    spec.intermediate_size = 11008;
    spec.layers = spec.heads = spec.kv_heads = 32;
    spec.head_dim = spec.rope.rotary_dim = 128;
    spec.context = 4096;
    return spec;
  }
  static Settings wide() {
    Settings settings;
    settings.max_length = 2048;
    settings.batch_size = 8;
    settings.accumulation = 2;
    return settings;
  }
  FitAdvice advice_for(const char* gpu, const Settings& settings) {
    return make_it_fit(llama_7b(), {&rows_, &none_, 0}, settings, plan_device(find_gpu(gpu), settings));
  }

 private slots:
  void initTestCase() {
    for (std::int64_t i = 0; i < 200; ++i) {
      TokenRow row;
      row.number = i + 1;
      row.ids.assign(static_cast<std::size_t>(i == 7 ? 1500 : 40 + i * 2), 5);
      row.targets.assign(row.ids.size(), 5);
      row.targets.back() = -1;
      row.trained_tokens = static_cast<std::int64_t>(row.ids.size()) - 1;
      rows_.push_back(row);
    }
  }

  void what_fits_is_left_as_it_is() {
    const FitAdvice advice = advice_for("80GB", wide());
    QVERIFY(advice.now.fits);
    QVERIFY(!advice.cheapest);
  }

  void the_cheapest_change_fits_and_keeps_the_rows_of_a_step() {
    const FitAdvice advice = advice_for("12GB", wide());
    QVERIFY(!advice.now.fits);
    QVERIFY(advice.cheapest && advice.cheapest->plan.fits);
    QCOMPARE(advice.cheapest->harm, 0);  // a smaller micro-batch, or packs of the longest row
    const Settings& found = advice.cheapest->settings;
    QCOMPARE(found.rank, wide().rank);
    const double before = 8.0 * 2 * 2048;
    const double after =
        static_cast<double>(found.batch_size * found.accumulation * resolved_max_length(found, llama_7b()));
    QVERIFY2(std::abs(after / before - 1) < 0.2, qPrintable(QString::number(after / before)));
    // Applied as flags, the same plan comes out.
    Settings again = wide();
    for (const SettingChange& change : advice.cheapest->changes) set_setting(again, change.key, change.to);
    QCOMPARE(settings_to_json(again), settings_to_json(found));
  }

  void no_single_change_that_fits_and_harms_less_is_quicker() {
    const FitAdvice advice = advice_for("12GB", wide());
    for (const FitOption& option : advice.single) {
      QVERIFY(option.saved_bytes > 0);
      if (!option.plan.fits || option.harm > advice.cheapest->harm) continue;
      QVERIFY2(option.time_ratio >= advice.cheapest->time_ratio - 0.006, option.what.c_str());
    }
  }

  void weights_in_16_bits_on_a_small_card_are_quantised() {
    Settings settings = wide();
    settings.quantization = "none";
    settings.batch_size = 1;
    const FitAdvice advice = advice_for("12GB", settings);
    QVERIFY(advice.cheapest);
    QCOMPARE(advice.cheapest->settings.quantization, std::string("nf4"));
    QVERIFY(as_flags(advice.cheapest->changes).find("--quantization nf4") != std::string::npos);
  }

  void what_cannot_fit_is_said_so() {
    ModelSpec giant = llama_7b();
    giant.layers = 320;
    const Settings settings = wide();
    const FitAdvice advice =
        make_it_fit(giant, {&rows_, &none_, 0}, settings, plan_device(find_gpu("8GB"), settings));
    QVERIFY(!advice.now.fits && !advice.cheapest);
  }

  void gpus_are_found_by_name_and_by_size_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("name");
    for (const auto& [text, name] :
         std::vector<std::pair<const char*, const char*>>{{"8GB", "RTX 4060"},
                                                          {"24 GB", "RTX 3090"},
                                                          {"80GB", "A100 80GB"},
                                                          {"RTX 3060 12GB", "RTX 3060 12GB"},
                                                          {"NVIDIA GeForce RTX 3060", "RTX 3060 12GB"},
                                                          {"T4", "T4"},
                                                          {"4090", "RTX 4090"},
                                                          {"h100", "H100"},
                                                          {"L4", "L4"},
                                                          {"l40s", "L40S"},
                                                          {"A100", "A100 80GB"}})
      QTest::newRow(text) << text << name;
  }
  void gpus_are_found_by_name_and_by_size() {
    QFETCH(QString, text);
    QFETCH(QString, name);
    QCOMPARE(find_gpu(text.toStdString()).name, name.toStdString());
  }

  void a_driver_s_name_is_known_by_its_beginning() {
    QCOMPARE(known_gpu("NVIDIA GeForce RTX 4090")->name, std::string("RTX 4090"));
    QCOMPARE(known_gpu("NVIDIA H200")->name, std::string("H200"));
    QCOMPARE(known_gpu("Tesla T4")->name, std::string("T4"));
    QCOMPARE(known_gpu("NVIDIA L4")->name, std::string("L4"));
    QVERIFY(!known_gpu("Voodoo 2"));
    QVERIFY_THROWS_EXCEPTION(Error, find_gpu("Voodoo 2"));
  }

  void more_room_needs_fewer_changes() {
    std::int64_t batch = 0;
    for (const char* gpu : {"8GB", "12GB", "16GB", "24GB"}) {
      const FitAdvice advice = advice_for(gpu, wide());
      const Settings settings = advice.cheapest ? advice.cheapest->settings : wide();
      const Plan& plan = advice.cheapest ? advice.cheapest->plan : advice.now;
      qInfo("%-5s %s: %.2f GB, %d layers recomputed, %.0f s", gpu,
            advice.cheapest ? as_flags(advice.cheapest->changes).c_str() : "as it is",
            static_cast<double>(plan.memory.total()) / 1e9, static_cast<int>(plan.recomputed_layers),
            plan.estimated_seconds);
      QVERIFY(plan.fits);
      const std::int64_t tokens = settings.batch_size * resolved_max_length(settings, llama_7b());
      QVERIFY(tokens >= batch / 2);
      batch = tokens;
    }
  }
};

QTEST_GUILESS_MAIN(TestPlanFit)
#include "test_plan_fit.moc"

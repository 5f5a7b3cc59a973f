// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QtTest>

#include "kernels/base/error.h"
#include "ui/engine/device_monitor.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/table.h"
#include "ui/widgets/token_view.h"
#include "ui/wizard/base_page.h"
#include "ui/wizard/check_page.h"
#include "ui/wizard/data_page.h"
#include "ui/wizard/models_model.h"
#include "ui/wizard/presets.h"
#include "ui/wizard/report_card.h"
#include "ui/wizard/row_views.h"
#include "ui/wizard/run_card.h"
#include "ui/wizard/setting_words.h"
#include "ui/wizard/settings_form.h"
#include "ui/wizard/start_page.h"
#include "ui/wizard/training_page.h"
#include "ui/wizard/wizard_model.h"
#include "ui/wizard/wizard_page.h"

using namespace lorikeet;
using namespace lorikeet::ui;

/// The wizard's pages on the real core, against small files made here and the bundled sample.
class TestWizard : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("LORIKEET_HOME", m_home->path().toLocal8Bit());
    qputenv("HF_HUB_CACHE", (m_home->path() + "/hub").toLocal8Bit());
    m_studio = std::make_unique<Studio>(static_cast<QApplication&>(*qApp));
    m_studio->show();
    m_wizard = static_cast<WizardPage*>(m_studio->window()->page(Place::train));
    m_model = m_wizard->model();
    m_studio->window()->showPlace(Place::train);
    QTRY_VERIFY(m_studio->context().devices->machine().known);
  }
  void cleanup() { m_studio.reset(); }

  void what_is_no_base_model_is_refused_in_place_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("words");
    QTest::newRow("no such path") << "nothing"
                                  << "no such";
    QTest::newRow("an empty folder") << "empty"
                                     << "config.json";
    QTest::newRow("pickle weights") << "pickle"
                                    << "pickle";
    QTest::newRow("a text file called .gguf") << "gguf"
                                              << "GGUF";
    QTest::newRow("weights that are cut off") << "short"
                                              << "";
  }
  void what_is_no_base_model_is_refused_in_place() {
    QFETCH(QString, kind);
    QFETCH(QString, words);
    auto* page = static_cast<BasePage*>(m_wizard->stepPage(0));
    page->open(makeBadModel(kind));
    QTRY_VERIFY(page->banner()->isVisible());
    const QString all = page->banner()->sentence() + " " + page->banner()->detail();
    QVERIFY2(all.contains(words, Qt::CaseInsensitive), qPrintable(all));
    QVERIFY(!page->banner()->detail().isEmpty());
    QVERIFY(!m_model->state().base);
    QVERIFY(!m_wizard->primaryButton()->isEnabled());
  }

  void the_sample_model_is_listed_and_can_be_taken() {
    auto* page = static_cast<BasePage*>(m_wizard->stepPage(0));
    QTRY_COMPARE(page->table()->model()->rowCount(), 1);
    page->table()->selectRow(0);
    QTRY_VERIFY(m_model->state().base);
    QCOMPARE(m_model->state().base->spec.family, std::string("llama"));
    QCOMPARE(page->obstacle(), QString());
    QTRY_VERIFY(m_wizard->primaryButton()->isEnabled());
    QTRY_COMPARE(m_wizard->runCard()->verdict(), QStringLiteral("Choose data to see steps"));
  }

  void a_folder_opened_by_its_path_joins_the_list() {
    const QString copy = m_home->path() + "/my-model";
    copyFolder(m_studio->context().paths.sampleModel(), copy);
    auto* page = static_cast<BasePage*>(m_wizard->stepPage(0));
    QTRY_COMPARE(page->table()->model()->rowCount(), 1);
    page->searchField()->setFocus();
    QTest::keyClicks(page->searchField(), copy);
    QTest::keyClick(page->searchField(), Qt::Key_Return);
    QTRY_VERIFY(m_model->state().base);
    QCOMPARE(m_model->state().base->path, copy);
    QTRY_COMPARE(page->table()->model()->rowCount(), 2);
  }

  void data_that_cannot_be_used_is_refused_in_place_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("words");
    QTest::newRow("no such file") << QByteArray() << "";
    QTest::newRow("broken JSON") << QByteArray("[{\"instruction\": \"a\", \"output\": ") << "";
    QTest::newRow("no usable row") << QByteArray("[{\"question\": 1}, {\"question\": 2}]") << "";
    QTest::newRow("an empty file") << QByteArray("\n") << "";
    QTest::newRow("a picture") << QByteArray("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) << "";
  }
  void data_that_cannot_be_used_is_refused_in_place() {
    QFETCH(QByteArray, content);
    auto* page = static_cast<DataPage*>(m_wizard->stepPage(1));
    m_wizard->goTo(1);
    page->open(content.isEmpty() ? m_home->path() + "/none.json" : write("rows.json", content));
    QTRY_VERIFY(page->banner()->isVisible());
    QVERIFY(!page->banner()->sentence().isEmpty());
    QVERIFY(!page->banner()->detail().isEmpty());
    QVERIFY(!m_model->state().data);
    QVERIFY(!page->obstacle().isEmpty());
  }

  void columns_that_are_unknown_can_be_named_in_place() {
    auto* page = static_cast<DataPage*>(m_wizard->stepPage(1));
    m_wizard->goTo(1);
    QVERIFY(!page->columnsField()->isVisible());
    page->open(write("rows.csv", "frage,antwort\na,b\n"));
    QTRY_VERIFY(page->columnsField()->isVisible());
    QTest::keyClicks(page->columnsField(), "instruction=frage,output=antwort");
    QTest::keyClick(page->columnsField(), Qt::Key_Return);
    QTRY_VERIFY(m_model->state().data);
    QCOMPARE(m_model->state().data->rows.front().instruction, std::string("a"));
    QCOMPARE(m_model->state().data->report.confidence, std::string("chosen"));
  }

  void rows_are_counted_refused_and_shown_with_their_reason() {
    takeSample();
    m_wizard->goTo(1);
    auto* page = static_cast<DataPage*>(m_wizard->stepPage(1));
    page->open(write("rows.jsonl",
                     "{\"instruction\":\"One\",\"output\":\"first\"}\n"
                     "{\"instruction\":\"Two\",\"output\":\"\"}\n"
                     "not json\n"
                     "{\"instruction\":\"Three\",\"input\":\"x\",\"output\":\"third\"}\n"
                     "{\"instruction\":\"One\",\"output\":\"first\"}\n"));
    QTRY_VERIFY(m_model->state().prepared);
    QCOMPARE(page->report()->count(ReportCard::read), QStringLiteral("5"));
    QCOMPARE(page->report()->count(ReportCard::used), QStringLiteral("3"));
    QCOMPARE(page->report()->count(ReportCard::duplicates), QStringLiteral("1"));
    QCOMPARE(page->report()->count(ReportCard::empty), QStringLiteral("1"));
    QCOMPARE(page->report()->count(ReportCard::refused), QStringLiteral("2"));
    QCOMPARE(page->report()->refusedTable()->model()->rowCount(), 2);
    QCOMPARE(page->report()->refusedTable()->model()->index(0, 0).data().toString(), QStringLiteral("2"));
    QCOMPARE(page->table()->model()->rowCount(), 3);
    QCOMPARE(page->mark(), StepMark::look);
  }

  void the_token_view_shows_what_is_trained() {
    takeSample();
    m_wizard->goTo(1);
    auto* page = static_cast<DataPage*>(m_wizard->stepPage(1));
    page->open(write(
        "rows.json",
        "[{\"instruction\":\"Say hi\",\"output\":\"hi\"},{\"instruction\":\"Go\",\"output\":\"gone\"}]"));
    QTRY_VERIFY(m_model->state().prepared);
    page->setTab(2);
    TokenView* view = page->tokenRow()->view();
    QTRY_VERIFY(!view->shownTokens().empty());
    const auto& shown = view->shownTokens();
    QVERIFY(shown.front().special);  // begin token
    QVERIFY(!shown.front().trained);
    QVERIFY(shown.back().special);  // end token
    QVERIFY(shown.back().trained);
    QString trained;
    for (const ShownToken& token : shown) {
      if (token.trained && !token.special) trained += token.text;
    }
    QCOMPARE(trained, QStringLiteral("hi"));
    // A shorter limit cuts the row, and the view says where.
    QVERIFY(m_model->setSetting("max-length", "20").isEmpty());
    QTRY_VERIFY(!m_model->isPreparing() &&
                !m_model->state().prepared);  // nothing trained is left in 20 tokens
    QTRY_VERIFY(page->banner()->isVisible());
    QVERIFY(!page->obstacle().isEmpty());
  }

  void a_preset_sets_the_fields_and_a_change_by_hand_makes_it_own() {
    takeSample();
    m_model->applyPreset(Preset::thorough);
    QCOMPARE(m_model->state().settings.rank, 64);
    QCOMPARE(matchingPreset(m_model->state().settings), Preset::thorough);
    QVERIFY(m_model->setSetting("rank", "16").isEmpty());
    QCOMPARE(m_model->state().preset, Preset::own);
    m_model->applyPreset(Preset::balanced);
    QCOMPARE(m_model->state().preset, Preset::balanced);
  }

  void a_value_outside_its_range_stays_marked_and_closes_next() {
    takeSample();
    takeStories();
    m_wizard->goTo(3);
    auto* page = static_cast<TrainingPage*>(m_wizard->stepPage(3));
    auto* rate = qobject_cast<QLineEdit*>(page->learning()->control("learning-rate"));
    QVERIFY(rate);
    rate->setFocus();
    rate->selectAll();
    QTest::keyClicks(rate, "2000");
    QVERIFY(page->learning()->hasInvalid());
    QVERIFY(!page->obstacle().isEmpty());
    QVERIFY(!m_wizard->primaryButton()->isEnabled());
    QCOMPARE(m_model->state().settings.learning_rate, 2e-4);
    rate->selectAll();
    QTest::keyClicks(rate, "3e-4");
    QVERIFY(!page->learning()->hasInvalid());
    QCOMPARE(m_model->state().settings.learning_rate, 3e-4);
  }

  void sample_prompts_are_added_and_removed_by_keyboard() {
    m_wizard->goTo(3);
    auto* page = static_cast<TrainingPage*>(m_wizard->stepPage(3));
    page->promptField()->setFocus();
    QTest::keyClicks(page->promptField(), "Tell a story about a fox");
    QTest::keyClick(page->promptField(), Qt::Key_Return);
    QCOMPARE(m_model->state().settings.sample_prompts, std::vector<std::string>{"Tell a story about a fox"});
    QCOMPARE(page->promptField()->text(), QString());
  }

  void only_settings_that_are_built_are_offered() {
    for (const SettingInfo& info : settings_table()) {
      Settings settings;
      const bool reserved = [&] {
        try {
          set_setting(settings, info.key,
                      info.key == "dora"      ? "true"
                      : info.key == "dropout" ? "0.5"
                                              : setting_text(settings, info.key));
          return false;
        } catch (const Error&) {
          return true;
        }
      }();
      if (reserved) QVERIFY2(!isBuilt(info), info.key.c_str());
    }
    QVERIFY(isBuilt(*find_setting("rank")));
    QVERIFY(isBuilt(*find_setting("learning-rate")));
    QVERIFY(isBuilt(*find_setting("packing")));
  }

  void too_few_steps_are_a_warning_and_the_lights_stand_in_order() {
    takeSample();
    takeStories();
    QVERIFY(m_model->setSetting("max-steps", "5").isEmpty());
    m_wizard->goTo(4);
    auto* page = static_cast<CheckPage*>(m_wizard->stepPage(4));
    QTRY_VERIFY(!page->items().empty());
    const auto steps = std::find_if(page->items().begin(), page->items().end(),
                                    [](const CheckItem& i) { return i.name == "Steps"; });
    QVERIFY(steps != page->items().end());
    QCOMPARE(steps->state, LightState::look);
    for (std::size_t i = 0; i + 1 < page->items().size(); ++i) {
      const auto weight = [](LightState s) {
        return s == LightState::stops ? 0 : s == LightState::look ? 1 : 2;
      };
      QVERIFY(weight(page->items()[i].state) <= weight(page->items()[i + 1].state));
    }
    QCOMPARE(page->obstacle(), QString());  // a warning does not stop
  }

  void what_the_engine_refuses_stops_before_the_start_data() {
    QTest::addColumn<QString>("machine");  // "none", or the compute type of its GPU
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("words");  // "" = nothing stops
    QTest::addColumn<int>("step");
    QTest::newRow("CUDA without a GPU") << "none"
                                        << "device"
                                        << "cuda"
                                        << "Device"
                                        << "CUDA is not used: no NVIDIA GPU was found" << 3;
    QTest::newRow("automatic without a GPU") << "none"
                                             << "device"
                                             << "auto"
                                             << "Device"
                                             << "" << -1;
    QTest::newRow("CUDA with a GPU") << "f16"
                                     << "device"
                                     << "cuda"
                                     << "Device"
                                     << "" << -1;
    QTest::newRow("offload without a GPU") << "none"
                                           << "offload"
                                           << "true"
                                           << "Offload"
                                           << "there is none in use. Leave it at false" << 3;
    QTest::newRow("offload with a GPU") << "f16"
                                        << "offload"
                                        << "true"
                                        << "Device"
                                        << "" << -1;
    QTest::newRow("f16 on the processor") << "none"
                                          << "compute"
                                          << "f16"
                                          << "Number type"
                                          << "no f16 products. Use compute auto, bf16 or f32" << 2;
    QTest::newRow("f16 on a GPU") << "bf16"
                                  << "compute"
                                  << "f16"
                                  << "Device"
                                  << "" << -1;
    QTest::newRow("bf16 on a GPU without") << "f16"
                                           << "compute"
                                           << "bf16"
                                           << "Number type"
                                           << "no bf16 products. Use compute auto, f16 or f32" << 2;
    QTest::newRow("bf16 on the processor") << "none"
                                           << "compute"
                                           << "bf16"
                                           << "Device"
                                           << "" << -1;
  }
  void what_the_engine_refuses_stops_before_the_start() {
    QFETCH(QString, machine);
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(QString, name);
    QFETCH(QString, words);
    QFETCH(int, step);
    takeSample();
    takeStories();
    QVERIFY(m_model->setSetting(key.toStdString(), value).isEmpty());
    QTRY_VERIFY(m_model->state().plan && m_model->state().prepared);
    MachineInfo info = m_studio->context().devices->machine();
    info.usesGpu = machine != "none";
    info.gpuName = "RTX";
    info.gpuCompute = machine;
    info.why = info.usesGpu ? QString() : "CUDA is not used: no NVIDIA GPU was found.";
    const std::vector<CheckItem> items = runChecks(m_model->state(), std::uint64_t{8} << 30, info);
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const CheckItem& i) { return i.name == name; });
    QVERIFY(found != items.end());
    QCOMPARE(found->state, words.isEmpty() ? LightState::good : LightState::stops);
    QVERIFY2(found->sentence.contains(words), qPrintable(found->sentence));
    QCOMPARE(found->fixStep, step);
    QCOMPARE(found->fix.isEmpty(), words.isEmpty());
    if (!words.isEmpty()) QCOMPARE(items.front().state, LightState::stops);
  }

  void a_device_that_is_not_there_is_no_way_to_the_start() {
    if (m_studio->context().devices->machine().usesGpu) QSKIP("this machine has a GPU");
    takeSample();
    takeStories();
    QVERIFY(m_model->setSetting("device", "cuda").isEmpty());
    m_wizard->goTo(4);
    auto* page = static_cast<CheckPage*>(m_wizard->stepPage(4));
    QTRY_VERIFY(!page->items().empty());
    QTRY_VERIFY(!page->obstacle().isEmpty() && !m_model->isPreparing());
    QVERIFY(page->items().front().sentence.contains(m_studio->context().devices->machine().why));
    m_wizard->goTo(5);
    QVERIFY(!m_wizard->primaryButton()->isEnabled());
    QVERIFY(m_model->setSetting("device", "auto").isEmpty());
    QTRY_VERIFY(m_wizard->primaryButton()->isEnabled());
  }

  void the_list_of_models_counts_in_the_chosen_number_type() {
    auto* page = static_cast<BasePage*>(m_wizard->stepPage(0));
    QTRY_COMPARE(page->table()->model()->rowCount(), 1);
    const auto spare = [&](const char* compute) {
      if (!m_model->setSetting("compute", compute).isEmpty()) qFatal("refused");
      return page->table()->model()->index(0, ModelsModel::fits).data(SortRole).toDouble();
    };
    QVERIFY(spare("f32") < spare("bf16"));
  }

  void only_what_bitsandbytes_computes_too_is_called_the_same() {
    const auto says_same = [&](const char* quantization) {
      if (!m_model->setSetting("quantization", quantization).isEmpty()) qFatal("refused");
      bool same = false;
      for (const QLabel* label : m_wizard->stepPage(2)->findChildren<QLabel*>())
        same = same || label->text().contains("Same numbers as bitsandbytes");
      return same;
    };
    for (const char* quantization : {"nf4", "nf4-single", "fp4"})
      QVERIFY2(says_same(quantization), quantization);
    for (const char* quantization : {"int8", "none"}) QVERIFY2(!says_same(quantization), quantization);
  }

  void a_run_that_does_not_fit_is_stopped_and_can_be_made_to_fit() {
    takeSample();
    takeStories();
    QVERIFY(m_model->setSetting("memory-limit", "64MB").isEmpty());
    QVERIFY(m_model->setSetting("batch-size", "64").isEmpty());
    m_wizard->goTo(4);
    auto* page = static_cast<CheckPage*>(m_wizard->stepPage(4));
    QTRY_VERIFY(page->banner()->isVisible());
    QVERIFY(page->banner()->sentence().contains("missing"));
    QVERIFY(!page->obstacle().isEmpty());
    QCOMPARE(page->items().front().state, LightState::stops);
    QPushButton* fit = page->primaryButton();
    QVERIFY(fit);
    const Settings before = m_model->state().settings;
    fit->click();
    QTRY_VERIFY(m_model->state().plan && m_model->state().plan->fits);
    const Settings& after = m_model->state().settings;
    QCOMPARE(after.batch_size * after.accumulation,
             before.batch_size * before.accumulation);  // the same rows a step
    QTRY_VERIFY(!page->banner()->isVisible());
  }

  void back_loses_nothing_and_the_start_page_tells_the_command() {
    takeSample();
    takeStories();
    QVERIFY(m_model->setSetting("rank", "16").isEmpty());
    QTRY_VERIFY(m_model->state().plan && !m_model->isPreparing());
    m_wizard->goTo(5);
    m_wizard->goTo(0);
    QVERIFY(m_model->state().data);
    m_wizard->goTo(5);
    auto* page = static_cast<StartPage*>(m_wizard->stepPage(5));
    QVERIFY(page->command().contains("--rank 16"));
    QVERIFY(page->command().contains("stories.json"));
    QCOMPARE(page->runPath(), m_studio->context().paths.runsFolder() + "/stories");
    QTRY_VERIFY(m_wizard->primaryButton()->isEnabled());
    m_model->edit().runName.clear();
    page->enter();
    QVERIFY(!page->obstacle().isEmpty());
  }

  void a_change_of_language_keeps_the_draft() {
    takeSample();
    m_studio->setLanguage(QStringLiteral("bn"));
    auto* again = static_cast<WizardPage*>(m_studio->window()->page(Place::train));
    QVERIFY(again->model()->state().base);
    QCOMPARE(m_studio->window()->place(), Place::train);
    m_studio->setLanguage(QStringLiteral("en"));
  }

 private:
  void takeSample() {
    m_model->chooseBase(m_studio->context().paths.sampleModel());
    QTRY_VERIFY(m_model->state().base);
  }
  void takeStories() {
    m_model->chooseData(m_studio->context().paths.sampleData());
    QTRY_VERIFY(m_model->state().prepared);
  }
  QString write(const QString& name, const QByteArray& content) {
    QFile file(m_home->path() + "/" + name);
    if (file.open(QIODevice::WriteOnly)) file.write(content);
    return file.fileName();
  }
  static void copyFolder(const QString& from, const QString& to) {
    QDir().mkpath(to);
    for (const QString& name : QDir(from).entryList(QDir::Files))
      QFile::copy(from + "/" + name, to + "/" + name);
  }
  QString makeBadModel(const QString& kind) {
    const QString path = m_home->path() + "/" + kind;
    if (kind == "nothing") return path;
    if (kind == "gguf") return write("fake.gguf", "this is no GGUF file at all, only text");
    QDir().mkpath(path);
    if (kind == "empty") return path;
    copyFolder(m_studio->context().paths.sampleModel(), path);
    QFile weights(path + "/model.safetensors");
    if (kind == "short") {
      weights.resize(weights.size() / 2);
      return path;
    }
    weights.remove();
    write(kind + "/pytorch_model.bin", QByteArray("\x80\x02}q\x00(X\x04\x00\x00\x00", 12));
    return path;
  }
  std::unique_ptr<QTemporaryDir> m_home;
  std::unique_ptr<Studio> m_studio;
  WizardPage* m_wizard = nullptr;
  WizardModel* m_model = nullptr;
};

QTEST_MAIN(TestWizard)
#include "test_wizard.moc"

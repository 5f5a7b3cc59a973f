// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLabel>
#include <QtTest>

#include "ui/engine/device_monitor.h"
#include "ui/engine/run_launcher.h"
#include "ui/home/machine_card.h"
#include "ui/runs/word_diff.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/choice.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/marks.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/token_view.h"

using namespace lorikeet;
using namespace lorikeet::ui;

/// Palette, formats and painted widgets, without any page.
class TestWidgets : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QLocale::setDefault(QLocale(QLocale::English));
    m_theme = new Theme(static_cast<QApplication&>(*qApp));
  }

  void every_pair_of_text_and_ground_can_be_read_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QString>("ink");
    QTest::addColumn<QString>("ground");
    const QStringList pairs = {"text window",
                               "text surface",
                               "text sunken",
                               "text hover",
                               "text2 window",
                               "text2 surface",
                               "text2 sunken",
                               "text2 nav",
                               "text3 window",
                               "text3 surface",
                               "text3 nav",
                               "text3 hover",
                               "accent_text window",
                               "accent_text surface",
                               "accent_text accent_tint",
                               "text accent_tint",
                               "on_accent accent",
                               "on_accent accent_hover",
                               "on_accent accent_press",
                               "success surface",
                               "success success_tint",
                               "warning surface",
                               "warning warning_tint",
                               "danger surface",
                               "danger danger_tint",
                               "text success_tint",
                               "text warning_tint",
                               "text danger_tint",
                               "trained_text trained_bg",
                               "text add_bg",
                               "text del_bg",
                               "text2 border"};
    for (const QString& pair : pairs) {
      for (const bool dark : {false, true}) {
        QTest::addRow("%s, %s", qPrintable(pair), dark ? "dark" : "light")
            << dark << pair.section(' ', 0, 0) << pair.section(' ', 1, 1);
      }
    }
  }
  void every_pair_of_text_and_ground_can_be_read() {
    QFETCH(bool, dark);
    QFETCH(QString, ink);
    QFETCH(QString, ground);
    const Palette palette = dark ? darkPalette() : lightPalette();
    const double ratio = contrast(colour(palette, ink), colour(palette, ground));
    QVERIFY2(ratio >= 4.5, qPrintable(QString::number(ratio)));
  }

  void edges_marks_and_lines_stand_out_from_their_ground() {
    for (const bool dark : {false, true}) {
      const Palette p = dark ? darkPalette() : lightPalette();
      for (const QColor& line : {p.borderStrong, p.focus, p.beak, p.axis, p.series1, p.series2, p.series3,
                                 p.series4, p.series5, p.series6, p.series7, p.series8}) {
        QVERIFY2(contrast(line, p.surface) >= 3.0, qPrintable(line.name()));
      }
    }
  }

  void the_style_sheet_names_only_colours_and_glyphs_that_exist() {
    const QString sheet = qApp->styleSheet();
    QVERIFY(sheet.size() > 1000);
    QVERIFY(!sheet.contains('@'));
    QVERIFY(sheet.contains(tokens().accent.name()));
    const QRegularExpression image(QStringLiteral("url\\(\"([^\"]+)\"\\)"));
    for (auto match = image.globalMatch(sheet); match.hasNext();)
      QVERIFY(QFile::exists(match.next().captured(1)));
  }

  void a_change_of_theme_reaches_labels_icons_and_the_palette() {
    Label label(QStringLiteral("text"), Role::body, &Palette::text2);
    const QIcon glyph = icon(QStringLiteral("home"), &Palette::text);
    m_theme->setChoice(ThemeChoice::light);
    const QImage light = glyph.pixmap(24, 24).toImage();
    QCOMPARE(label.palette().color(QPalette::WindowText), lightPalette().text2);
    m_theme->setChoice(ThemeChoice::dark);
    QCOMPARE(label.palette().color(QPalette::WindowText), darkPalette().text2);
    QCOMPARE(qApp->palette().color(QPalette::Window), darkPalette().window);
    QVERIFY(glyph.pixmap(24, 24).toImage() != light);
    m_theme->setChoice(ThemeChoice::light);
  }

  void every_icon_that_is_named_is_there_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"home",    "train", "run",   "library", "chat",       "export",  "settings",
                             "help",    "pause", "play",  "stop",    "checkpoint", "warning", "error",
                             "success", "info",  "coach", "copy",    "refresh",    "send",    "app"}) {
      QTest::addRow("%s", name) << QString::fromLatin1(name);
    }
  }
  void every_icon_that_is_named_is_there() {
    QFETCH(QString, name);
    const QImage image = iconPixmap(name, Qt::red, 24, 2).toImage();
    QCOMPARE(image.size(), QSize(48, 48));
    bool painted = false;
    for (int y = 0; y < image.height() && !painted; ++y) {
      for (int x = 0; x < image.width(); ++x) painted = painted || qAlpha(image.pixel(x, y)) > 0;
    }
    QVERIFY(painted);
  }

  void figures_are_written_as_people_read_them() {
    const QString space(QChar(0x00A0));
    QCOMPARE(countText(12480), QStringLiteral("12,480"));
    QCOMPARE(bytesText(1'140'000'000), "1.14" + space + "GB");
    QCOMPARE(bytesText(212'000'000), "212" + space + "MB");
    QCOMPARE(bytesText(700), "700" + space + "B");
    QCOMPARE(shortCountText(36'900'000), "36.9" + space + "M");
    QCOMPARE(lossText(1.0412), QStringLiteral("1.041"));
    QCOMPARE(lossText(std::nullopt), QStringLiteral("—"));
    QCOMPARE(lossText(std::nan("")), QStringLiteral("—"));
    QCOMPARE(rateText(2e-4), QStringLiteral("2e-4"));
    QCOMPARE(rateText(1.5e-5), QStringLiteral("1.5e-5"));
    QCOMPARE(rateText(0.1), QStringLiteral("0.1"));
    QCOMPARE(rateText(0), QStringLiteral("0"));
    QCOMPARE(durationText(42), "42" + space + "s");
    QCOMPARE(durationText(18 * 60), "18" + space + "min");
    QCOMPARE(durationText(112 * 60), "1" + space + "h" + space + "52" + space + "min");
    QCOMPARE(clockText(1217), QStringLiteral("20:17"));
    QCOMPARE(clockText(3729), QStringLiteral("1:02:09"));
  }

  void bengali_figures_have_bengali_digits() {
    QLocale::setDefault(QLocale(QLocale::Bengali));
    QCOMPARE(clockText(1217), QStringLiteral("২০:১৭"));
    QVERIFY(countText(1240).startsWith(QStringLiteral("১")));
    QLocale::setDefault(QLocale(QLocale::English));
  }

  void segments_are_walked_by_arrow_keys() {
    Segments segments({"One", "Two", "Three"});
    segments.show();
    QVERIFY(QTest::qWaitForWindowExposed(&segments));
    QSignalSpy chosen(&segments, &Segments::chosen);
    auto* first = segments.findChildren<QAbstractButton*>().first();
    first->setFocus();
    QTest::keyClick(first, Qt::Key_Right);
    QCOMPARE(segments.current(), 1);
    QCOMPARE(chosen.count(), 1);
  }

  void the_stepper_says_the_state_of_each_step() {
    Stepper stepper({"Base model", "Data", "Start"});
    stepper.setMark(0, StepMark::done);
    stepper.setCurrent(1);
    const auto steps = stepper.findChildren<QAbstractButton*>();
    QCOMPARE(steps.size(), 3);
    QVERIFY(steps[0]->accessibleName().contains("done"));
    QVERIFY(steps[1]->accessibleName().contains("current"));
    QVERIFY(steps[2]->accessibleName().contains("open"));
    QSignalSpy chosen(&stepper, &Stepper::stepChosen);
    stepper.setReachable(2, false);
    steps[2]->click();
    QCOMPARE(chosen.count(), 0);
    steps[0]->click();
    QCOMPARE(chosen.count(), 1);
  }

  void a_banner_says_what_where_and_what_next() {
    QWidget parent;
    Banner banner(&parent);
    QVERIFY(!banner.isVisibleTo(&parent));
    banner.showProblem({"Cannot read the file", "/data/x.json", "Check the path"});
    QVERIFY(banner.isVisibleTo(&parent));
    QCOMPARE(banner.sentence(), QStringLiteral("Cannot read the file"));
    QCOMPARE(banner.detail(), QStringLiteral("/data/x.json · Check the path"));
    QCOMPARE(banner.accessibleName(), banner.sentence());
    banner.setButtons({makeButton("Try again")});
    banner.setButtons({makeButton("Show log")});
    QCOMPARE(banner.findChildren<QPushButton*>().size(), 1);
    banner.clear();
    QVERIFY(!banner.isVisibleTo(&parent));
  }

  void tokens_are_made_visible() {
    QCOMPARE(visibleToken(" the"), QStringLiteral("·the"));
    QCOMPARE(visibleToken("\n\n"), QStringLiteral("↵↵"));
    QCOMPARE(visibleToken("\xE2\x82"), QStringLiteral("0xE282"));
    QCOMPARE(visibleToken("বাং"), QStringLiteral("বাং"));
    QCOMPARE(visibleToken(""), QStringLiteral("∅"));
  }

  void the_token_view_lays_out_walks_and_describes_its_tokens() {
    TokenView view;
    view.resize(300, 200);
    std::vector<ShownToken> shown;
    for (int i = 0; i < 40; ++i) {
      ShownToken token;
      token.id = 100 + i;
      token.text = QStringLiteral("·word%1").arg(i);
      token.bytes = QStringLiteral("20 77");
      token.trained = i >= 20 && i < 35;
      token.cutAway = i >= 35;
      shown.push_back(token);
    }
    view.setTokens(shown, QStringLiteral("Row 7 is cut here, after token 35"));
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QCOMPARE(view.trainedCount(), 15);
    for (int i = 0; i + 1 < 40; ++i) {
      const QRect a = view.tokenRect(i), b = view.tokenRect(i + 1);
      QVERIFY2(!a.intersects(b), qPrintable(QString::number(i)));
      QVERIFY(a.right() <= view.viewport()->width());
    }
    QVERIFY(view.tokenRect(35).left() ==
            view.tokenRect(0).left());  // what is cut away begins on a line of its own
    view.setFocus();
    QTest::keyClick(&view, Qt::Key_Home);
    QCOMPARE(view.currentToken(), 0);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.currentToken(), 1);
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY(view.tokenRect(view.currentToken()).top() > view.tokenRect(1).top());
    QTest::keyClick(&view, Qt::Key_End);
    QVERIFY(view.describe(view.currentToken()).contains("cut away"));
    QVERIFY(view.describe(25).contains("trained"));
    QVERIFY(view.describe(25).contains("125"));
    QCOMPARE(view.describe(99), QString());
  }

  void changed_words_are_marked() {
    const auto parts =
        wordDiff(QStringLiteral("Yes, we have it."), QStringLiteral("Yes, both types. Shall we?"));
    QString before, after;
    for (const DiffPart& part : parts) {
      if (part.kind != DiffPart::Kind::added) before += (before.isEmpty() ? "" : " ") + part.text;
      if (part.kind != DiffPart::Kind::removed) after += (after.isEmpty() ? "" : " ") + part.text;
    }
    QCOMPARE(before, QStringLiteral("Yes, we have it."));
    QCOMPARE(after, QStringLiteral("Yes, both types. Shall we?"));
    QVERIFY(!diffHtml(wordDiff("a", "<b>")).contains("<b>"));  // what a model writes is never markup
    QCOMPARE(wordDiff("same words", "same words").size(), std::size_t{1});
  }

  void a_command_names_what_differs_and_can_be_typed() {
    Job job;
    job.model_path = "/models/my model";
    job.data_path = "/data/rows.jsonl";
    job.settings.rank = 8;
    job.settings.sample_prompts = {"It's one"};
    const QString command = RunLauncher::commandText(job, QStringLiteral("/runs/one"));
    QVERIFY(command.contains("--model '/models/my model'"));
    QVERIFY(command.contains("--rank 8"));
    QVERIFY(command.contains("--sample-prompts 'It'\\''s one'"));
    QVERIFY(!command.contains("--alpha"));
  }

  void run_folders_get_names_that_are_free_and_plain() {
    QTemporaryDir folder;
    const QString first = RunLauncher::freeRunFolder(folder.path(), QStringLiteral("Bike shop: Ünï · 15"));
    QCOMPARE(first, folder.path() + "/bike-shop-n-15");
    QDir().mkpath(first);
    QCOMPARE(RunLauncher::freeRunFolder(folder.path(), QStringLiteral("Bike shop: Ünï · 15")), first + "-2");
    QCOMPARE(RunLauncher::freeRunFolder(folder.path(), QStringLiteral("../..")), folder.path() + "/run");
  }

  void the_machine_card_says_what_the_engine_found_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QString>("shown");
    const QByteArray cpu =
        R"({"kind":"cpu","name":"P","threads":2,"memory_total_bytes":9e9,"memory_free_bytes":8e9})";
    QTest::newRow("no GPU") << QByteArray("{\"devices\":[" + cpu +
                                          "],\"notes\":[\"CUDA is not used: no driver\"]}")
                            << "CUDA is not used: no driver. Training works, more slowly than on a GPU.";
    const QByteArray gpu =
        R"({"kind":"cuda","name":"RTX","instruction_set":"compute 8.6","driver":"13.0","has_bf16":true,)"
        R"("memory_total_bytes":6e9,"memory_free_bytes":5e9})";
    QTest::newRow("a GPU") << QByteArray("{\"devices\":[" + cpu + "," + gpu +
                                         "],\"notes\":[\"cuBLASLt is missing\"]}")
                           << "RTX, compute 8.6, driver for CUDA 13.0. cuBLASLt is missing";
  }
  void the_machine_card_says_what_the_engine_found() {
    QFETCH(QByteArray, answer);
    QFETCH(QString, shown);
    QTemporaryDir folder;
    QFile engine(folder.path() + "/engine");
    QVERIFY(engine.open(QIODevice::WriteOnly));
    engine.write("#!/bin/sh\necho '" + answer + "'\n");
    engine.close();
    engine.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    DeviceMonitor monitor(engine.fileName(), folder.path());
    MachineCard card(&monitor);
    monitor.refresh();
    QTRY_VERIFY(monitor.machine().known);
    bool found = false;
    for (const QLabel* label : card.findChildren<QLabel*>()) found = found || label->text() == shown;
    QVERIFY(found);
    const bool gpu = monitor.machine().usesGpu;
    QCOMPARE(monitor.machine().freeMemory("auto"), std::uint64_t(gpu ? 5'000'000'000 : 8'000'000'000));
    QCOMPARE(monitor.machine().freeMemory("cpu"), std::uint64_t{8'000'000'000});
    QCOMPARE(monitor.machine().compute("auto"), QString(gpu ? "bf16" : "f32"));
  }

  void the_engine_is_asked_about_the_machine_on_demand_and_never_during_a_run() {
    QTemporaryDir folder;
    QFile engine(folder.path() + "/engine");
    QVERIFY(engine.open(QIODevice::WriteOnly));
    engine.write("#!/bin/sh\necho x >>" + folder.path().toUtf8() +
                 "/asked\necho '{\"devices\":[],\"notes\":[]}'\n");
    engine.close();
    engine.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    const auto asked = [&] { return QFileInfo(folder.path() + "/asked").size() / 2; };
    DeviceMonitor monitor(engine.fileName(), folder.path());
    monitor.watch(1);  // looks at the disk
    QTRY_VERIFY(monitor.machine().diskTotal > 0);
    QCOMPARE(asked(), 0);
    monitor.refresh();
    QTRY_VERIFY(monitor.machine().known && !monitor.isAsking());
    QCOMPARE(asked(), 1);
    monitor.hold(true);
    monitor.refresh();
    QVERIFY(!monitor.isAsking());
    monitor.hold(true);
    monitor.hold(false);  // the run has ended: what is free has changed
    QTRY_COMPARE(asked(), 2);
    QTRY_VERIFY(!monitor.isAsking());
    QCOMPARE(asked(), 2);
  }

 private:
  static QColor colour(const Palette& palette, const QString& name) {
    for (const NamedToken& named : namedTokens()) {
      if (name == QLatin1String(named.name)) return palette.*named.token;
    }
    qFatal("no token %s", qPrintable(name));
    return {};
  }
  Theme* m_theme = nullptr;
};

QTEST_MAIN(TestWidgets)
#include "test_widgets.moc"

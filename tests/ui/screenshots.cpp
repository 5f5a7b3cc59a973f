// SPDX-License-Identifier: GPL-3.0-or-later
// Renders the pages of the studio into pictures, so that they can be looked at:
//   ui_screenshots OUT_FOLDER [--theme light|dark] [--language en|bn] [--scale 1.5] [--size 1280x800]
//   [--empty] [--train]
// Uses a home folder of its own with made-up runs. With --train the bundled sample is trained first, so that
// library, chat and export have something to show.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <cstdio>
#include <functional>

#include "tests/ui/run_maker.h"
#include "ui/charts/loss_chart.h"
#include "ui/chat/chat_page.h"
#include "ui/engine/device_monitor.h"
#include "ui/engine/library_store.h"
#include "ui/engine/run_store.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"
#include "ui/publish/export_page.h"
#include "ui/runs/live_run.h"
#include "ui/runs/loss_card.h"
#include "ui/runs/runs_page.h"
#include "ui/wizard/data_page.h"
#include "ui/wizard/wizard_model.h"
#include "ui/wizard/wizard_page.h"

using namespace lorikeet;
using namespace lorikeet::ui;

namespace {

QString argument(const QStringList& arguments, const QString& name, const QString& fallback) {
  const auto index = arguments.indexOf(name);
  return index >= 0 && index + 1 < arguments.size() ? arguments[index + 1] : fallback;
}

void wait(int milliseconds) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < milliseconds) QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
}

/// Trains the sample, then shows what comes out of it.
void shootAfterTraining(MainWindow& window, const Studio& studio,
                        const std::function<void(const QString&)>& shoot) {
  window.trainSample();
  shoot(QStringLiteral("live-run-starting"));
  LibraryStore* library = studio.context().library;
  for (int i = 0; i < 6000 && library->adapters().empty(); ++i) wait(100);
  if (library->adapters().empty()) return;
  shoot(QStringLiteral("live-run-sample"));
  const QString id = QString::fromStdString(library->adapters().front().id);
  window.showPlace(Place::library);
  shoot(QStringLiteral("library-adapter"));
  window.chatWith(id);
  auto* chat = static_cast<ChatPage*>(window.page(Place::chat));
  wait(1500);
  chat->sendMessage(QStringLiteral("Tell a story about a fox who finds a lantern."));
  wait(300);
  shoot(QStringLiteral("chat-answering"));
  for (int i = 0; i < 600 && chat->isAnswering(); ++i) wait(100);
  shoot(QStringLiteral("chat-answers"));
  window.exportAdapter(id);
  auto* publish = static_cast<ExportPage*>(window.page(Place::publish));
  wait(500);
  publish->startExport();
  wait(2500);
  publish->chooseTarget(1);
  shoot(QStringLiteral("export-done"));
  window.showPlace(Place::home);
  shoot(QStringLiteral("home-next-step"));
}

/// The wizard with the bundled sample, step by step, and its errors in place.
void shootWizard(MainWindow& window, const Studio& studio, const std::function<void(const QString&)>& shoot) {
  auto* wizard = static_cast<WizardPage*>(window.page(Place::train));
  const EnginePaths& paths = studio.context().paths;
  window.showPlace(Place::train);
  if (paths.samples.isEmpty()) return;
  wizard->model()->chooseBase(QStringLiteral("/nowhere/model"));
  shoot(QStringLiteral("wizard-1-error"));
  wizard->model()->chooseBase(paths.sampleModel());
  wait(800);
  shoot(QStringLiteral("wizard-1-base"));
  wizard->goTo(1);
  shoot(QStringLiteral("wizard-2-data-empty"));
  wizard->model()->chooseData(paths.sampleData());
  wait(1500);
  shoot(QStringLiteral("wizard-2-data-table"));
  auto* data = static_cast<DataPage*>(wizard->stepPage(1));
  data->setTab(1);
  shoot(QStringLiteral("wizard-2-data-chat"));
  data->setTab(2);
  shoot(QStringLiteral("wizard-2-data-tokens"));
  wizard->goTo(2);
  shoot(QStringLiteral("wizard-3-method"));
  for (int step = 2; step < WizardPage::kSteps; ++step) wizard->stepPage(step)->setAdvanced(true);
  shoot(QStringLiteral("wizard-3-method-advanced"));
  wizard->goTo(3);
  shoot(QStringLiteral("wizard-4-training-advanced"));
  for (int step = 2; step < WizardPage::kSteps; ++step) wizard->stepPage(step)->setAdvanced(false);
  wizard->model()->setSetting(
      "sample-prompts",
      QStringLiteral("Tell a story about a brave fox.\nTell a story that ends with a song."));
  wizard->goTo(3);
  shoot(QStringLiteral("wizard-4-training"));
  wizard->goTo(4);
  shoot(QStringLiteral("wizard-5-check"));
  wizard->goTo(5);
  shoot(QStringLiteral("wizard-6-start"));
}

}  // namespace

int main(int argc, char** argv) {
  QStringList arguments;
  for (int i = 1; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  if (arguments.isEmpty()) {
    std::fputs(
        "usage: ui_screenshots OUT [--theme light|dark] [--language en|bn] [--scale F] [--size WxH] "
        "[--empty] [--train]\n",
        stderr);
    return 2;
  }
  QTemporaryDir home;
  qputenv("LORIKEET_HOME", home.path().toLocal8Bit());
  qputenv("QT_SCALE_FACTOR", argument(arguments, QStringLiteral("--scale"), QStringLiteral("1")).toLatin1());
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QString theme = argument(arguments, QStringLiteral("--theme"), QStringLiteral("light"));
  const QString language = argument(arguments, QStringLiteral("--language"), QStringLiteral("en"));
  const QStringList size =
      argument(arguments, QStringLiteral("--size"), QStringLiteral("1280x800")).split(QLatin1Char('x'));
  {
    QSettings settings(home.path() + QStringLiteral("/studio.ini"), QSettings::IniFormat);
    settings.setValue(QStringLiteral("look/theme"), theme);
    settings.setValue(QStringLiteral("look/language"), language);
  }
  std::unique_ptr<RunFolder> live;
  const QString runs = home.path() + QStringLiteral("/runs");
  QString livePath;
  if (!arguments.contains(QStringLiteral("--empty"))) {
    test::MadeRun old;
    old.name = QStringLiteral("Bike shop replies · run 14");
    old.steps = old.total = 600;
    old.state = RunState::done;
    test::makeRun(runs, QStringLiteral("bike-14"), old);
    old.name = QStringLiteral("SQL helper · run 3");
    old.steps = 320;
    old.state = RunState::failed;
    old.error = QStringLiteral("Cannot write the checkpoint of step 320: the disk is full");
    test::makeRun(runs, QStringLiteral("sql-3"), old);
    test::MadeRun running;
    running.samples = true;
    livePath = test::makeRun(runs, QStringLiteral("bike-15"), running);
    live = std::make_unique<RunFolder>(RunFolder::open(livePath.toStdString()));
    live->lock();
  }

  QApplication application(argc, argv);
  Studio studio(application);
  MainWindow* window = studio.window();
  window->resize(size.value(0).toInt(), size.value(1).toInt());
  studio.show();
  wait(1500);
  const QDir out(arguments.first());
  out.mkpath(QStringLiteral("."));
  const auto shoot = [&](const QString& name) {
    wait(400);
    const QString file = out.filePath(name + QStringLiteral(".png"));
    std::printf("%s %s\n", window->grab().save(file) ? "wrote" : "CANNOT WRITE", qPrintable(file));
  };
  const std::pair<Place, const char*> places[] = {{Place::home, "home"},         {Place::train, "train"},
                                                  {Place::runs, "runs"},         {Place::library, "library"},
                                                  {Place::chat, "chat"},         {Place::publish, "export"},
                                                  {Place::settings, "settings"}, {Place::help, "help"}};
  for (const auto& [place, name] : places) {
    if (!window->page(place)) continue;
    window->showPlace(place);
    shoot(QString::fromLatin1(name));
  }
  if (!livePath.isEmpty()) {
    window->openRun(livePath);
    wait(600);
    static_cast<RunsPage*>(window->page(Place::runs))->liveRun()->lossCard()->chart()->setCursorIndex(799);
    shoot(QStringLiteral("live-run"));
    window->openRun(runs + QStringLiteral("/sql-3"));
    shoot(QStringLiteral("live-run-failed"));
    window->openRun(runs + QStringLiteral("/bike-14"));
    shoot(QStringLiteral("live-run-done"));
  }
  if (arguments.contains(QStringLiteral("--train"))) shootAfterTraining(*window, studio, shoot);
  shootWizard(*window, studio, shoot);
  return 0;
}

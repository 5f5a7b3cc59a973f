// SPDX-License-Identifier: GPL-3.0-or-later
// Renders the pages of the studio into pictures, so that they can be looked at:
//   ui_screenshots OUT_FOLDER [--theme light|dark] [--language en|bn] [--scale 1.5] [--size 1280x800]
//   [--empty]
// Uses a home folder of its own with made-up runs; no engine is started but for `devices`.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QSettings>
#include <QTemporaryDir>
#include <cstdio>
#include <functional>

#include "tests/ui/run_maker.h"
#include "ui/engine/device_monitor.h"
#include "ui/engine/run_store.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"
#include "ui/widgets/page.h"

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

}  // namespace

int main(int argc, char** argv) {
  QStringList arguments;
  for (int i = 1; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  if (arguments.isEmpty()) {
    std::fputs(
        "usage: ui_screenshots OUT [--theme light|dark] [--language en|bn] [--scale F] [--size WxH] "
        "[--empty]\n",
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
    shoot(QStringLiteral("live-run"));
  }
  return 0;
}

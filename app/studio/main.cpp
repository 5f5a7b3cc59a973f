// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>

#include "app/version.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCoreApplication::setApplicationName(QStringLiteral("Lorikeet"));
  QCoreApplication::setApplicationVersion(QLatin1String(lorikeet::version));
  QGuiApplication::setDesktopFileName(QStringLiteral("lorikeet-studio"));
  lorikeet::ui::Studio studio(application);
  studio.show();
  return QApplication::exec();
}

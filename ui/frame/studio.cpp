// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/studio.h"

#include <QApplication>
#include <QDir>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>

#include "ui/engine/device_monitor.h"
#include "ui/engine/library_store.h"
#include "ui/engine/run_store.h"
#include "ui/frame/main_window.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/theme.h"
#include "ui/wizard/wizard_state.h"

namespace lorikeet::ui {
namespace {

ThemeChoice themeChoice(const QString& name) {
  return name == QLatin1String("light")  ? ThemeChoice::light
         : name == QLatin1String("dark") ? ThemeChoice::dark
                                         : ThemeChoice::system;
}

}  // namespace

Studio::Studio(QApplication& application)
    : m_application(application), m_wizard(std::make_unique<WizardState>()) {
  m_context.paths = EnginePaths::find();
  QDir().mkpath(m_context.paths.home);
  m_context.settings =
      new QSettings(m_context.paths.home + QStringLiteral("/studio.ini"), QSettings::IniFormat, this);
  m_context.theme = new Theme(application);
  m_context.theme->setChoice(themeChoice(m_context.settings->value(QStringLiteral("look/theme")).toString()));
  m_context.devices = new DeviceMonitor(m_context.paths.engine, m_context.paths.home, this);
  m_context.runs = new RunStore(m_context.paths.runsFolder(), this);
  connect(m_context.runs, &RunStore::changed, this,
          [this] { m_context.devices->hold(m_context.runs->live() != nullptr); });
  m_context.library = new LibraryStore(m_context.paths.home, this);
  m_context.wizard = m_wizard.get();
  application.setWindowIcon(applicationIcon());
  loadLanguage(
      m_context.settings->value(QStringLiteral("look/language"), QStringLiteral("system")).toString());
  makeWindow();
}

Studio::~Studio() = default;

void Studio::show() {
  m_window->show();
  m_context.devices->refresh();
  m_context.devices->watch(10);
  m_context.runs->watch(true);
  m_context.library->refresh();
}

void Studio::loadLanguage(const QString& language) {
  m_application.removeTranslator(&m_translator);
  const QLocale locale = language == QLatin1String("system") ? QLocale::system() : QLocale(language);
  const bool bengali = locale.language() == QLocale::Bengali;
  // Words and figures go together: where there is no translation both are English.
  QLocale::setDefault(bengali ? QLocale(QLocale::Bengali) : QLocale(QLocale::English));
  const QString file =
      bengali ? QStringLiteral(":/i18n/lorikeet_bn.qm") : QStringLiteral(":/i18n/lorikeet_en.qm");
  if (m_translator.load(file)) m_application.installTranslator(&m_translator);
  m_application.installTranslator(&m_translator);
}

void Studio::setLanguage(const QString& language) {
  m_context.settings->setValue(QStringLiteral("look/language"), language);
  loadLanguage(language);
  const Place place = m_window->place();
  const QByteArray geometry = m_window->saveGeometry();
  const bool visible = m_window->isVisible();
  m_window.release()->deleteLater();  // this may be called from one of its own slots
  makeWindow();
  m_window->restoreGeometry(geometry);
  m_window->showPlace(place);
  if (visible) m_window->show();
}

void Studio::makeWindow() {
  m_window = std::make_unique<MainWindow>(m_context);
  connect(m_window.get(), &MainWindow::languageChosen, this, &Studio::setLanguage);
}

}  // namespace lorikeet::ui

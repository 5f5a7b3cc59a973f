// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTranslator>
#include <memory>

#include "ui/engine/studio_context.h"

class QApplication;

namespace lorikeet::ui {

class MainWindow;

/// Owns what outlives the window (theme, stores, wizard draft, language) and the window itself, which is made
/// anew when the language changes.
class Studio : public QObject {
  Q_OBJECT
 public:
  explicit Studio(QApplication& application);
  ~Studio() override;

  void show();
  MainWindow* window() const { return m_window.get(); }
  const StudioContext& context() const { return m_context; }
  /// "system", "en" or "bn"; the window is rebuilt where it was.
  void setLanguage(const QString& language);

 private:
  void loadLanguage(const QString& language);
  void makeWindow();
  QApplication& m_application;
  StudioContext m_context;
  QTranslator m_translator;
  std::unique_ptr<WizardState> m_wizard;
  std::unique_ptr<MainWindow> m_window;
};

}  // namespace lorikeet::ui

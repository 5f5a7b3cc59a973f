// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <array>
#include <functional>

#include "ui/engine/studio_context.h"
#include "ui/frame/navigation.h"

class QAction;
class QStackedWidget;

namespace lorikeet::ui {

class ChatPage;
class ExportPage;
class HomePage;
class Label;
class LibraryPage;
class Page;
class RunsPage;
class SettingsPage;
class StatusItem;
class WizardPage;
struct Problem;

/// The one window: menu bar, navigation, the pages, status bar. Pages ask for each other through it.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(const StudioContext& context, QWidget* parent = nullptr);
  ~MainWindow() override;

  void showPlace(Place place);
  Place place() const { return m_place; }
  Page* page(Place place) const { return m_pages[static_cast<std::size_t>(place)]; }

  void openRun(const QString& runPath);
  void newTraining();
  void trainSample();
  void goOnFrom(const QString& adapterId);
  void chatWith(const QString& adapterId);
  void chatWithModel(const QString& modelPath);
  void exportAdapter(const QString& adapterId);

 signals:
  void languageChosen(const QString& language);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void makePages();
  void connectPages();
  void makeMenus();
  void makeRunMenu();
  void makeStatusBar();
  void updateStatus();
  void focusNextArea(bool forward);
  void pauseOrGoOn();
  void editFocused(const char* slot);
  /// Calls `use` with the adapter of a finished run, as soon as the library knows it.
  void withAdapterOf(const QString& runPath, std::function<void(const QString&)> use);
  QAction* addAction(QMenu* menu, const QString& text, const QKeySequence& keys, std::function<void()> run);

  StudioContext m_context;
  Navigation* m_navigation;
  QStackedWidget* m_stack;
  std::array<Page*, kPlaces> m_pages{};
  Place m_place = Place::home;
  HomePage* m_home = nullptr;
  WizardPage* m_wizard = nullptr;
  RunsPage* m_runs = nullptr;
  LibraryPage* m_library = nullptr;
  ChatPage* m_chat = nullptr;
  ExportPage* m_export = nullptr;
  SettingsPage* m_settings = nullptr;
  StatusItem* m_deviceItem = nullptr;
  StatusItem* m_memoryItem = nullptr;
  StatusItem* m_diskItem = nullptr;
  Label* m_engineLabel = nullptr;
  QString m_justEnded;  ///< run shown by the ring for a minute after its end
  QString m_waitedRun;
  std::function<void(const QString&)> m_waitingUse;
};

}  // namespace lorikeet::ui

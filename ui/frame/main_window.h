// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <array>

#include "ui/engine/studio_context.h"
#include "ui/frame/navigation.h"

class QAction;
class QLabel;
class QStackedWidget;

namespace lorikeet::ui {

class ChatPage;
class ExportPage;
class Label;
class Page;
class RunsPage;
class StatusItem;
class WizardPage;

/// The one window: menu bar, navigation, the pages, status bar. Pages ask for each other by its slots.
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
  void makeMenus();
  void makeStatusBar();
  void updateStatus();
  void focusNextArea(int direction);
  QAction* addAction(QMenu* menu, const QString& text, const QKeySequence& keys, std::function<void()> run);

  StudioContext m_context;
  Navigation* m_navigation;
  QStackedWidget* m_stack;
  std::array<Page*, kPlaces> m_pages{};
  Place m_place = Place::home;
  WizardPage* m_wizard = nullptr;
  RunsPage* m_runs = nullptr;
  ChatPage* m_chat = nullptr;
  ExportPage* m_export = nullptr;
  StatusItem* m_deviceItem = nullptr;
  StatusItem* m_memoryItem = nullptr;
  StatusItem* m_diskItem = nullptr;
  Label* m_engineLabel = nullptr;
};

}  // namespace lorikeet::ui

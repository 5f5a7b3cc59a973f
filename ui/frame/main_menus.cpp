// SPDX-License-Identifier: GPL-3.0-or-later
// The menus and shortcuts of MainWindow.
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QToolButton>

#include "ui/engine/run_store.h"
#include "ui/frame/main_window.h"
#include "ui/runs/live_run.h"
#include "ui/runs/runs_page.h"
#include "ui/widgets/page.h"
#include "ui/widgets/theme.h"

namespace lorikeet::ui {

QAction* MainWindow::addAction(QMenu* menu, const QString& text, const QKeySequence& keys,
                               std::function<void()> run) {
  QAction* action = menu->addAction(text);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

void MainWindow::makeMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  addAction(file, tr("New training run"), QKeySequence(QStringLiteral("Ctrl+N")), [this] { newTraining(); });
  if (!m_context.paths.samples.isEmpty())
    addAction(file, tr("Train with the sample data"), {}, [this] { trainSample(); });
  file->addSeparator();
  addAction(file, tr("Quit"), QKeySequence(QStringLiteral("Ctrl+Q")), [this] { close(); });

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  // Text fields know these keys themselves; the menu shows them and helps the mouse.
  addAction(edit, tr("Copy"), {}, [this] { editFocused("copy"); });
  addAction(edit, tr("Paste"), {}, [this] { editFocused("paste"); });
  addAction(edit, tr("Select all"), {}, [this] { editFocused("selectAll"); });
  edit->addSeparator();
  addAction(edit, tr("Find on this page"), QKeySequence::Find, [this] {
    if (QWidget* field = page(m_place)->searchField()) field->setFocus(Qt::ShortcutFocusReason);
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (int i = 0; i < kPlaces; ++i) {
    const auto place = static_cast<Place>(i);
    if (place == Place::help) continue;
    const QKeySequence keys(place == Place::settings ? QStringLiteral("Ctrl+,")
                                                     : QStringLiteral("Ctrl+%1").arg(i + 1));
    addAction(view, Navigation::word(place), keys, [this, place] { showPlace(place); });
  }
  view->addSeparator();
  QMenu* theme = view->addMenu(tr("Theme"));
  auto* group = new QActionGroup(theme);
  const std::pair<QString, const char*> themes[] = {
      {tr("System"), "system"}, {tr("Light"), "light"}, {tr("Dark"), "dark"}};
  for (int i = 0; i < 3; ++i) {
    QAction* action = addAction(theme, themes[i].first, {}, [this, i, name = themes[i].second] {
      m_context.settings->setValue(QStringLiteral("look/theme"), QString::fromLatin1(name));
      m_context.theme->setChoice(static_cast<ThemeChoice>(i));
    });
    action->setCheckable(true);
    action->setChecked(m_context.theme->choice() == static_cast<ThemeChoice>(i));
    group->addAction(action);
  }
  addAction(view, tr("Next area"), QKeySequence(QStringLiteral("F6")), [this] { focusNextArea(true); });
  addAction(view, tr("Previous area"), QKeySequence(QStringLiteral("Shift+F6")),
            [this] { focusNextArea(false); });
  makeRunMenu();
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  addAction(help, tr("Help"), QKeySequence::HelpContents, [this] { showPlace(Place::help); });
}

void MainWindow::makeRunMenu() {
  QMenu* run = menuBar()->addMenu(tr("&Run"));
  QAction* pause = addAction(run, tr("Pause or go on"), QKeySequence(QStringLiteral("Ctrl+Shift+P")),
                             [this] { pauseOrGoOn(); });
  QAction* checkpoint =
      addAction(run, tr("Checkpoint now"), QKeySequence(QStringLiteral("Ctrl+Shift+S")), [this] {
        if (const RunSummary* live = m_context.runs->live())
          m_context.runs->request(live->path, ControlRequest::checkpoint);
      });
  QAction* stop = addAction(run, tr("Stop and keep…"), {}, [this] {
    const RunSummary* live = m_context.runs->live();
    if (!live) return;
    openRun(live->path);
    m_runs->liveRun()->stopAndKeep();
  });
  run->addSeparator();
  addAction(run, tr("Main action of the page"), QKeySequence(QStringLiteral("Ctrl+Return")), [this] {
    QPushButton* button = page(m_place)->primaryButton();
    if (button && button->isVisible() && button->isEnabled()) button->click();
  });
  const auto enable = [this, pause, checkpoint, stop] {
    const bool lives = m_context.runs->live() != nullptr;
    for (QAction* action : {pause, checkpoint, stop}) action->setEnabled(lives);
  };
  connect(m_context.runs, &RunStore::changed, this, enable);
  enable();
}

void MainWindow::pauseOrGoOn() {
  const RunSummary* live = m_context.runs->live();
  if (!live) return;
  const bool waits = live->state == RunState::paused || live->state == RunState::waiting;
  m_context.runs->request(live->path, waits ? ControlRequest::resume : ControlRequest::pause);
}

void MainWindow::editFocused(const char* slot) {
  if (QWidget* focus = QApplication::focusWidget()) QMetaObject::invokeMethod(focus, slot);
}

void MainWindow::focusNextArea(bool) {
  // Two areas take the keyboard: the navigation and the page.
  QWidget* button = m_navigation->button(m_place);
  if (m_navigation->isAncestorOf(QApplication::focusWidget())) {
    QWidget* first = page(m_place)->firstFocus();
    (first ? first : page(m_place))->setFocus(Qt::ShortcutFocusReason);
  } else {
    button->setFocus(Qt::ShortcutFocusReason);
  }
}

}  // namespace lorikeet::ui

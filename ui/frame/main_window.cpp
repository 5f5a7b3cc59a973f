// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/main_window.h"

#include <QAction>
#include <QCloseEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolButton>
#include <functional>

#include "ui/engine/device_monitor.h"
#include "ui/engine/library_store.h"
#include "ui/engine/run_store.h"
#include "ui/frame/status_item.h"
#include "ui/home/home_page.h"
#include "ui/runs/run_words.h"
#include "ui/runs/runs_page.h"
#include "ui/widgets/focus_ring.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/label.h"
#include "ui/widgets/page.h"
#include "ui/wizard/wizard_page.h"

namespace lorikeet::ui {

MainWindow::MainWindow(const StudioContext& context, QWidget* parent)
    : QMainWindow(parent), m_context(context) {
  setWindowTitle(QStringLiteral("Lorikeet"));
  setMinimumSize(1024, 700);
  resize(1280, 800);
  auto* centre = new QWidget;
  auto* row = new QHBoxLayout(centre);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  m_navigation = new Navigation;
  m_stack = new QStackedWidget;
  row->addWidget(m_navigation);
  row->addWidget(m_stack, 1);
  setCentralWidget(centre);
  makePages();
  makeMenus();
  makeStatusBar();
  new FocusRing(this);
  connect(m_navigation, &Navigation::placeChosen, this, &MainWindow::showPlace);
  connect(m_navigation, &Navigation::ringClicked, this, [this] {
    if (const RunSummary* run = m_context.runs->live()) openRun(run->path);
  });
  connect(m_context.runs, &RunStore::changed, this, &MainWindow::updateStatus);
  connect(m_context.devices, &DeviceMonitor::changed, this, &MainWindow::updateStatus);
  updateStatus();
  restoreGeometry(m_context.settings->value(QStringLiteral("window/geometry")).toByteArray());
  showPlace(Place::home);
}

MainWindow::~MainWindow() = default;

void MainWindow::makePages() {
  auto* home = new HomePage(m_context);
  m_pages[static_cast<std::size_t>(Place::home)] = home;
  connect(home, &HomePage::newRunRequested, this, &MainWindow::newTraining);
  connect(home, &HomePage::sampleRequested, this, &MainWindow::trainSample);
  connect(home, &HomePage::runRequested, this, &MainWindow::openRun);
  connect(home, &HomePage::allRunsRequested, this, [this] { showPlace(Place::runs); });
  connect(home, &HomePage::goOnRequested, this, [this] { goOnFrom({}); });
  connect(home, &HomePage::chatRequested, this, [this] { showPlace(Place::chat); });
  connect(home, &HomePage::exportRequested, this, [this] { showPlace(Place::publish); });
  connect(home, &HomePage::compareRequested, this, &MainWindow::chatWith);
  m_wizard = new WizardPage(m_context);
  m_pages[static_cast<std::size_t>(Place::train)] = m_wizard;
  connect(m_wizard, &WizardPage::runStarted, this, [this](const QString& runPath) {
    m_context.runs->refresh();
    openRun(runPath);
  });
  connect(m_wizard, &WizardPage::chatWithModelWanted, this, &MainWindow::chatWithModel);
  m_runs = new RunsPage(m_context);
  m_pages[static_cast<std::size_t>(Place::runs)] = m_runs;
  connect(m_runs, &RunsPage::newRunRequested, this, &MainWindow::newTraining);
  connect(m_runs, &RunsPage::sampleRequested, this, &MainWindow::trainSample);
  for (Page* page : m_pages) {
    if (page) m_stack->addWidget(page);
  }
}

void MainWindow::showPlace(Place place) {
  Page* page = m_pages[static_cast<std::size_t>(place)];
  if (!page) return;
  m_place = place;
  m_navigation->setPlace(place);
  m_stack->setCurrentWidget(page);
  page->shown();
}

void MainWindow::openRun(const QString& runPath) {
  m_runs->openRun(runPath);
  showPlace(Place::runs);
}
void MainWindow::newTraining() {
  showPlace(Place::train);
}
void MainWindow::trainSample() {
  showPlace(Place::train);
}
void MainWindow::goOnFrom(const QString&) {
  showPlace(Place::train);
}
void MainWindow::chatWith(const QString&) {
  showPlace(Place::chat);
}
void MainWindow::chatWithModel(const QString&) {
  showPlace(Place::chat);
}
void MainWindow::exportAdapter(const QString&) {
  showPlace(Place::publish);
}

QAction* MainWindow::addAction(QMenu* menu, const QString& text, const QKeySequence& keys,
                               std::function<void()> run) {
  QAction* action = menu->addAction(text);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
  return action;
}

void MainWindow::makeMenus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  addAction(file, tr("New training run"), QKeySequence(tr("Ctrl+N")), [this] { newTraining(); });
  file->addSeparator();
  addAction(file, tr("Quit"), QKeySequence(tr("Ctrl+Q")), [this] { close(); });
  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (int i = 0; i < kPlaces; ++i) {
    const auto place = static_cast<Place>(i);
    if (!page(place)) continue;
    const QKeySequence keys = place == Place::settings ? QKeySequence(QStringLiteral("Ctrl+,"))
                              : place == Place::help   ? QKeySequence(QKeySequence::HelpContents)
                                                       : QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1));
    addAction(view, Navigation::word(place), keys, [this, place] { showPlace(place); });
  }
}

void MainWindow::makeStatusBar() {
  m_deviceItem = new StatusItem(QStringLiteral("device"));
  m_memoryItem = new StatusItem(QStringLiteral("memory"));
  m_diskItem = new StatusItem(QStringLiteral("disk"));
  m_engineLabel = new Label({}, Role::caption, &Palette::text2);
  m_engineLabel->setContentsMargins(8, 0, 15, 0);
  statusBar()->setSizeGripEnabled(false);
  for (StatusItem* item : {m_deviceItem, m_memoryItem, m_diskItem}) statusBar()->addWidget(item);
  statusBar()->addPermanentWidget(m_engineLabel);
}

void MainWindow::updateStatus() {
  const MachineInfo& machine = m_context.devices->machine();
  if (machine.known) {
    m_deviceItem->setText(machine.usesGpu
                              ? QStringLiteral("CUDA · %1 · %2").arg(machine.gpuName, machine.compute)
                              : tr("Processor · %n thread(s)", nullptr, machine.threads) +
                                    QStringLiteral(" · ") + machine.compute);
    const auto used = [](std::uint64_t total, std::uint64_t free) {
      return tr("%1 of %2")
          .arg(numberText(static_cast<double>(total - std::min(total, free)) / 1e9, 1),
               gigabytesText(total, 1));
    };
    QString memory = tr("RAM %1").arg(used(machine.memoryTotal, machine.memoryFree));
    if (machine.gpuTotal > 0)
      memory.prepend(tr("GPU %1").arg(used(machine.gpuTotal, machine.gpuFree)) + QStringLiteral(" · "));
    m_memoryItem->setText(memory);
  }
  if (machine.diskTotal > 0) m_diskItem->setText(tr("%1 free").arg(bytesText(machine.diskFree)));
  const RunSummary* run = m_context.runs->live();
  m_navigation->showRun(run);
  if (run) {
    m_engineLabel->setText(run->step > 0 ? tr("%1 · step %2").arg(runWords(*run).state, countText(run->step))
                                         : runWords(*run).state);
  } else {
    m_engineLabel->setText(!machine.problem.isEmpty() ? tr("Engine not found")
                           : machine.known            ? tr("Engine ready")
                                                      : tr("Asking the engine …"));
  }
}

void MainWindow::focusNextArea(int) {}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_context.settings->setValue(QStringLiteral("window/geometry"), saveGeometry());
  QMainWindow::closeEvent(event);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  QMainWindow::keyPressEvent(event);
}

}  // namespace lorikeet::ui

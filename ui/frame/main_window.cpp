// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/main_window.h"

#include <QCloseEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>

#include "ui/chat/chat_page.h"
#include "ui/engine/device_monitor.h"
#include "ui/engine/library_store.h"
#include "ui/engine/run_launcher.h"
#include "ui/engine/run_store.h"
#include "ui/engine/sample_job.h"
#include "ui/frame/status_item.h"
#include "ui/home/home_page.h"
#include "ui/library/library_page.h"
#include "ui/publish/export_page.h"
#include "ui/runs/run_words.h"
#include "ui/runs/runs_page.h"
#include "ui/settings/help_page.h"
#include "ui/settings/settings_page.h"
#include "ui/widgets/background.h"
#include "ui/widgets/focus_ring.h"
#include "ui/widgets/format.h"
#include "ui/wizard/wizard_page.h"

namespace lorikeet::ui {
namespace {

struct Started {
  QString runPath;
  Problem problem;
};

}  // namespace

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
  connectPages();
  makeMenus();
  makeStatusBar();
  new FocusRing(this);
  connect(m_navigation, &Navigation::placeChosen, this, &MainWindow::showPlace);
  connect(m_navigation, &Navigation::ringClicked, this, [this] {
    const RunSummary* run = m_context.runs->live();
    openRun(run ? run->path : m_justEnded);
  });
  connect(m_context.runs, &RunStore::changed, this, &MainWindow::updateStatus);
  connect(m_context.devices, &DeviceMonitor::changed, this, &MainWindow::updateStatus);
  connect(m_context.runs, &RunStore::finished, this, [this](const RunSummary& run) {
    m_context.library->refresh();
    m_justEnded = run.path;
    updateStatus();
    QTimer::singleShot(60000, this, [this] {
      m_justEnded.clear();
      updateStatus();
    });
  });
  connect(m_context.library, &LibraryStore::changed, this, [this] {
    const AdapterRecord* adapter =
        m_waitedRun.isEmpty() ? nullptr : m_context.library->findByRun(m_waitedRun);
    if (!adapter) return;
    m_waitedRun.clear();
    std::exchange(m_waitingUse, {})(fromUtf8(adapter->id));
  });
  updateStatus();
  restoreGeometry(m_context.settings->value(QStringLiteral("window/geometry")).toByteArray());
  showPlace(Place::home);
}

MainWindow::~MainWindow() = default;

void MainWindow::makePages() {
  m_home = new HomePage(m_context);
  m_wizard = new WizardPage(m_context);
  m_runs = new RunsPage(m_context);
  m_library = new LibraryPage(m_context);
  m_chat = new ChatPage(m_context);
  m_export = new ExportPage(m_context);
  m_settings = new SettingsPage(m_context);
  m_pages = {m_home, m_wizard, m_runs, m_library, m_chat, m_export, m_settings, new HelpPage};
  for (Page* page : m_pages) m_stack->addWidget(page);
}

void MainWindow::connectPages() {
  connect(m_home, &HomePage::newRunRequested, this, &MainWindow::newTraining);
  connect(m_home, &HomePage::sampleRequested, this, &MainWindow::trainSample);
  connect(m_home, &HomePage::runRequested, this, &MainWindow::openRun);
  connect(m_home, &HomePage::allRunsRequested, this, [this] {
    m_runs->showList();
    showPlace(Place::runs);
  });
  connect(m_home, &HomePage::goOnRequested, this, [this] { goOnFrom({}); });
  connect(m_home, &HomePage::chatRequested, this, [this] { showPlace(Place::chat); });
  connect(m_home, &HomePage::exportRequested, this, [this] { showPlace(Place::publish); });
  connect(m_home, &HomePage::compareRequested, this, &MainWindow::chatWith);
  connect(m_wizard, &WizardPage::runStarted, this, [this](const QString& runPath) {
    m_context.runs->refresh();
    openRun(runPath);
  });
  connect(m_wizard, &WizardPage::chatWithModelWanted, this, &MainWindow::chatWithModel);
  connect(m_runs, &RunsPage::newRunRequested, this, &MainWindow::newTraining);
  connect(m_runs, &RunsPage::sampleRequested, this, &MainWindow::trainSample);
  connect(m_runs, &RunsPage::chatRequested, this,
          [this](const QString& path) { withAdapterOf(path, [this](const QString& id) { chatWith(id); }); });
  connect(m_runs, &RunsPage::exportRequested, this, [this](const QString& path) {
    withAdapterOf(path, [this](const QString& id) { exportAdapter(id); });
  });
  connect(m_library, &LibraryPage::chatRequested, this, &MainWindow::chatWith);
  connect(m_library, &LibraryPage::exportRequested, this, &MainWindow::exportAdapter);
  connect(m_library, &LibraryPage::goOnRequested, this, &MainWindow::goOnFrom);
  connect(m_library, &LibraryPage::sampleRequested, this, &MainWindow::trainSample);
  connect(m_library, &LibraryPage::newRunRequested, this, &MainWindow::newTraining);
  connect(m_export, &ExportPage::sampleRequested, this, &MainWindow::trainSample);
  connect(m_export, &ExportPage::newRunRequested, this, &MainWindow::newTraining);
  connect(m_settings, &SettingsPage::languageChosen, this, &MainWindow::languageChosen);
}

void MainWindow::showPlace(Place place) {
  if (place != m_place && (place == Place::train || place == Place::settings)) m_context.devices->refresh();
  m_place = place;
  m_navigation->setPlace(place);
  m_stack->setCurrentWidget(page(place));
  page(place)->shown();
}

void MainWindow::openRun(const QString& runPath) {
  if (runPath.isEmpty()) return;
  m_runs->openRun(runPath);
  showPlace(Place::runs);
}

void MainWindow::newTraining() {
  m_wizard->begin();
  showPlace(Place::train);
}

void MainWindow::trainSample() {
  inBackground<Started>(
      this,
      [paths = m_context.paths, name = tr("Stories, the sample")]() -> Started {
        Started started;
        try {
          Job job = sampleJob(paths);
          job.name = name.toStdString();
          started.runPath = RunLauncher::freeRunFolder(paths.runsFolder(), QStringLiteral("stories"));
          RunLauncher(paths.engine).start(started.runPath, job);
        } catch (const std::exception&) {
          started.problem = currentProblem();
        }
        return started;
      },
      [this](const Started& started) {
        if (started.problem.isEmpty()) {
          m_context.runs->refresh();
          openRun(started.runPath);
        } else {
          m_home->showProblem(started.problem);
          showPlace(Place::home);
        }
      });
}

void MainWindow::goOnFrom(const QString& adapterId) {
  m_wizard->beginWithAdapter(adapterId);
  showPlace(Place::train);
}

void MainWindow::chatWith(const QString& adapterId) {
  m_chat->chatWith(adapterId);
  showPlace(Place::chat);
  m_chat->firstFocus()->setFocus();
}

void MainWindow::chatWithModel(const QString& modelPath) {
  m_chat->chatWithModel(modelPath);
  showPlace(Place::chat);
  m_chat->firstFocus()->setFocus();
}

void MainWindow::exportAdapter(const QString& adapterId) {
  m_export->chooseAdapter(adapterId);
  showPlace(Place::publish);
}

void MainWindow::withAdapterOf(const QString& runPath, std::function<void(const QString&)> use) {
  if (const AdapterRecord* adapter = m_context.library->findByRun(runPath)) return use(fromUtf8(adapter->id));
  m_waitedRun = runPath;
  m_waitingUse = std::move(use);
  m_context.library->registerRun(runPath);
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
                              ? QStringLiteral("CUDA · %1 · %2").arg(machine.gpuName, machine.gpuCompute)
                              : tr("Processor · %n thread(s)", nullptr, machine.threads) +
                                    QStringLiteral(" · ") + machine.processorCompute);
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
  m_navigation->showRun(run ? run : m_context.runs->find(m_justEnded));
  if (run) {
    m_engineLabel->setText(run->step > 0 ? tr("%1 · step %2").arg(runWords(*run).state, countText(run->step))
                                         : runWords(*run).state);
  } else {
    m_engineLabel->setText(!machine.problem.isEmpty() ? tr("Engine not found")
                           : machine.known            ? tr("Engine ready")
                                                      : tr("Asking the engine …"));
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_context.settings->setValue(QStringLiteral("window/geometry"), saveGeometry());
  QMainWindow::closeEvent(event);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && page(m_place)->stepBack()) return;
  QMainWindow::keyPressEvent(event);
}

}  // namespace lorikeet::ui

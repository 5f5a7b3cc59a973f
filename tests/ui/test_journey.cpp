// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QtTest>

#include "ui/charts/loss_chart.h"
#include "ui/chat/answer_card.h"
#include "ui/chat/chat_page.h"
#include "ui/engine/library_store.h"
#include "ui/engine/run_store.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"
#include "ui/library/library_page.h"
#include "ui/publish/export_page.h"
#include "ui/publish/export_row.h"
#include "ui/runs/live_run.h"
#include "ui/runs/loss_card.h"
#include "ui/runs/runs_page.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/table.h"
#include "ui/wizard/wizard_model.h"
#include "ui/wizard/wizard_page.h"

using namespace lorikeet;
using namespace lorikeet::ui;

/// One person, one keyboard: from the wizard to a finished run on the bundled sample, a chat with what came
/// out of it, and an export. The engine is the real one.
class TestJourney : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QVERIFY(m_home.isValid());
    qputenv("LORIKEET_HOME", m_home.path().toLocal8Bit());
    qputenv("HF_HUB_CACHE", (m_home.path() + "/hub").toLocal8Bit());
    m_studio = std::make_unique<Studio>(static_cast<QApplication&>(*qApp));
    m_studio->show();
    m_window = m_studio->window();
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window));
  }
  void cleanupTestCase() { m_studio.reset(); }

  void the_wizard_is_walked_to_a_started_run() {
    auto* wizard = static_cast<WizardPage*>(m_window->page(Place::train));
    press(Qt::Key_N, Qt::ControlModifier);
    QTRY_COMPARE(m_window->place(), Place::train);
    // Base model: the list has the keyboard; Space takes the sample.
    auto* table = qobject_cast<Table*>(qApp->focusWidget());
    QVERIFY(table);
    QTRY_COMPARE(table->model()->rowCount(), 1);
    press(Qt::Key_Space);
    QTRY_VERIFY(wizard->model()->state().base);
    QTRY_VERIFY(wizard->primaryButton()->isEnabled());
    // Data: the path is typed.
    press(Qt::Key_Right, Qt::AltModifier);
    QTRY_COMPARE(wizard->step(), 1);
    QVERIFY(qobject_cast<QLineEdit*>(qApp->focusWidget()));
    QTest::keyClicks(qApp->focusWidget(), m_studio->context().paths.sampleData());
    press(Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(wizard->model()->state().prepared, 20000);
    QTRY_VERIFY(wizard->primaryButton()->isEnabled());
    // Method: an arrow key takes the Thorough preset, long enough to be paused on any machine.
    press(Qt::Key_Right, Qt::AltModifier);
    QTRY_COMPARE(wizard->step(), 2);
    press(Qt::Key_Right);
    press(Qt::Key_Space);
    QTRY_COMPARE(wizard->model()->state().preset, Preset::thorough);
    // Training, Check and Start by the page's main action.
    for (int step = 3; step <= 5; ++step) {
      QTRY_VERIFY(wizard->primaryButton()->isEnabled());
      press(Qt::Key_Return, Qt::ControlModifier);
      QTRY_COMPARE(wizard->step(), step);
    }
    QVERIFY(qobject_cast<QLineEdit*>(qApp->focusWidget()));
    press(Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(qApp->focusWidget(), "First stories");
    QTRY_VERIFY(wizard->primaryButton()->isEnabled());
    press(Qt::Key_Return, Qt::ControlModifier);
    QTRY_COMPARE(m_window->place(), Place::runs);
    m_run = live()->runPath();
    QVERIFY(m_run.endsWith("/first-stories"));
  }

  void the_run_is_watched_paused_and_gone_on_with() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    QTRY_VERIFY_WITH_TIMEOUT(live()->lossCard()->chart()->series().steps().size() >= 2, 60000);
    // The chart may know of steps a moment before the page and the menu know that the engine trains.
    QTRY_VERIFY(m_studio->context().runs->live());
    QTRY_VERIFY(live()->primaryButton()->isEnabled());
    QCOMPARE(live()->primaryButton()->text(), QStringLiteral("Pause"));
    press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    QTRY_COMPARE_WITH_TIMEOUT(live()->primaryButton()->text(), QStringLiteral("Go on"), 20000);
    const auto stopped = live()->lossCard()->chart()->series().steps().size();
    press(Qt::Key_Return, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(live()->lossCard()->chart()->series().steps().size() > stopped, 20000);
  }

  void the_run_ends_well_and_its_loss_has_fallen() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    QTRY_COMPARE_WITH_TIMEOUT(live()->primaryButton()->text(), QStringLiteral("Compare in chat"), 180000);
    const RunSeries& series = live()->lossCard()->chart()->series();
    QCOMPARE(series.steps().size(), std::size_t{125});
    QVERIFY(series.steps().back().loss < series.steps().front().loss);
    QVERIFY(!live()->banner()->isVisible());
    QVERIFY(QFile::exists(m_run + "/adapter/adapter_model.safetensors"));
    QVERIFY(QFile::exists(m_run + "/engine.log"));
    QTRY_COMPARE_WITH_TIMEOUT(m_studio->context().library->adapters().size(), std::size_t{1}, 20000);
  }

  void base_and_adapter_answer_side_by_side() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    press(Qt::Key_Return, Qt::ControlModifier);  // Compare in chat
    QTRY_COMPARE(m_window->place(), Place::chat);
    auto* chat = static_cast<ChatPage*>(m_window->page(Place::chat));
    QTRY_VERIFY(qobject_cast<QPlainTextEdit*>(qApp->focusWidget()));
    QTest::keyClicks(qApp->focusWidget(), "Tell a story about a fox who finds a lantern.");
    press(Qt::Key_Return);
    QTRY_COMPARE(chat->turns(), 1);
    QVERIFY(chat->answer(0, 0) && chat->answer(0, 1));
    QTRY_VERIFY_WITH_TIMEOUT(!chat->isAnswering(), 120000);
    for (int column = 0; column < 2; ++column) {
      QCOMPARE(chat->answer(0, column)->state(), AnswerCard::State::done);
      QVERIFY(chat->answer(0, column)->text().size() > 20);
      QVERIFY(chat->answer(0, column)->caption().contains("tokens/s"));
    }
    QVERIFY(chat->answer(0, 0)->text() != chat->answer(0, 1)->text());
    // A second question is stopped at once.
    QTest::keyClicks(chat->composer(), "And one about a bear.");
    press(Qt::Key_Return);
    QTRY_VERIFY(chat->isAnswering());
    press(Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(!chat->isAnswering(), 20000);
  }

  void the_adapter_is_exported_as_it_is_and_merged() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    press(Qt::Key_6, Qt::ControlModifier);
    QTRY_COMPARE(m_window->place(), Place::publish);
    auto* page = static_cast<ExportPage*>(m_window->page(Place::publish));
    for (const QString& file :
         {QStringLiteral("adapter_model.safetensors"), QStringLiteral("model.safetensors")}) {
      if (file == QLatin1String("model.safetensors")) page->chooseTarget(1);
      QTRY_VERIFY(page->primaryButton()->isEnabled());
      press(Qt::Key_Return, Qt::ControlModifier);
      QTRY_VERIFY(page->newestRow());
      ExportRow* row = page->newestRow();
      QTRY_VERIFY_WITH_TIMEOUT(row->state() != ExportRow::State::running, 60000);
      QVERIFY2(row->state() == ExportRow::State::done, qPrintable(row->problem()));
      QVERIFY2(QFile::exists(row->out() + "/" + file), qPrintable(row->out()));
    }
  }

  void the_adapter_is_renamed_and_moved_to_the_trash_and_put_back() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    press(Qt::Key_4, Qt::ControlModifier);
    QTRY_COMPARE(m_window->place(), Place::library);
    auto* page = static_cast<LibraryPage*>(m_window->page(Place::library));
    LibraryStore* library = m_studio->context().library;
    QTRY_COMPARE(page->table()->model()->rowCount(), 1);
    page->table()->setFocus();
    page->table()->setCurrentIndex(page->table()->model()->index(0, 0));
    press(Qt::Key_F2);
    QTRY_VERIFY(qobject_cast<QLineEdit*>(qApp->focusWidget()));
    press(Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(qApp->focusWidget(), "Fox tales");
    press(Qt::Key_Return);
    QTRY_COMPARE(library->adapters().front().name, std::string("Fox tales"));
    const QString id = QString::fromStdString(library->adapters().front().id);
    library->moveToTrash({id});
    QTRY_COMPARE(library->trash().size(), std::size_t{1});
    QVERIFY(library->adapters().empty());
    library->restore({id});
    QTRY_COMPARE(library->adapters().size(), std::size_t{1});
    QVERIFY(!library->adapters().front().missing);
  }

  void a_window_that_opens_later_finds_the_run_again() {
    if (m_run.isEmpty()) QSKIP("The wizard did not start a run");
    m_studio.reset();
    m_studio = std::make_unique<Studio>(static_cast<QApplication&>(*qApp));
    m_studio->show();
    QTRY_COMPARE(m_studio->context().runs->runs().size(), std::size_t{1});
    QCOMPARE(m_studio->context().runs->runs().front().name, QStringLiteral("First stories"));
    QVERIFY(m_studio->context().runs->runs().front().isDone());
  }

 private:
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWidget* target = qApp->focusWidget();
    QTest::keyClick(target ? target : m_window, key, modifiers);
  }
  LiveRun* live() const { return static_cast<RunsPage*>(m_window->page(Place::runs))->liveRun(); }
  QTemporaryDir m_home;
  std::unique_ptr<Studio> m_studio;
  MainWindow* m_window = nullptr;
  QString m_run;
};

QTEST_MAIN(TestJourney)
#include "test_journey.moc"

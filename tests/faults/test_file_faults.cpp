// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_folder.h"
#include "core/base/files.h"
#include "core/library/library.h"
#include "core/publish/export.h"
#include "core/train/checkpoint.h"
#include "tests/core/train/training_support.h"
#include "tests/faults/fault_sweep.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

namespace {

std::string content_of(const std::string& path) {
  return fs::exists(path) ? read_file(path) : "";
}

/// Names and contents of all files below a folder.
std::map<std::string, std::string> tree(const std::string& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file())
      files[fs::relative(entry.path(), folder).string()] = read_file(entry.path().string());
  }
  return files;
}

}  // namespace

class TestFileFaults : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  std::unique_ptr<TrainingSetup> setup_;
  int total_ = 0;

  std::string fresh(const char* name) const { return folder_.path().toStdString() + "/" + name; }

  /// The operation at every point in every way.
  void try_everything(const AllOrNothing& operation) {
    struct Way {
      FaultKind kind;
      int error;
    };
    constexpr Way ways[] = {
#ifdef LORIKEET_ALL_POINTS
        {FaultKind::fail, ENOSPC},   {FaultKind::fail_on, EROFS},  {FaultKind::kill, 0},
        {FaultKind::short_write, 0},
#endif
        {FaultKind::fail, EIO},      {FaultKind::fail_on, ENOSPC}, {FaultKind::tear, 0}};
    int points = 0, old_states = 0;
    for (const Way& way : ways) {
      const SweepResult result = sweep(operation, way.kind, way.error);
      QVERIFY2(result.wrong.empty(), result.wrong.c_str());
      QVERIFY(result.points > 0);
      points += result.points;
      old_states += result.old_states;
    }
    QVERIFY(old_states > 0 && old_states < points);
    total_ += points;
    qInfo("%d points tried, after %d of them the old state, after %d the new one", points, old_states,
          points - old_states);
  }

 private slots:
  void initTestCase() {
    model_ = fresh("model");
    write_tiny_folder(model_, TinyModel{});
    setup_ = std::make_unique<TrainingSetup>(model_, exact_settings(), random_rows(20, 32, 1));
  }
  void cleanupTestCase() {
    qInfo("%d points tried in all", total_);
  }

  void a_file_is_replaced_or_not() {
    const std::string folder = fresh("file"), path = folder + "/job.json";
    const std::string before(3000, 'a'), after(5000, 'b');
    try_everything({folder,
                    [&] {
                      fs::remove_all(folder);
                      fs::create_directories(folder);
                      write_file_atomically(path, before);
                    },
                    [&] { write_file_atomically(path, after); },
                    [&]() -> std::string {
                      const std::string content = content_of(path);
                      return content == before ? "old" : content == after ? "new" : "something else is there";
                    }});
  }

  void an_event_is_appended_or_not() {
    const std::string folder = fresh("events");
    std::optional<RunFolder> run;
    const auto append = [&](int step) { run->append({{"type", "step"}, {"step", step}, {"loss", 1.5}}); };
    try_everything({folder,
                    [&] {
                      run.reset();
                      fs::remove_all(folder);
                      run = RunFolder::create(folder, Job{});
                      run->lock();
                      append(1);
                      append(2);
                    },
                    [&] {
                      append(3);
                      run->sync_events();
                    },
                    [&]() -> std::string {
                      // As the engine that goes on with it does.
                      run.reset();
                      run = RunFolder::open(folder);
                      run->lock();
                      run->cut_torn_line();
                      const RunHistory history = run->read_history();
                      if (!history.warnings.empty()) return "a broken line: " + history.warnings.front().what;
                      const std::size_t count = history.steps.size();
                      // Doing it again, after an error in sync alone, says it twice: that is the caller's to
                      // know.
                      return count == 2 ? "old" : count >= 3 ? "new" : std::to_string(count) + " lines";
                    }});
  }

  void a_checkpoint_is_the_old_one_or_the_new_one_data() {
    QTest::addColumn<int>("step");
    QTest::newRow("of a later step") << 2;
    QTest::newRow("R08 of the same step") << 1;
  }
  void a_checkpoint_is_the_old_one_or_the_new_one() {
    QFETCH(int, step);
    const std::string folder = fresh("checkpoint");
    const auto run = [&] { return RunFolder::open(folder); };
    // Two states of one trainer, told apart by their parameters.
    setup_->trainer().step();
    const std::string first = fresh("first"), second = fresh("second");
    setup_->trainer().save(first, {});
    const auto before = setup_->parameters();
    setup_->trainer().step();
    setup_->trainer().save(second, {});
    const auto after = setup_->parameters();
    try_everything({folder,
                    [&] {
                      fs::remove_all(folder);
                      RunFolder::create(folder, Job{});
                      fs::copy(first, run().checkpoint_path(1), fs::copy_options::recursive);
                      setup_->trainer().restore(second);
                    },
                    [&] {
                      setup_->trainer().restore(second);
                      const std::string path = run().checkpoint_path(step);
                      setup_->trainer().save(path, {});
                      verify_checkpoint(path);
                      remove_old_checkpoints(run(), 1, {path});
                    },
                    [&]() -> std::string {
                      const std::string newest = newest_checkpoint(run());
                      if (newest.empty()) return "no checkpoint is left";
                      if (fs::exists(run().path() + "/checkpoints/broken"))
                        return "a broken checkpoint was there";
                      setup_->trainer().restore(newest);
                      const auto now = setup_->parameters();
                      return now == before ? "old" : now == after ? "new" : "other parameters";
                    }});
  }

  void an_adapter_is_saved_whole_or_not() {
    const std::string folder = fresh("adapter"), path = folder + "/adapter";
    std::map<std::string, std::string> before, after;
    AdapterNotes notes;
    try_everything({folder,
                    [&] {
                      fs::remove_all(folder);
                      notes.base_name = "before";
                      setup_->adapter().save(setup_->backend(), path, notes);
                      before = tree(path);
                      notes.base_name = "after";
                      setup_->adapter().save(setup_->backend(), folder + "/other", notes);
                      after = tree(folder + "/other");
                      fs::remove_all(folder + "/other");
                    },
                    [&] { setup_->adapter().save(setup_->backend(), path, notes); },
                    [&]() -> std::string {
                      const auto now = tree(path);
                      return now == before ? "old" : now == after ? "new" : "a mixture of files";
                    }});
    // What the killed ones left is gone.
    for (const auto& entry : fs::directory_iterator(folder))
      QCOMPARE(entry.path().filename().string(), "adapter");
  }

  void an_export_is_whole_or_not_there_data() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("adapter") << "adapter";
    QTest::newRow("merged") << "merged";
  }
  void an_export_is_whole_or_not_there() {
    QFETCH(QString, kind);
    const std::string folder = fresh("export"), adapter = fresh("exported");
    randomise_b(setup_->backend(), setup_->adapter(), 3);
    setup_->adapter().save(setup_->backend(), adapter, {});
    ExportRequest request;
    request.model_path = model_;
    request.adapter_path = adapter;
    request.kind = kind.toStdString();
    request.type = "bf16";
    request.out = folder + "/out";
    std::map<std::string, std::string> whole;
    try_everything({folder,
                    [&] {
                      if (whole.empty()) {
                        fs::remove_all(folder);
                        run_export(request);
                        whole = tree(request.out);
                      }
                      fs::remove_all(folder);
                      fs::create_directories(folder);
                    },
                    [&] {
                      if (fs::exists(request.out)) fs::remove_all(request.out);
                      run_export(request);
                    },
                    [&]() -> std::string {
                      if (!fs::exists(request.out)) return "old";
                      return tree(request.out) == whole ? "new" : "a part of an export";
                    }});
    for (const auto& entry : fs::directory_iterator(folder))
      QCOMPARE(entry.path().filename().string(), "out");
  }

  void an_adapter_is_in_the_library_or_not() {
    const std::string folder = fresh("library"), adapter = fresh("registered");
    setup_->adapter().save(setup_->backend(), adapter, {});
    AdapterRecord record;
    record.group = "nest + stories";
    record.name = "Stories";
    record.base_id = "b1";
    record.data_name = "stories";
    record.path = adapter;
    record.run_path = fresh("run");
    record.steps = 80;
    record.loss = 1.5;
    try_everything({folder,
                    [&] {
                      fs::remove_all(folder);
                      Library(folder).register_base({"b1", "nest", "/models/nest", "llama", 1000000});
                    },
                    [&] { Library(folder).register_adapter(record); },
                    [&]() -> std::string {
                      const auto adapters = Library(folder).adapters();  // checks the file first
                      if (adapters.empty()) return "old";
                      if (adapters.size() > 1) return "registered twice";
                      return adapters[0].steps == 80 && adapters[0].loss == 1.5 ? "new" : "half a record";
                    }});
  }
};

QTEST_GUILESS_MAIN(TestFileFaults)
#include "test_file_faults.moc"

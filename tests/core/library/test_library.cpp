// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <QtTest>
#include <filesystem>
#include <set>

#include "core/base/files.h"
#include "core/library/base_id.h"
#include "core/library/library.h"
#include "kernels/base/error.h"

using namespace lorikeet;
namespace fs = std::filesystem;

class TestLibrary : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  int count_ = 0;

  std::string fresh_home() { return folder_.path().toStdString() + "/home-" + std::to_string(++count_); }
  static std::string make_adapter(const std::string& home, const std::string& run) {
    const std::string path = home + "/runs/" + run + "/adapter";
    fs::create_directories(path);
    write_file_atomically(path + "/adapter_config.json", "{}");
    write_file_atomically(path + "/adapter_model.safetensors", std::string(100, 'x'));
    return path;
  }
  static AdapterRecord record(const std::string& path, const std::string& group = "nest + stories") {
    AdapterRecord adapter;
    adapter.group = group;
    adapter.name = "Stories";
    adapter.base_id = "b1";
    adapter.data_name = "stories";
    adapter.path = path;
    adapter.run_path = fs::path(path).parent_path().string();
    adapter.steps = 80;
    adapter.loss = 1.5;
    return adapter;
  }
  static void add_base(Library& library) {
    library.register_base({"b1", "nest", "/models/nest", "llama", 1000000});
  }

 private slots:
  void versions_count_up_within_a_group() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    QCOMPARE(library.register_adapter(record(make_adapter(home, "1"))).version, std::int64_t{1});
    QCOMPARE(library.register_adapter(record(make_adapter(home, "2"))).version, std::int64_t{2});
    QCOMPARE(library.register_adapter(record(make_adapter(home, "3"), "other")).version, std::int64_t{1});
    QCOMPARE(library.adapters().size(), std::size_t{3});
    QCOMPARE(library.adapters().front().base_name, std::string("nest"));
    QVERIFY(!library.adapters().front().eval_loss);
    QVERIFY(library.adapters().front().bytes > 100);
  }

  void the_same_folder_is_registered_once() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    const std::string path = make_adapter(home, "1");
    const auto first = library.register_adapter(record(path));
    auto again = record(path);
    again.loss = 1.0;
    const auto second = library.register_adapter(again);
    QCOMPARE(first.id, second.id);
    QCOMPARE(library.adapters().size(), std::size_t{1});
    QCOMPARE(*library.adapters().front().loss, 1.0);
  }

  void a_home_that_was_moved_keeps_its_adapters() {
    const std::string home = fresh_home();
    {
      Library library(home);
      add_base(library);
      library.register_adapter(record(make_adapter(home, "1")));
    }
    const std::string moved = fresh_home();
    fs::rename(home, moved);
    Library library(moved);
    QCOMPARE(library.adapters().front().path, moved + "/runs/1/adapter");
    QVERIFY(!library.adapters().front().missing);
  }

  void the_trash_keeps_files_and_gives_them_back() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    const std::string path = make_adapter(home, "1");
    const auto adapter = library.register_adapter(record(path));
    library.move_to_trash(adapter.id);
    QVERIFY(library.adapters().empty());
    QVERIFY(!fs::exists(path));
    QCOMPARE(library.trash().size(), std::size_t{1});
    QVERIFY(!library.trash().front().missing);
    library.restore_from_trash(adapter.id);
    QVERIFY(fs::exists(path + "/adapter_model.safetensors"));
    QCOMPARE(library.adapters().size(), std::size_t{1});
    QVERIFY(library.trash().empty());
    QVERIFY_EXCEPTION_THROWN(library.restore_from_trash(adapter.id), Error);
  }

  void nothing_is_overwritten_when_the_trash_gives_back() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    const std::string path = make_adapter(home, "1");
    const auto adapter = library.register_adapter(record(path));
    library.move_to_trash(adapter.id);
    make_adapter(home, "1");
    QVERIFY_EXCEPTION_THROWN(library.restore_from_trash(adapter.id), Error);
    QCOMPARE(library.trash().size(), std::size_t{1});
    QVERIFY(!library.trash().front().missing);
  }

  void a_move_to_the_trash_that_was_cut_short_is_mended() {
    const std::string home = fresh_home();
    std::string path = make_adapter(home, "1"), id;
    {
      Library library(home);
      add_base(library);
      id = library.register_adapter(record(path)).id;
    }
    fs::create_directories(home + "/trash");
    fs::rename(path, home + "/trash/" + id);
    Library library(home);
    QVERIFY(fs::exists(path));
    QVERIFY(!library.adapters().front().missing);
  }

  void missing_files_are_said() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    const std::string path = make_adapter(home, "1");
    const auto adapter = library.register_adapter(record(path));
    fs::remove_all(path);
    QVERIFY(library.adapters().front().missing);
    library.move_to_trash(adapter.id);
    QVERIFY(library.adapters().empty());
  }

  void names_can_be_changed_and_looked_up() {
    const std::string home = fresh_home();
    Library library(home);
    add_base(library);
    const auto adapter = library.register_adapter(record(make_adapter(home, "1")));
    library.rename(adapter.id, "Füchse 🦊");
    QCOMPARE(library.find("Füchse 🦊")->id, adapter.id);
    QVERIFY(!library.find("Stories"));
    QVERIFY_EXCEPTION_THROWN(library.rename(adapter.id, "  "), Error);
    QVERIFY_EXCEPTION_THROWN(library.rename("nobody", "x"), Error);
  }

  void two_processes_never_take_the_same_version() {
    const std::string home = fresh_home();
    {
      Library library(home);
      add_base(library);
    }
    constexpr int each = 20;
    std::vector<pid_t> children;
    for (int child = 0; child < 2; ++child) {
      const pid_t pid = ::fork();
      if (pid == 0) {
        int failures = 0;
        try {
          Library library(home);
          for (int i = 0; i < each; ++i) {
            library.register_adapter(
                record(make_adapter(home, std::to_string(child) + "-" + std::to_string(i))));
          }
        } catch (const std::exception&) {
          failures = 1;
        }
        ::_exit(failures);
      }
      children.push_back(pid);
    }
    for (const pid_t pid : children) {
      int status = 1;
      ::waitpid(pid, &status, 0);
      QCOMPARE(status, 0);
    }
    Library library(home);
    std::set<std::int64_t> versions;
    for (const auto& adapter : library.adapters()) versions.insert(adapter.version);
    QCOMPARE(versions.size(), std::size_t{2 * each});
    QCOMPARE(*versions.rbegin(), std::int64_t{2 * each});
  }

  void a_broken_library_is_said_and_left_alone() {
    const std::string home = fresh_home();
    fs::create_directories(home);
    write_file_atomically(home + "/library.db", std::string(5000, 'z'));
    try {
      Library library(home);
      QFAIL("opened");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::bad_format);
      QVERIFY(!error.hint().empty());
    }
    QCOMPARE(read_file(home + "/library.db"), std::string(5000, 'z'));
  }

  void the_base_id_is_that_of_the_content() {
    const std::string home = fresh_home(), model = folder_.path().toStdString() + "/m";
    fs::create_directories(model);
    write_file_atomically(model + "/config.json", "{\"model_type\":\"llama\"}");
    const std::string header = "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}    ";
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size());
    write_file_atomically(model + "/model.safetensors", file + header + "abcd");
    const std::string id = base_id(model, home);
    QCOMPARE(id.size(), std::size_t{64});
    QCOMPARE(base_id(model, home), id);  // from the cache
    QCOMPARE(base_id(model, ""), id);    // anew
    write_file_atomically(model + "/README.md", "not part of the model");
    QCOMPARE(base_id(model, home), id);
    write_file_atomically(model + "/model.safetensors", file + header + "abce");
    QVERIFY(base_id(model, home) != id);
    write_file_atomically(home + "/cache/hashes.json", "broken");
    QCOMPARE(base_id(model, home).size(), std::size_t{64});
  }
};

QTEST_GUILESS_MAIN(TestLibrary)
#include "test_library.moc"

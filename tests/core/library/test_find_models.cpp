// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>

#include "core/library/library.h"
#include "core/model/model_spec.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

class TestFindModels : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const FoundModel& model : find_base_models()) {
      read_model_spec(model.path);
      all.push_back(model.name);
    }
    return all;
  }

 private slots:
  void initTestCase() {
    qputenv("HF_HUB_CACHE", QByteArray::fromStdString(path("hub")));
    qputenv("LORIKEET_HOME", QByteArray::fromStdString(path("home")));
    QVERIFY(find_base_models().empty());
    const std::string repository = path("hub/models--org--small");
    write_tiny_folder(repository + "/blobs-of-this-test", {});
    fs::create_directories(repository + "/snapshots/aaa");
    for (const auto& entry : fs::directory_iterator(repository + "/blobs-of-this-test")) {
      fs::create_symlink(entry.path(), repository + "/snapshots/aaa/" + entry.path().filename().string());
    }
    write_tiny_folder(repository + "/snapshots/old", {});
    write_text(repository + "/refs/main", "aaa");
    write_tiny_gguf(path("hub/models--org--packed/snapshots/bbb/packed-q8.gguf"), {});
    write_text(path("hub/models--org--half/snapshots/ccc/config.json"), tiny_config({}));
    write_text(path("hub/models--org--hostile/refs/main"), "../../../home/models/mine");
    write_text(path("hub/models--org--other-family/snapshots/d/config.json"), R"({"model_type": "gpt2"})");
    write_text(path("hub/datasets--org--rows/snapshots/eee/config.json"), "{}");
    write_tiny_folder(path("home/models/mine"), {});
    write_tiny_gguf(path("home/models/sub/other.gguf"), {});
    write_text(path("home/models/broken.gguf"), "GGUF but no more");
  }

  void models_of_the_cache_and_of_home_are_found_by_name() {
    QCOMPARE(names(), (std::vector<std::string>{"mine", "org/packed/packed-q8.gguf", "org/small", "other"}));
  }

  void the_snapshot_of_main_is_taken() {
    for (const FoundModel& model : find_base_models()) {
      if (model.name == "org/small") QCOMPARE(model.path, path("hub/models--org--small/snapshots/aaa"));
    }
    fs::remove(path("hub/models--org--small/refs/main"));
    QCOMPARE(names().size(), std::size_t{4});
  }

  void the_cache_is_looked_for_as_hugging_face_does() {
    qunsetenv("HF_HUB_CACHE");
    qputenv("HF_HOME", QByteArray::fromStdString(path("hf")));
    write_tiny_folder(path("hf/hub/models--a--b/snapshots/1"), {});
    QCOMPARE(names(), (std::vector<std::string>{"a/b", "mine", "other"}));
  }
};

QTEST_GUILESS_MAIN(TestFindModels)
#include "test_find_models.moc"

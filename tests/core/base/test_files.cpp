// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "kernels/base/error.h"

using namespace lorikeet;

class TestFiles : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string path(const char* name) const { return folder_.path().toStdString() + "/" + name; }

 private slots:
  void an_atomic_file_appears_only_at_commit() {
    const std::string target = path("a.txt");
    write_file_atomically(target, "old");
    {
      AtomicFile file(target);
      file.write("new");
      QCOMPARE(read_file(target), std::string("old"));
    }
    QCOMPARE(read_file(target), std::string("old"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(folder_.path().toStdString()), {}), 1);
    AtomicFile file(target);
    file.write("new");
    file.commit();
    QCOMPARE(read_file(target), std::string("new"));
  }

  void a_lock_is_seen_by_others_and_ends_with_its_holder() {
    const std::string target = path("lock");
    QVERIFY(!FileLock::is_held(target));
    {
      FileLock lock(target, "pid 1");
      QVERIFY(FileLock::is_held(target));
      try {
        FileLock second(target, "pid 2");
        QFAIL("the second lock was given");
      } catch (const Error& error) {
        QCOMPARE(error.code(), ErrorCode::locked);
        QVERIFY(error.message().find("pid 1") != std::string::npos);
      }
    }
    QVERIFY(!FileLock::is_held(target));
  }

  void names_from_files_stay_in_their_folder_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("safe");
    QTest::newRow("plain") << "model-00001-of-00002.safetensors" << true;
    QTest::newRow("in a sub-folder") << "original/params.json" << true;
    QTest::newRow("parent") << "../x" << false;
    QTest::newRow("parent inside") << "a/../../x" << false;
    QTest::newRow("absolute") << "/etc/passwd" << false;
    QTest::newRow("drive") << "c:x" << false;
    QTest::newRow("backslash") << "a\\..\\x" << false;
    QTest::newRow("empty") << "" << false;
  }
  void names_from_files_stay_in_their_folder() {
    QFETCH(QString, name);
    QFETCH(bool, safe);
    QCOMPARE(is_safe_relative_name(name.toStdString()), safe);
  }

  void sha256_is_the_published_one() {
    QCOMPARE(sha256_hex("abc"),
             std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    write_file_atomically(path("h"), "abc");
    QCOMPARE(sha256_file(path("h")), sha256_hex("abc"));
  }
};

QTEST_GUILESS_MAIN(TestFiles)
#include "test_files.moc"

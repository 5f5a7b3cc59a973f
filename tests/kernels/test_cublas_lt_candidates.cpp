// SPDX-License-Identifier: Apache-2.0
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>

#include "kernels/cuda/cublas_lt_candidates.h"

using lorikeet::cuda::cublas_lt_candidates;

class TestCublasLtCandidates : public QObject {
  Q_OBJECT

  static void make(const QString& path) {
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
  }
  static std::ptrdiff_t place_of(const QString& path) {
    const std::vector<std::string> all = cublas_lt_candidates();
    const auto found = std::find(all.begin(), all.end(), path.toStdString());
    return found == all.end() ? -1 : found - all.begin();
  }

 private slots:
  void init() {
    for (const char* name : {"CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"}) qunsetenv(name);
  }

  void candidates_are_absolute_and_exist() {
    for (const std::string& path : cublas_lt_candidates()) {
      QVERIFY2(std::filesystem::path(path).is_absolute(), path.c_str());
      QVERIFY2(std::filesystem::exists(path), path.c_str());
    }
  }

  void the_toolkit_named_by_the_environment_comes_before_python_and_13_before_12() {
    const QTemporaryDir folder;
    const QString toolkit = folder.filePath("cuda/lib64/libcublasLt.so.");
    const QString python =
        folder.filePath("venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublasLt.so.");
    for (const char* version : {"12", "13"}) {
      make(toolkit + version);
      make(python + version);
    }
    QCOMPARE(place_of(toolkit + "13"), -1);
    qputenv("CUDA_PATH", folder.filePath("cuda").toLocal8Bit());
    qputenv("VIRTUAL_ENV", folder.filePath("venv").toLocal8Bit());
    QVERIFY(place_of(toolkit + "13") >= 0);
    QVERIFY(place_of(toolkit + "13") < place_of(python + "13"));
    QVERIFY(place_of(python + "13") < place_of(toolkit + "12"));
    QVERIFY(place_of(toolkit + "12") < place_of(python + "12"));
  }

  void folders_relative_to_the_working_folder_are_not_looked_into() {
    const QTemporaryDir folder;
    make(folder.filePath("cuda/lib64/libcublasLt.so.13"));
    const QString before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(folder.path()));
    const std::size_t without = cublas_lt_candidates().size();
    qputenv("CUDA_PATH", "cuda");
    const std::size_t with = cublas_lt_candidates().size();
    QVERIFY(QDir::setCurrent(before));
    QCOMPARE(with, without);
  }
};

QTEST_GUILESS_MAIN(TestCublasLtCandidates)
#include "test_cublas_lt_candidates.moc"

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <string>

#include "core/base/files.h"

namespace lorikeet::test {

/// The folder of tokenizers in the shared test data, "" when LORIKEET_TEST_DATA is not set.
inline std::string shared_tokenizers() {
  const QByteArray folder = qgetenv("LORIKEET_TEST_DATA");
  return folder.isEmpty() ? std::string() : folder.toStdString() + "/tokenizers";
}

/// Copies a file into `folder` under a new name; "….gz" is unpacked. The path of the copy.
inline std::string unpack(const std::string& source, const QTemporaryDir& folder, const std::string& name) {
  const std::string target = folder.filePath(QString::fromStdString(name)).toStdString();
  if (!source.ends_with(".gz")) {
    write_file_atomically(target, read_file(source));
    return target;
  }
  QProcess gzip;
  gzip.setStandardOutputFile(QString::fromStdString(target));
  gzip.start("gzip", {"-dc", QString::fromStdString(source)});
  if (!gzip.waitForFinished(60'000) || gzip.exitCode() != 0) return {};
  return target;
}

}  // namespace lorikeet::test

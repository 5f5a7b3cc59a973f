// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/sample_job.h"

#include <QDir>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"

namespace lorikeet::ui {

Job sampleJob(const EnginePaths& paths) {
  if (paths.samples.isEmpty()) {
    throw Error(ErrorCode::not_found, "The bundled sample is not there", "share/lorikeet/samples",
                "Install Lorikeet again");
  }
  const std::string file = (paths.samples + QStringLiteral("/stories.job.json")).toStdString();
  Job job = job_from_json(read_json_file(file), file);
  const QDir folder(paths.samples);
  for (std::string* path : {&job.model_path, &job.data_path}) {
    if (!path->empty())
      *path = QDir::cleanPath(folder.absoluteFilePath(QString::fromStdString(*path))).toStdString();
  }
  return job;
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/library_store.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "ui/widgets/background.h"

namespace lorikeet::ui {

/// Belongs to the library's thread.
struct LibraryStore::Shared {
  explicit Shared(std::string folder) : home(std::move(folder)) {}
  std::string home;
  std::unique_ptr<Library> library;
};

struct LibraryStore::Answer {
  std::vector<AdapterRecord> adapters, trash;
  Problem problem;
};

LibraryStore::LibraryStore(QString home, QObject* parent)
    : QObject(parent), m_home(std::move(home)), m_shared(std::make_shared<Shared>(m_home.toStdString())) {
  m_thread.setMaxThreadCount(1);
}

LibraryStore::~LibraryStore() {
  m_thread.waitForDone();
}

const AdapterRecord* LibraryStore::find(const QString& id) const {
  const std::string wanted = id.toStdString();
  const auto found = std::find_if(m_adapters.begin(), m_adapters.end(),
                                  [&](const AdapterRecord& a) { return a.id == wanted; });
  return found == m_adapters.end() ? nullptr : &*found;
}

const AdapterRecord* LibraryStore::findByRun(const QString& runPath) const {
  const auto found = std::find_if(m_adapters.begin(), m_adapters.end(),
                                  [&](const AdapterRecord& a) { return runOf(a) == runPath; });
  return found == m_adapters.end() ? nullptr : &*found;
}

QString LibraryStore::runOf(const AdapterRecord& adapter) const {
  return adapter.run_path.empty()
             ? QString()
             : QDir::cleanPath(QDir(m_home).absoluteFilePath(QString::fromStdString(adapter.run_path)));
}

QString LibraryStore::folderOf(const AdapterRecord& adapter) const {
  return QDir::cleanPath(QDir(m_home).absoluteFilePath(QString::fromStdString(adapter.path)));
}

void LibraryStore::apply(std::function<void(Library&)> change) {
  inBackground<Answer>(
      m_thread, this,
      [shared = m_shared, change = std::move(change)] {
        Answer answer;
        try {
          if (!shared->library) {
            QDir().mkpath(QString::fromStdString(shared->home));
            shared->library = std::make_unique<Library>(shared->home);
          }
          if (change) change(*shared->library);
        } catch (const std::exception&) {
          answer.problem = currentProblem();
        }
        try {
          if (shared->library) {
            answer.adapters = shared->library->adapters();
            answer.trash = shared->library->trash();
          }
        } catch (const std::exception&) {
          answer.problem = currentProblem();
        }
        return answer;
      },
      [this](Answer answer) {
        m_adapters = std::move(answer.adapters);
        m_trash = std::move(answer.trash);
        m_problem = answer.problem;
        m_loaded = true;
        emit changed();
        if (!m_problem.isEmpty()) emit failed(m_problem);
      });
}

void LibraryStore::refresh() {
  apply({});
}

void LibraryStore::rename(const QString& id, const QString& name) {
  apply([id = id.toStdString(), name = name.trimmed().toStdString()](Library& library) {
    library.rename(id, name);
  });
}

void LibraryStore::moveToTrash(const QStringList& ids) {
  apply([ids](Library& library) {
    for (const QString& id : ids) library.move_to_trash(id.toStdString());
  });
}

void LibraryStore::restore(const QStringList& ids) {
  apply([ids](Library& library) {
    for (const QString& id : ids) library.restore_from_trash(id.toStdString());
  });
}

void LibraryStore::registerRun(const QString& runPath) {
  apply([path = runPath.toStdString()](Library& library) { register_run(library, path); });
}

}  // namespace lorikeet::ui

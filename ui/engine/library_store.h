// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <vector>

#include "core/library/library.h"
#include "ui/widgets/banner.h"

namespace lorikeet::ui {

/// The library as the pages see it: a copy of its records, refreshed after every change. The database is used
/// on one thread of its own, never on the GUI thread.
class LibraryStore : public QObject {
  Q_OBJECT
 public:
  explicit LibraryStore(QString home, QObject* parent = nullptr);
  ~LibraryStore() override;

  const std::vector<AdapterRecord>& adapters() const { return m_adapters; }
  const std::vector<AdapterRecord>& trash() const { return m_trash; }
  const AdapterRecord* find(const QString& id) const;
  /// The adapter a run has given, nullptr while it is not registered.
  const AdapterRecord* findByRun(const QString& runPath) const;
  bool isLoaded() const { return m_loaded; }
  const Problem& problem() const { return m_problem; }
  /// Absolute folder of an adapter.
  QString folderOf(const AdapterRecord& adapter) const;
  /// Absolute run folder it came from, "" when it has none.
  QString runOf(const AdapterRecord& adapter) const;

  void refresh();
  void rename(const QString& id, const QString& name);
  void moveToTrash(const QStringList& ids);
  void restore(const QStringList& ids);
  /// Registers a finished run that the engine has not registered yet (it may have run elsewhere).
  void registerRun(const QString& runPath);

 signals:
  void changed();
  void failed(const lorikeet::ui::Problem& problem);

 private:
  struct Shared;
  struct Answer;
  void apply(std::function<void(Library&)> change);
  QString m_home;
  std::shared_ptr<Shared> m_shared;
  QThreadPool m_thread;
  std::vector<AdapterRecord> m_adapters, m_trash;
  Problem m_problem;
  bool m_loaded = false;
};

}  // namespace lorikeet::ui

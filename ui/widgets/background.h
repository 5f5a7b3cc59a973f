// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <utility>

namespace lorikeet::ui {

/// Runs `work` on a thread of `pool` and hands its result to `done` on the GUI thread, unless `receiver` was
/// destroyed in the meantime. `work` must not throw and must own (or share) everything it touches. Call from
/// the GUI thread.
template <class Result>
void inBackground(QThreadPool& pool, QObject* receiver, std::function<Result()> work,
                  std::function<void(Result)> done) {
  pool.start([guard = QPointer<QObject>(receiver), work = std::move(work), done = std::move(done)]() mutable {
    auto result = std::make_shared<Result>(work());
    work = nullptr;
    QMetaObject::invokeMethod(
        qApp,
        [guard = std::move(guard), done = std::move(done), result] {
          if (guard) done(std::move(*result));
        },
        Qt::QueuedConnection);
  });
}

template <class Result>
void inBackground(QObject* receiver, std::function<Result()> work, std::function<void(Result)> done) {
  inBackground<Result>(*QThreadPool::globalInstance(), receiver, std::move(work), std::move(done));
}

}  // namespace lorikeet::ui

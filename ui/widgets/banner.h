// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QString>

#include "ui/widgets/label.h"

class QHBoxLayout;
class QPushButton;

namespace lorikeet {
class Error;
}

namespace lorikeet::ui {

/// What went wrong, as a person reads it: what happened, where, what next.
struct Problem {
  QString what, where, hint;
  bool isEmpty() const { return what.isEmpty(); }
};
Problem problemOf(const Error& error);
/// For anything that was thrown while `error` is being handled.
Problem currentProblem();

enum class BannerKind { info, success, warning, danger, coach };

/// A sentence in place, with one line of detail and buttons at the right. Hidden until something is shown.
class Banner : public QFrame {
  Q_OBJECT
 public:
  explicit Banner(QWidget* parent = nullptr);

  void show(BannerKind kind, const QString& sentence, const QString& detail = {});
  void showProblem(const Problem& problem);
  void clear();
  /// Buttons at the right, owned by the banner; the earlier ones go.
  void setButtons(const QList<QPushButton*>& buttons);
  QString sentence() const { return m_sentence->text(); }
  QString detail() const { return m_detail->text(); }
  BannerKind kind() const { return m_kind; }

 private:
  BannerKind m_kind = BannerKind::info;
  IconLabel* m_icon;
  Label* m_sentence;
  Label* m_detail;
  QHBoxLayout* m_buttons;
};

}  // namespace lorikeet::ui

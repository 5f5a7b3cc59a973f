// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFocusFrame>

namespace lorikeet::ui {

/// The ring around the button that has the keyboard: shown only after Tab, Backtab or a shortcut. Fields show
/// their focus by their own edge, tables by their delegate.
class FocusRing : public QFocusFrame {
  Q_OBJECT
 public:
  explicit FocusRing(QWidget* window);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QWidget* m_window;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/page.h"

class QListWidget;
class QTextBrowser;

namespace lorikeet::ui {

/// Short help: first steps, keyboard, every setting (from the settings table), what to do when something goes
/// wrong.
class HelpPage : public Page {
  Q_OBJECT
 public:
  explicit HelpPage(QWidget* parent = nullptr);
  QWidget* firstFocus() const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show(int topic);
  QListWidget* m_topics = nullptr;
  QTextBrowser* m_text;
};

}  // namespace lorikeet::ui

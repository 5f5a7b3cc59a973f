// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QLineEdit;
class QSortFilterProxyModel;
class QStackedWidget;

namespace lorikeet::ui {

class LiveRun;
class RunsModel;
class Table;

/// The list of runs, and one of them opened.
class RunsPage : public Page {
  Q_OBJECT
 public:
  explicit RunsPage(const StudioContext& context, QWidget* parent = nullptr);

  void openRun(const QString& runPath);
  void showList();
  LiveRun* liveRun() const { return m_live; }
  Table* table() const { return m_table; }
  void shown() override;
  QPushButton* primaryButton() const override;
  QWidget* searchField() const override;
  QWidget* firstFocus() const override;
  bool stepBack() override;

 signals:
  void newRunRequested();
  void sampleRequested();
  void chatRequested(const QString& runPath);
  void exportRequested(const QString& runPath);

 protected:
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* makeList();
  QWidget* makeEmpty();
  void update();
  void showMenu(const QPoint& at);
  StudioContext m_context;
  QStackedWidget* m_stack;
  QStackedWidget* m_listStack;
  QWidget* m_list;
  PageHead* m_head;
  QLineEdit* m_search;
  QPushButton* m_new;
  RunsModel* m_model;
  QSortFilterProxyModel* m_sorted;
  Table* m_table;
  LiveRun* m_live;
};

}  // namespace lorikeet::ui

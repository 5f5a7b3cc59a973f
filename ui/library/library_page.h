// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QLineEdit;
class QListWidget;
class QSortFilterProxyModel;
class QStackedWidget;
class QToolButton;

namespace lorikeet::ui {

class AdaptersModel;
class Banner;
class Card;
class Table;

/// The adapters that were trained: groups at the left, versions in the middle, the chosen one at the right.
class LibraryPage : public Page {
  Q_OBJECT
 public:
  explicit LibraryPage(const StudioContext& context, QWidget* parent = nullptr);

  void shown() override;
  QPushButton* primaryButton() const override;
  QWidget* searchField() const override;
  QWidget* firstFocus() const override;
  void select(const QString& adapterId);
  Table* table() const { return m_table; }
  void renameChosen();
  void deleteChosen();

 signals:
  void chatRequested(const QString& adapterId);
  void exportRequested(const QString& adapterId);
  void goOnRequested(const QString& adapterId);
  void sampleRequested();
  void newRunRequested();
  void runRequested(const QString& runPath);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeMiddle();
  QWidget* makeDetails();
  QWidget* makeEmpty();
  void fillGroups();
  void chooseGroup();
  void showDetails();
  void showMenu(const QPoint& at);
  QStringList chosenIds() const;
  StudioContext m_context;
  PageHead* m_head;
  QLineEdit* m_search;
  QStackedWidget* m_stack;
  QListWidget* m_groups;
  Banner* m_banner;
  AdaptersModel* m_model;
  QSortFilterProxyModel* m_sorted;
  Table* m_table;
  Card* m_details;
  Label* m_name;
  Label* m_path;
  QPushButton* m_chat;
  QPushButton* m_export;
  QPushButton* m_goOn;
  QPushButton* m_restore;
  std::vector<Label*> m_facts;
  QString m_wanted;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/wizard/step_page.h"

class QLineEdit;
class QSortFilterProxyModel;

namespace lorikeet::ui {

class Banner;
class Card;
class ComboBox;
class ModelsModel;
class Table;
struct Problem;

/// Step 1: the model that learns, or the adapter that is gone on with.
class BasePage : public StepPage {
  Q_OBJECT
 public:
  explicit BasePage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  QString obstacle() const override;
  QWidget* firstFocus() const override;
  /// Opens a folder or file a person chose, dropped or typed.
  void open(const QString& path);
  void setGoal(int goal);
  Table* table() const { return m_table; }
  Banner* banner() const { return m_banner; }
  QLineEdit* searchField() const { return m_search; }

 signals:
  void chatWanted(const QString& modelPath);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QWidget* makeGoalRow();
  QWidget* makeSearchRow();
  Card* makeDetails();
  void browse(bool folder);
  void showGoal();
  void fillAdapters();
  void showBase();
  void selectChosen();
  void showProblem(const Problem& problem);

  Segments* m_goal;
  Label* m_goalSentence;
  ComboBox* m_adapters;
  QWidget* m_adapterRow;
  QLineEdit* m_search;
  Banner* m_banner;
  ModelsModel* m_models;
  QSortFilterProxyModel* m_sorted;
  Table* m_table;
  Card* m_details;
  Label* m_name;
  Label* m_path;
  std::vector<Label*> m_facts;
  bool m_selecting = false;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/wizard/row_preview.h"
#include "ui/wizard/step_page.h"

class QLineEdit;
class QStackedWidget;

namespace lorikeet::ui {

class Banner;
class ChatRowView;
class Chip;
class ComboBox;
class Histogram;
class ReportCard;
class RowPicker;
class RowsModel;
class Table;
class Tabs;
class ThinBar;
class TokenRowView;

/// Step 2: the rows, as a table, as conversations and as tokens, with the report of what was used and what
/// was not.
class DataPage : public StepPage {
  Q_OBJECT
 public:
  explicit DataPage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  QString obstacle() const override;
  StepMark mark() const override;
  QWidget* firstFocus() const override;
  void open(const QString& path);
  Banner* banner() const { return m_banner; }
  ReportCard* report() const { return m_report; }
  Table* table() const { return m_table; }
  TokenRowView* tokenRow() const { return m_tokens; }
  QLineEdit* pathField() const { return m_path; }
  QLineEdit* columnsField() const { return m_columns; }
  void setTab(int tab);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeEmpty();
  QWidget* makeFileRow();
  QWidget* makeContent();
  QWidget* makeRowBar();
  void browse();
  void showData();
  void showLoading();
  void fillTemplates();
  void fillSplit();
  void chooseSplit(int index);
  void showRow(int row);
  enum Tab { tabTable, tabChat, tabTokens, tabLengths };

  QStackedWidget* m_stack;
  QLineEdit* m_path;
  QLineEdit* m_columns;  ///< asked for where the rows have unknown columns
  Banner* m_banner;
  QWidget* m_loading;
  Label* m_loadingText;
  Label* m_fileName;
  Chip* m_format;
  Label* m_size;
  ComboBox* m_split;
  Tabs* m_tabs;
  QStackedWidget* m_views;
  QWidget* m_rowBar;
  RowPicker* m_picker;
  QWidget* m_templateRow;
  ComboBox* m_template;
  RowsModel* m_rows;
  Table* m_table;
  ChatRowView* m_chat;
  TokenRowView* m_tokens;
  Histogram* m_lengths;
  ReportCard* m_report;
  int m_row = 0;
  int m_previewRequest = 0;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHeaderView>
#include <QStyledItemDelegate>
#include <QTableView>

namespace lorikeet::ui {

/// Roles of the studio's models beside Qt's.
enum TableRole {
  IconNameRole = Qt::UserRole + 1,  ///< QString: glyph before the text
  InkRole,                          ///< QString: name of a palette token for glyph and text
  SortRole,                         ///< what a column is sorted by
  PathRole,                         ///< QString: file or folder of the row
  IdRole,                           ///< QString: what the row is
};

/// Draws rows as the studio does: state as glyph and word in its colour, elided text with a tooltip, a 2 px
/// ring around the current cell after the keyboard was used.
class RowDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit RowDelegate(int rowHeight = 32, bool wholeRow = true, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  int m_rowHeight;
  bool m_wholeRow;
};

/// Column heads: caption-coloured, aligned as their column, with a chevron at the sorted one.
class TableHead : public QHeaderView {
  Q_OBJECT
 public:
  explicit TableHead(QWidget* parent = nullptr);

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;
  QSize sectionSizeFromContents(int section) const override;
};

/// A QTableView set up for the studio: no grid, whole rows, sortable heads, Ctrl+C copies the selection as
/// TSV. Return and a double click activate a row.
class Table : public QTableView {
  Q_OBJECT
 public:
  explicit Table(QWidget* parent = nullptr);
  /// Without edge and ground, for inside a card.
  void setFlat();
  void setRowHeight(int height);
  /// Shows all rows (at most `most`) without scrolling.
  void setFitRows(int most);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void rowActivated(const QModelIndex& index);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void copySelection() const;
  int m_fitRows = 0;
};

/// Colour of a token by its name in the style sheet.
QColor tokenColour(const QString& name);

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/table.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "ui/widgets/controls.h"
#include "ui/widgets/icons.h"

namespace lorikeet::ui {

QColor tokenColour(const QString& name) {
  for (const NamedToken& named : namedTokens()) {
    if (name == QLatin1String(named.name)) return tokens().*named.token;
  }
  return tokens().text;
}

RowDelegate::RowDelegate(int rowHeight, bool wholeRow, QObject* parent)
    : QStyledItemDelegate(parent), m_rowHeight(rowHeight), m_wholeRow(wholeRow) {}

QSize RowDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  QSize size = QStyledItemDelegate::sizeHint(option, index);
  const QString glyph = index.data(IconNameRole).toString();
  size.setWidth(option.fontMetrics.horizontalAdvance(index.data().toString()) + (glyph.isEmpty() ? 18 : 40));
  size.setHeight(std::max(m_rowHeight, option.fontMetrics.height() + 10));
  return size;
}

void RowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
  const Palette& p = tokens();
  painter->save();
  const bool selected = option.state & QStyle::State_Selected;
  painter->fillRect(option.rect, selected                                 ? p.accentTint
                                 : option.state & QStyle::State_MouseOver ? p.hover
                                                                          : QColor(0, 0, 0, 0));
  painter->fillRect(QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), p.grid);

  const QString ink = index.data(InkRole).toString(), glyph = index.data(IconNameRole).toString();
  const QColor colour = !(option.state & QStyle::State_Enabled) ? p.disabled
                        : ink.isEmpty()                         ? p.text
                                                                : tokenColour(ink);
  QRect area = option.rect.adjusted(8, 0, -8, -1);
  const QVariant align = index.data(Qt::TextAlignmentRole);
  const auto alignment = align.isValid() ? Qt::Alignment(align.toInt()) : Qt::AlignLeft | Qt::AlignVCenter;
  if (!glyph.isEmpty()) {
    drawIcon(*painter, glyph, colour, QPointF(area.left(), area.top() + (area.height() - 16) / 2), 16);
    area.setLeft(area.left() + 22);
  }
  const QVariant font = index.data(Qt::FontRole);
  painter->setFont(font.isValid() ? font.value<QFont>() : option.font);
  painter->setPen(colour);
  const QString text = index.data().toString().simplified();
  painter->drawText(area, static_cast<int>(alignment | Qt::AlignVCenter) | Qt::TextSingleLine,
                    QFontMetrics(painter->font()).elidedText(text, Qt::ElideRight, area.width()));

  const auto* view = qobject_cast<const QAbstractItemView*>(option.widget);
  if (view && view->hasFocus() && view->currentIndex().row() == index.row()) {
    const bool cell = !m_wholeRow && view->currentIndex() == index;
    painter->setPen(QPen(p.focus, 2));
    const QRect ring = option.rect.adjusted(1, 1, -1, -1);
    if (cell) {
      painter->drawRect(ring);
    } else if (m_wholeRow) {
      painter->drawLine(option.rect.left(), ring.top(), option.rect.right(), ring.top());
      painter->drawLine(option.rect.left(), ring.bottom(), option.rect.right(), ring.bottom());
    }
  }
  painter->restore();
}

TableHead::TableHead(QWidget* parent) : QHeaderView(Qt::Horizontal, parent) {
  setHighlightSections(false);
  setFixedHeight(std::max(32, fontMetrics().height() + 14));
  setMinimumSectionSize(40);
  setSectionsClickable(true);
}

void TableHead::paintSection(QPainter* painter, const QRect& rect, int section) const {
  painter->save();
  painter->fillRect(rect, tokens().surface);
  painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), tokens().border);
  const QVariant align = model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole);
  const bool right = align.isValid() && (align.toInt() & Qt::AlignRight);
  QRect area = rect.adjusted(8, 0, -8, -1);
  const QString text = model()->headerData(section, Qt::Horizontal, Qt::DisplayRole).toString();
  painter->setFont(font());
  painter->setPen(tokens().text3);
  if (isSortIndicatorShown() && sortIndicatorSection() == section) {
    const QString glyph = sortIndicatorOrder() == Qt::AscendingOrder ? QStringLiteral("chevron-up")
                                                                     : QStringLiteral("chevron-down");
    const int width = std::min(fontMetrics().horizontalAdvance(text), area.width() - 16);
    const int x = right ? area.right() - width - 16 : area.left() + width + 4;
    drawIcon(*painter, glyph, tokens().text3, QPointF(x, area.top() + (area.height() - 12) / 2), 12);
  }
  painter->drawText(area, (right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter | Qt::TextSingleLine,
                    fontMetrics().elidedText(text, Qt::ElideRight, area.width()));
  painter->restore();
}

QSize TableHead::sectionSizeFromContents(int section) const {
  const QString text = model()->headerData(section, Qt::Horizontal, Qt::DisplayRole).toString();
  return {fontMetrics().horizontalAdvance(text) + 34, height()};
}

Table::Table(QWidget* parent) : QTableView(parent) {
  setHorizontalHeader(new TableHead(this));
  setShowGrid(false);
  setItemDelegate(new RowDelegate(32, true, this));
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setEditTriggers(NoEditTriggers);
  setHorizontalScrollMode(ScrollPerPixel);
  setVerticalScrollMode(ScrollPerPixel);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setMouseTracking(true);
  setCornerButtonEnabled(false);
  verticalHeader()->hide();
  setRowHeight(32);
  setContextMenuPolicy(Qt::CustomContextMenu);
  connect(this, &QTableView::doubleClicked, this, &Table::rowActivated);
}

void Table::setFlat() {
  setLook(this, "kind", QStringLiteral("flat"));
}

void Table::setRowHeight(int height) {
  const int least = std::max(height, fontMetrics().height() + 10);
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setMinimumSectionSize(least);
  verticalHeader()->setDefaultSectionSize(least);
}

void Table::setFitRows(int most) {
  m_fitRows = most;
  setVerticalScrollBarPolicy(most > 0 ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
  setSizePolicy(QSizePolicy::Expanding, most > 0 ? QSizePolicy::Fixed : QSizePolicy::Expanding);
  updateGeometry();
}

QSize Table::sizeHint() const {
  if (m_fitRows <= 0) return QTableView::sizeHint();
  const int rows = model() ? std::min(model()->rowCount(), m_fitRows) : 0;
  return {300, horizontalHeader()->height() + rows * verticalHeader()->defaultSectionSize() +
                   2 * frameWidth() + 2};
}

QSize Table::minimumSizeHint() const {
  return m_fitRows > 0 ? QSize(200, sizeHint().height()) : QSize(200, 96);
}

void Table::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copySelection();
  } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) &&
             event->modifiers() == Qt::NoModifier && currentIndex().isValid()) {
    emit rowActivated(currentIndex());
  } else {
    QTableView::keyPressEvent(event);
  }
}

void Table::copySelection() const {
  QStringList lines;
  QModelIndexList rows = selectionModel() ? selectionModel()->selectedRows() : QModelIndexList();
  std::sort(rows.begin(), rows.end(),
            [](const QModelIndex& a, const QModelIndex& b) { return a.row() < b.row(); });
  for (const QModelIndex& row : rows) {
    QStringList cells;
    for (int column = 0; column < model()->columnCount(); ++column) {
      if (!isColumnHidden(column)) cells << row.siblingAtColumn(column).data().toString().simplified();
    }
    lines << cells.join(QLatin1Char('\t'));
  }
  if (!lines.isEmpty()) QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace lorikeet::ui

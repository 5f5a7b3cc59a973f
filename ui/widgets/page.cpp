// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/page.h"

#include <QDialog>
#include <QFile>
#include <QHBoxLayout>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/widgets/background.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

namespace lorikeet::ui {
namespace {

/// The three feathers of an empty state.
class Feathers : public QWidget {
 public:
  Feathers() { setFixedSize(160, 104); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::SmoothPixmapTransform);
    const auto feather = [&](QPointF centre, double angle, int size, const QColor& colour) {
      painter.save();
      painter.translate(centre);
      painter.rotate(angle);
      drawIcon(painter, QStringLiteral("train"), colour, QPointF(-size / 2.0, -size / 2.0), size);
      painter.restore();
    };
    feather({52, 56}, -38, 52, tokens().borderStrong);
    feather({114, 54}, 62, 48, tokens().borderStrong);
    feather({82, 46}, 8, 68, tokens().accent);
  }
};

QHBoxLayout* buttonRow(QDialog* dialog, QPushButton* action) {
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  QPushButton* cancel = makeButton(QDialog::tr("Cancel"));
  QObject::connect(cancel, &QPushButton::clicked, dialog, &QDialog::reject);
  row->addStretch();
  row->addWidget(cancel);
  if (!action) return row;
  QObject::connect(action, &QPushButton::clicked, dialog, &QDialog::accept);
  row->addWidget(action);
  return row;
}

/// The last part of a log; a log of many megabytes is not loaded whole.
QString readTail(const QString& path) {
  constexpr qint64 kMost = 512 * 1024;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  if (file.size() > kMost) file.seek(file.size() - kMost);
  return QString::fromUtf8(file.readAll());
}

}  // namespace

PageHead::PageHead(const QString& title, const QString& caption, QWidget* parent) : QWidget(parent) {
  setMinimumHeight(72);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 12, 0, 12);
  row->setSpacing(8);
  m_title = new Label(title, Role::title);
  m_title->setElided(true);
  m_caption = new Label(caption, Role::caption, &Palette::text2);
  m_caption->setElided(true);
  m_chip = new Chip;
  m_chip->hide();
  auto* titleRow = new QHBoxLayout;
  titleRow->setSpacing(12);
  m_title->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
  titleRow->addWidget(m_title);
  titleRow->addWidget(m_chip);
  titleRow->addStretch();
  auto* texts = new QVBoxLayout;
  texts->setSpacing(2);
  texts->addStretch();
  texts->addLayout(titleRow);
  texts->addWidget(m_caption);
  texts->addStretch();
  m_caption->setVisible(!caption.isEmpty());
  m_actions = new QHBoxLayout;
  m_actions->setSpacing(8);
  row->addLayout(texts, 1);
  row->addLayout(m_actions);
}

void PageHead::setTitle(const QString& title) {
  m_title->setText(title);
  m_title->setToolTip({});
}

void PageHead::setCaption(const QString& caption) {
  m_caption->setText(caption);
  m_caption->setToolTip({});
  m_caption->setVisible(!caption.isEmpty());
}

void PageHead::setChip(const QString& text, Tone tone, const QString& iconName) {
  m_chip->setState(text, tone, iconName);
  m_chip->setVisible(!text.isEmpty());
}

void PageHead::addAction(QWidget* button) {
  m_actions->addWidget(button, 0, Qt::AlignVCenter);
}

EmptyState::EmptyState(const QString& title, const QString& text, QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setSpacing(8);
  column->addStretch();
  column->addWidget(new Feathers, 0, Qt::AlignHCenter);
  auto* heading = new Label(title, Role::title);
  heading->setAlignment(Qt::AlignHCenter);
  column->addWidget(heading);
  Label* lines = wrapped(text);
  lines->setAlignment(Qt::AlignHCenter);
  lines->setMinimumWidth(200);
  column->addWidget(lines);
  m_buttons = new QHBoxLayout;
  m_buttons->setSpacing(8);
  m_buttons->addStretch();
  m_buttons->addStretch();
  column->addSpacing(8);
  column->addLayout(m_buttons);
  m_cost = new Label({}, Role::caption, &Palette::text3);
  m_cost->setAlignment(Qt::AlignHCenter);
  m_cost->hide();
  column->addWidget(m_cost);
  column->addStretch();
}

void EmptyState::addButton(QPushButton* button) {
  m_buttons->insertWidget(m_buttons->count() - 1, button);
}

void EmptyState::setCost(const QString& caption) {
  m_cost->setText(caption);
  m_cost->show();
}

bool ask(QWidget* parent, const QString& iconName, const QString& question, const QString& detail,
         const QString& action, bool danger) {
  QDialog dialog(parent);
  dialog.setWindowTitle(action);
  auto* column = new QVBoxLayout(&dialog);
  column->setContentsMargins(24, 24, 24, 24);
  column->setSpacing(16);
  auto* row = new QHBoxLayout;
  row->setSpacing(16);
  row->addWidget(new IconLabel(iconName, 24, danger ? &Palette::danger : &Palette::text2), 0, Qt::AlignTop);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(4);
  texts->addWidget(wrapped(question, Role::heading, &Palette::text));
  if (!detail.isEmpty()) texts->addWidget(wrapped(detail));
  row->addLayout(texts, 1);
  column->addLayout(row);
  QPushButton* confirm = makeButton(action, danger ? ButtonKind::danger : ButtonKind::primary);
  confirm->setDefault(!danger);
  column->addLayout(buttonRow(&dialog, confirm));
  dialog.setMinimumWidth(440);
  confirm->setFocus();
  return dialog.exec() == QDialog::Accepted;
}

void showLog(QWidget* parent, const QString& title, const QString& path) {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->resize(820, 520);
  auto* column = new QVBoxLayout(dialog);
  column->setContentsMargins(24, 24, 24, 24);
  column->setSpacing(12);
  column->addWidget(new Label(title, Role::heading));
  auto* where = new Label(shortPath(path), Role::mono, &Palette::text2);
  where->setElided(true, Qt::ElideMiddle);
  column->addWidget(where);
  auto* text = new QPlainTextEdit;
  text->setProperty("kind", QStringLiteral("code"));
  text->setFont(roleFont(Role::mono));
  text->setObjectName(QStringLiteral("log"));
  text->setReadOnly(true);
  text->setLineWrapMode(QPlainTextEdit::NoWrap);
  text->setAccessibleName(title);
  column->addWidget(text, 1);
  auto* row = new QHBoxLayout;
  QPushButton* close = makeButton(QDialog::tr("Close"));
  QObject::connect(close, &QPushButton::clicked, dialog, &QDialog::accept);
  row->addStretch();
  row->addWidget(close);
  column->addLayout(row);
  inBackground<QString>(
      text, [path] { return readTail(path); },
      [text](const QString& tail) {
        text->setPlainText(tail.isEmpty() ? QDialog::tr("The log is empty.") : tail);
        text->verticalScrollBar()->setValue(text->verticalScrollBar()->maximum());
      });
  dialog->open();
  close->setFocus();
}

}  // namespace lorikeet::ui

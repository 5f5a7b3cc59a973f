// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/row_views.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QPainter>
#include <QRandomGenerator>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"

namespace lorikeet::ui {
namespace {

/// A swatch of the legend, drawn as the token view draws tokens.
class Swatch : public QWidget {
 public:
  enum class Kind { trained, context, special, cut };
  explicit Swatch(Kind kind) : m_kind(kind) { setFixedSize(28, 18); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = tokens();
    const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    switch (m_kind) {
      case Kind::trained:
        painter.setPen(Qt::NoPen);
        painter.setBrush(p.trainedBg);
        painter.drawRoundedRect(box, 3, 3);
        painter.fillRect(QRectF(box.left() + 1, box.bottom() - 1.5, box.width() - 2, 2), p.beak);
        return;
      case Kind::context:
        painter.setPen(p.border);
        painter.setBrush(p.surface);
        painter.drawRoundedRect(box, 3, 3);
        return;
      case Kind::special:
        painter.setPen(p.borderStrong);
        painter.setBrush(p.sunken);
        painter.drawRoundedRect(box, 9, 9);
        return;
      case Kind::cut:
        painter.fillRect(rect(), QBrush(p.borderStrong, Qt::BDiagPattern));
        return;
    }
  }

 private:
  Kind m_kind;
};

}  // namespace

RowPicker::RowPicker(QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  m_back = makeIconButton(QStringLiteral("chevron-left"), tr("Row before"));
  m_forward = makeIconButton(QStringLiteral("chevron-right"), tr("Next row"));
  m_number = new QSpinBox;
  m_number->setGroupSeparatorShown(true);
  m_number->setButtonSymbols(QAbstractSpinBox::NoButtons);
  m_number->setKeyboardTracking(false);
  m_number->setFixedWidth(72);
  m_number->setAccessibleName(tr("Row"));
  m_of = new Label({}, Role::body, &Palette::text2);
  QPushButton* random = makeButton(tr("Random row"), ButtonKind::quiet);
  row->addWidget(m_back);
  row->addWidget(new Label(tr("Row"), Role::body, &Palette::text2));
  row->addWidget(m_number);
  row->addWidget(m_of);
  row->addWidget(m_forward);
  row->addWidget(random);
  connect(m_number, &QSpinBox::valueChanged, this, [this](int value) { emit rowChosen(value - 1); });
  connect(m_back, &QToolButton::clicked, this, [this] { m_number->setValue(m_number->value() - 1); });
  connect(m_forward, &QToolButton::clicked, this, [this] { m_number->setValue(m_number->value() + 1); });
  connect(random, &QPushButton::clicked, this, [this] {
    m_number->setValue(1 + QRandomGenerator::global()->bounded(std::max(1, m_number->maximum())));
  });
  setCount(0);
}

void RowPicker::setCount(int count) {
  const QSignalBlocker quiet(m_number);
  m_number->setRange(count > 0 ? 1 : 0, count);
  m_of->setText(tr("of %1").arg(countText(count)));
}

void RowPicker::setRow(int row) {
  const QSignalBlocker quiet(m_number);
  m_number->setValue(row + 1);
}

int RowPicker::row() const {
  return m_number->value() - 1;
}

ChatRowView::ChatRowView(QWidget* parent) : QWidget(parent) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  QFrame* card = makeFrame("card");
  auto* inCard = new QVBoxLayout(card);
  inCard->setContentsMargins(1, 1, 1, 1);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  auto* inside = new QWidget;
  m_column = new QVBoxLayout(inside);
  m_column->setContentsMargins(0, 0, 0, 0);
  m_column->setSpacing(0);
  scroll->setWidget(inside);
  inside->setAutoFillBackground(false);
  scroll->viewport()->setAutoFillBackground(false);
  inCard->addWidget(scroll);
  outer->addWidget(card);
}

void ChatRowView::show(const RowPreview& preview) {
  discard(m_inside);
  m_inside = new QWidget;
  auto* column = new QVBoxLayout(m_inside);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  if (!preview.problem.isEmpty()) column->addWidget(wrapped(preview.problem, Role::body, &Palette::danger));
  for (const RowPreview::Turn& turn : preview.turns) {
    auto* row = new QHBoxLayout;
    row->setContentsMargins(13, 8, 12, 8);
    row->setSpacing(10);
    row->addWidget(new IconLabel(turn.icon, 16), 0, Qt::AlignTop);
    auto* role = new Label(turn.role, Role::strong);
    role->setMinimumWidth(78);
    Label* text = wrapped(turn.text.left(8000), Role::body, &Palette::text);
    text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(role, 0, Qt::AlignTop);
    row->addWidget(text, 1);
    row->addWidget(turn.trained ? new Chip(tr("Trained"), Tone::warning, QStringLiteral("check"))
                                : new Chip(tr("Context")),
                   0, Qt::AlignTop);
    column->addLayout(row);
    column->addWidget(horizontalLine());
  }
  column->addStretch();
  m_column->addWidget(m_inside);
}

TokenRowView::TokenRowView(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  m_view = new TokenView;
  column->addWidget(m_view, 1);
  auto* legend = new QHBoxLayout;
  legend->setSpacing(8);
  const auto add = [&](Swatch::Kind kind, const QString& text) {
    auto* label = new Label(text, Role::caption, &Palette::text2);
    legend->addWidget(new Swatch(kind));
    legend->addWidget(label);
    legend->addSpacing(8);
    return label;
  };
  m_trained = add(Swatch::Kind::trained, tr("Trained"));
  m_context = add(Swatch::Kind::context, tr("Context"));
  add(Swatch::Kind::special, tr("Special"));
  m_cutLegend = add(Swatch::Kind::cut, tr("Cut away"));
  m_current = new Label({}, Role::caption, &Palette::text2);
  m_current->setElided(true);
  m_current->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  legend->addWidget(m_current, 1);
  auto* ids = new QCheckBox(tr("Show ids"));
  legend->addWidget(ids);
  column->addLayout(legend);
  m_chips = new QWidget;
  auto* chips = new QHBoxLayout(m_chips);
  chips->setContentsMargins(0, 0, 0, 0);
  chips->setSpacing(8);
  m_count = new Label({}, Role::caption, &Palette::text2);
  m_begin = new Chip;
  m_end = new Chip;
  chips->addWidget(m_count);
  chips->addWidget(m_begin);
  chips->addWidget(m_end);
  connect(ids, &QCheckBox::toggled, m_view, &TokenView::setIdsShown);
  connect(m_view, &TokenView::currentChanged, this, [this](int index) {
    m_current->setText(m_view->describe(index));
    m_current->setToolTip({});
  });
}

void TokenRowView::show(const RowPreview& preview) {
  m_view->setTokens(preview.tokens, preview.cutText);
  m_current->setText({});
  m_count->setText(tr("%n token(s)", nullptr, preview.trained + preview.context + preview.cut));
  m_begin->setState(preview.begins ? tr("Begin token") : tr("No begin token"), Tone::neutral);
  m_end->setState(preview.endTrained ? tr("End token trained") : tr("No end token trained"),
                  preview.endTrained ? Tone::success : Tone::warning,
                  preview.endTrained ? QStringLiteral("check") : QStringLiteral("warning"));
  m_trained->setText(tr("Trained, %1").arg(countText(preview.trained)));
  m_context->setText(tr("Context, %1").arg(countText(preview.context)));
}

}  // namespace lorikeet::ui

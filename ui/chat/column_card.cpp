// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chat/column_card.h"

#include <QCheckBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

/// -1 to 2 in steps of 0.05; a double click gives 1 back.
class StrengthSlider : public QSlider {
 public:
  StrengthSlider() : QSlider(Qt::Horizontal) {
    setRange(-20, 40);
    setValue(20);
    setPageStep(5);
  }

 protected:
  void mouseDoubleClickEvent(QMouseEvent*) override { setValue(20); }
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

}  // namespace

ColumnCard::ColumnCard(Kind kind, QWidget* parent) : QFrame(parent), m_kind(kind) {
  setProperty("kind", QStringLiteral("card"));
  const bool adapter = kind == Kind::adapter;
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 8, 12, 8);
  column->setSpacing(6);
  auto* top = new QHBoxLayout;
  top->setSpacing(10);
  top->addWidget(new IconLabel(adapter ? QStringLiteral("adapter") : QStringLiteral("base"), 20,
                               adapter ? &Palette::accentText : &Palette::text2));
  m_box = new ComboBox;
  m_box->setAccessibleName(adapter ? tr("Adapter that answers") : tr("Base model"));
  m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_box->setMinimumContentsLength(12);
  top->addWidget(m_box, 1);
  auto* bottom = new QHBoxLayout;
  bottom->setSpacing(8);
  m_on = new QCheckBox(adapter ? tr("Strength") : tr("Answers"));
  m_on->setChecked(true);
  m_note = new Label({}, Role::caption, &Palette::text2);
  m_note->setElided(true);
  bottom->addWidget(m_on);
  if (adapter) {
    m_slider = new StrengthSlider;
    m_slider->setAccessibleName(tr("Strength of the adapter"));
    m_strength = new Label(numberText(1, 2), Role::strong);
    m_strength->setMinimumWidth(40);
    m_strength->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    bottom->addWidget(m_slider, 1);
    bottom->addWidget(m_strength);
    connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
      m_strength->setText(numberText(value / 20.0, 2));
      emit changed();
    });
    m_note->hide();
  } else {
    bottom->addWidget(m_note, 1);
  }
  column->addLayout(top);
  column->addLayout(bottom);
  connect(m_on, &QCheckBox::toggled, this, &ColumnCard::changed);
  connect(m_box, &QComboBox::activated, this, [this](int index) {
    emit choiceMade(m_box->itemData(index).toString());
    emit changed();
  });
}

void ColumnCard::setChoices(const QList<Choice>& choices, const QString& emptyName) {
  const QSignalBlocker quiet(m_box);
  const QString before = chosen();
  m_box->clear();
  if (!emptyName.isEmpty()) m_box->addItem(emptyName, QString());
  for (const Choice& choice : choices) m_box->addItem(choice.name, choice.data);
  m_box->setCurrentIndex(std::max(0, m_box->findData(before)));
  m_box->setEnabled(m_box->count() > 0);
  emit changed();
}

QString ColumnCard::chosen() const {
  return m_box->currentData().toString();
}
QString ColumnCard::chosenName() const {
  return m_box->currentText();
}

void ColumnCard::choose(const QString& key) {
  const QSignalBlocker quiet(m_box);
  const int index = m_box->findData(key);
  if (index >= 0) m_box->setCurrentIndex(index);
  emit changed();
}

bool ColumnCard::isOn() const {
  return m_on->isChecked() && !chosen().isEmpty();
}
double ColumnCard::strength() const {
  return m_slider ? m_slider->value() / 20.0 : 0;
}

void ColumnCard::setNote(const QString& note) {
  m_note->setText(note);
  m_note->setToolTip({});
}

}  // namespace lorikeet::ui

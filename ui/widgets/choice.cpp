// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/choice.h"

#include <QFontMetrics>
#include <QHBoxLayout>
#include <QPainter>
#include <QPainterPath>

#include "ui/widgets/controls.h"
#include "ui/widgets/fonts.h"
#include "ui/widgets/format.h"
#include "ui/widgets/icons.h"

namespace lorikeet::ui {
namespace {

/// One field of Segments; the first and last have the round corners.
class Segment : public QAbstractButton {
 public:
  Segment(const QString& word, bool first, bool last) : m_first(first), m_last(last) {
    setText(word);
    setCheckable(true);
    setAccessibleName(word);
    setFocusPolicy(Qt::StrongFocus);
  }
  QSize sizeHint() const override {
    const QFontMetrics metrics(roleFont(Role::strong));
    return {metrics.horizontalAdvance(text()) + 24, std::max(32, metrics.height() + 12)};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Palette& p = tokens();
    QRectF box = QRectF(rect()).adjusted(0.5, 0.5, m_last ? -0.5 : 0.5, -0.5);
    QPainterPath path;
    path.addRoundedRect(box.adjusted(m_first ? 0 : -8, 0, m_last ? 0 : 8, 0), 6, 6);
    painter.setClipRect(rect());
    const QColor edge = !isEnabled() ? p.border : isChecked() ? p.accent : p.borderStrong;
    painter.setPen(edge);
    painter.setBrush(isChecked() ? p.accentTint : underMouse() && isEnabled() ? p.hover : p.surface);
    painter.drawPath(path);
    if (!m_first) painter.drawLine(QPointF(0.5, 0.5), QPointF(0.5, height() - 0.5));
    painter.setFont(roleFont(isChecked() ? Role::strong : Role::body));
    painter.setPen(!isEnabled() ? p.disabled : isChecked() ? p.accentText : p.text2);
    painter.drawText(rect(), Qt::AlignCenter, text());
  }

 private:
  bool m_first, m_last;
};

}  // namespace

Segments::Segments(const QStringList& words, QWidget* parent)
    : QWidget(parent), m_group(new QButtonGroup(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  m_group->setExclusive(true);
  for (int i = 0; i < words.size(); ++i) {
    auto* segment = new Segment(words[i], i == 0, i + 1 == words.size());
    m_group->addButton(segment, i);
    row->addWidget(segment);
  }
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  if (!words.isEmpty()) m_group->button(0)->setChecked(true);
  connect(m_group, &QButtonGroup::idClicked, this, &Segments::chosen);
}

void Segments::setCurrent(int index) {
  if (QAbstractButton* button = m_group->button(index)) button->setChecked(true);
}

void Segments::setChoiceEnabled(int index, bool enabled, const QString& reason) {
  if (QAbstractButton* button = m_group->button(index)) {
    button->setEnabled(enabled);
    button->setToolTip(reason);
  }
}

/// Circle with number or mark, name, and a line to the next one.
class Stepper::Step : public QAbstractButton {
 public:
  Step(const QString& name, int number, bool last) : m_number(number), m_last(last) {
    setText(name);
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(last ? QSizePolicy::Fixed : QSizePolicy::MinimumExpanding, QSizePolicy::Fixed);
    describe();
  }
  void setLook(bool current, StepMark mark) {
    m_isCurrent = current;
    m_mark = mark;
    describe();
    updateGeometry();
    update();
  }
  StepMark mark() const { return m_mark; }
  bool isCurrent() const { return m_isCurrent; }
  QSize sizeHint() const override {
    const QFontMetrics metrics(roleFont(Role::strong));
    return {32 + metrics.horizontalAdvance(text()) + (m_last ? 4 : 26), 40};
  }
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  void describe() {
    const QString state = m_isCurrent                ? Stepper::tr("current step")
                          : m_mark == StepMark::done ? Stepper::tr("done")
                          : m_mark == StepMark::look ? Stepper::tr("look again")
                                                     : Stepper::tr("open");
    setAccessibleName(QStringLiteral("%1 %2, %3").arg(countText(m_number), text(), state));
  }
  int m_number;
  bool m_last, m_isCurrent = false;
  StepMark m_mark = StepMark::open;
};

void Stepper::Step::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Palette& p = tokens();
  const QRectF circle(1, (height() - 22) / 2.0, 22, 22);
  const bool done = !m_isCurrent && m_mark == StepMark::done, look = !m_isCurrent && m_mark == StepMark::look;
  painter.setPen(m_isCurrent ? QPen(p.accent, 1.5)
                             : QPen(done   ? p.success
                                    : look ? p.warning
                                           : p.borderStrong,
                                    1.5));
  painter.setBrush(m_isCurrent ? p.accent : done ? p.successTint : look ? p.warningTint : p.surface);
  painter.drawEllipse(circle);
  if (done || look) {
    drawIcon(painter, done ? QStringLiteral("check") : QStringLiteral("warning"),
             done ? p.success : p.warning, circle.center() - QPointF(7, look ? 8 : 7), 14);
  } else {
    painter.setFont(roleFont(Role::captionStrong));
    painter.setPen(m_isCurrent ? p.onAccent : p.text3);
    painter.drawText(circle, Qt::AlignCenter, countText(m_number));
  }
  painter.setFont(roleFont(m_isCurrent ? Role::strong : Role::body));
  painter.setPen(m_isCurrent                   ? p.text
                 : underMouse() && isEnabled() ? p.accentText
                 : done || look                ? p.text2
                                               : p.text3);
  painter.drawText(QRect(32, 0, width() - 32, height()), Qt::AlignVCenter | Qt::AlignLeft, text());
  if (m_last) return;
  const int from = 32 + QFontMetrics(painter.font()).horizontalAdvance(text()) + 8;
  painter.setPen(p.border);
  painter.drawLine(from, height() / 2, width() - 8, height() / 2);
}

Stepper::Stepper(const QStringList& names, QWidget* parent) : QFrame(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  for (int i = 0; i < names.size(); ++i) {
    auto* step = new Step(names[i], i + 1, i + 1 == names.size());
    m_steps.push_back(step);
    row->addWidget(step, i + 1 == names.size() ? 0 : 1);
    connect(step, &QAbstractButton::clicked, this, [this, i] { emit stepChosen(i); });
  }
  setMaximumWidth(860);
  setCurrent(0);
}

void Stepper::setCurrent(int index) {
  m_current = index;
  for (int i = 0; i < static_cast<int>(m_steps.size()); ++i) {
    Step* step = m_steps[static_cast<std::size_t>(i)];
    step->setLook(i == index, step->mark());
  }
}

void Stepper::setMark(int index, StepMark mark) {
  Step* step = m_steps.at(static_cast<std::size_t>(index));
  step->setLook(step->isCurrent(), mark);
}

void Stepper::setReachable(int index, bool reachable) {
  m_steps.at(static_cast<std::size_t>(index))->setEnabled(reachable);
}

StepMark Stepper::mark(int index) const {
  return m_steps.at(static_cast<std::size_t>(index))->mark();
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/chat/sampling_panel.h"

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <climits>
#include <cmath>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

enum PresetIndex { precise, balanced, creative, own };

SamplingChoice presetChoice(int index, SamplingChoice choice) {
  const SamplingChoice usual;
  choice.greedy = index == precise;
  if (index == precise) choice.temperature = 0;
  if (index != balanced && index != creative) return choice;
  choice.temperature = index == creative ? 1.0 : usual.temperature;
  choice.topP = usual.topP;
  choice.topK = index == creative ? 100 : usual.topK;
  choice.minP = index == creative ? 0.02 : usual.minP;
  choice.repeatPenalty = usual.repeatPenalty;
  return choice;
}

bool same(const SamplingChoice& a, const SamplingChoice& b) {
  const auto near = [](double x, double y) { return std::fabs(x - y) < 0.005; };
  if (a.greedy || b.greedy) return a.greedy == b.greedy;
  return near(a.temperature, b.temperature) && near(a.topP, b.topP) && a.topK == b.topK &&
         near(a.minP, b.minP) && near(a.repeatPenalty, b.repeatPenalty);
}

QSpinBox* makeSpin(int low, int high, const QString& name) {
  auto* spin = new QSpinBox;
  spin->setRange(low, high);
  spin->setAlignment(Qt::AlignRight);
  spin->setFixedWidth(96);
  spin->setAccessibleName(name);
  return spin;
}

}  // namespace

SamplingPanel::SamplingPanel(QWidget* parent) : QFrame(parent) {
  setProperty("kind", QStringLiteral("side"));
  setFixedWidth(249);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 16, 16);
  column->setSpacing(6);
  auto* top = new QHBoxLayout;
  m_preset = new ComboBox;
  m_preset->addItems({tr("Precise"), tr("Balanced"), tr("Creative"), tr("Own")});
  m_preset->setAccessibleName(tr("Sampling preset"));
  top->addWidget(new Label(tr("Sampling"), Role::heading), 1);
  top->addWidget(m_preset);
  column->addLayout(top);
  m_temperature = addDial(column, tr("Temperature"), 0, 200, 2);
  m_topP = addDial(column, tr("Top-p"), 0, 100, 2);
  m_topK = addDial(column, tr("Top-k"), 0, 200, 0);
  m_minP = addDial(column, tr("Min-p"), 0, 50, 2);
  m_penalty = addDial(column, tr("Repeat penalty"), 100, 150, 2);
  const auto addSpin = [&](const QString& name, QSpinBox* spin) {
    auto* row = new QHBoxLayout;
    row->addWidget(new Label(name, Role::body, &Palette::text2), 1);
    row->addWidget(spin);
    column->addLayout(row);
  };
  m_longest = makeSpin(1, 8192, tr("Longest answer"));
  m_longest->setGroupSeparatorShown(true);
  m_seed = makeSpin(0, INT_MAX, tr("Seed"));
  column->addSpacing(4);
  addSpin(tr("Longest answer"), m_longest);
  addSpin(tr("Seed"), m_seed);
  column->addSpacing(4);
  column->addWidget(horizontalLine());
  column->addSpacing(4);
  column->addWidget(new Label(tr("System text"), Role::strong));
  m_system = new QPlainTextEdit;
  m_system->setPlaceholderText(tr("None; an adapter brings its own"));
  m_system->setAccessibleName(tr("System text"));
  m_system->setTabChangesFocus(true);
  m_system->setMaximumHeight(96);
  column->addWidget(m_system);
  column->addStretch();
  connect(m_preset, &QComboBox::activated, this, &SamplingPanel::choosePreset);
  setChoice({});
}

SamplingPanel::Dial SamplingPanel::addDial(QVBoxLayout* column, const QString& name, int low, int high,
                                           int decimals) {
  Dial dial;
  auto* row = new QHBoxLayout;
  dial.value = new Label({}, Role::strong);
  dial.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  row->addWidget(new Label(name, Role::body, &Palette::text2), 1);
  row->addWidget(dial.value);
  dial.slider = new QSlider(Qt::Horizontal);
  dial.slider->setRange(low, high);
  dial.slider->setPageStep(std::max(1, (high - low) / 10));
  dial.slider->setAccessibleName(name);
  column->addLayout(row);
  column->addWidget(dial.slider);
  connect(dial.slider, &QSlider::valueChanged, this, [this, value = dial.value, decimals](int number) {
    value->setText(numberText(decimals == 0 ? number : number / 100.0, decimals));
    showPreset();
  });
  return dial;
}

SamplingChoice SamplingPanel::choice() const {
  SamplingChoice choice;
  choice.temperature = m_temperature.slider->value() / 100.0;
  choice.greedy = m_temperature.slider->value() == 0;
  choice.topP = m_topP.slider->value() / 100.0;
  choice.topK = m_topK.slider->value();
  choice.minP = m_minP.slider->value() / 100.0;
  choice.repeatPenalty = m_penalty.slider->value() / 100.0;
  choice.longest = m_longest->value();
  choice.seed = m_seed->value();
  return choice;
}

void SamplingPanel::setChoice(const SamplingChoice& choice) {
  m_temperature.slider->setValue(choice.greedy ? 0 : static_cast<int>(std::lround(choice.temperature * 100)));
  m_topP.slider->setValue(static_cast<int>(std::lround(choice.topP * 100)));
  m_topK.slider->setValue(choice.topK);
  m_minP.slider->setValue(static_cast<int>(std::lround(choice.minP * 100)));
  m_penalty.slider->setValue(static_cast<int>(std::lround(choice.repeatPenalty * 100)));
  m_longest->setValue(choice.longest);
  m_seed->setValue(static_cast<int>(choice.seed));
  for (const Dial* dial : {&m_temperature, &m_topP, &m_topK, &m_minP, &m_penalty})
    emit dial->slider->valueChanged(dial->slider->value());
  showPreset();
}

QString SamplingPanel::systemText() const {
  return m_system->toPlainText().trimmed();
}

void SamplingPanel::choosePreset(int index) {
  if (index != own) setChoice(presetChoice(index, choice()));
}

void SamplingPanel::showPreset() {
  if (!m_penalty.slider || !m_seed) return;
  const SamplingChoice now = choice();
  int index = own;
  for (int i = precise; i < own; ++i) {
    if (same(now, presetChoice(i, now))) index = i;
  }
  const QSignalBlocker quiet(m_preset);
  m_preset->setCurrentIndex(index);
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/method_page.h"

#include <QButtonGroup>
#include <QGridLayout>
#include <QStackedWidget>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/preset_card.h"
#include "ui/wizard/presets.h"
#include "ui/wizard/setting_words.h"
#include "ui/wizard/settings_form.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {

namespace {

/// Memory of a weight with its scales; of blocks of 64 with one absmax in 8 bits or in 32, or of a row.
double bitsOf(const std::string& quantization) {
  if (quantization == "int8") return 8;
  return quantization == "nf4-single" ? 4.5 : 4.127;
}

}  // namespace

MethodPage::MethodPage(WizardModel* model, QWidget* parent)
    : StepPage(
          model, tr("Method"),
          tr("How much of the model may change. A preset sets everything; you can change any part later."),
          parent) {
  m_stack = new QStackedWidget;
  m_simple = makeSimple();
  m_stack->addWidget(m_simple);
  m_stack->addWidget(makeAdvanced());
  body()->addWidget(m_stack);
  body()->addStretch();
  connect(model, &WizardModel::planChanged, this, &MethodPage::update);
  connect(model, &WizardModel::settingsChanged, this, &MethodPage::update);
  update();
}

QWidget* MethodPage::makeSimple() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  auto* row = new QHBoxLayout;
  row->setSpacing(16);
  auto* group = new QButtonGroup(this);
  for (int i = 0; i < 3; ++i) {
    const auto preset = static_cast<Preset>(i);
    m_cards[static_cast<std::size_t>(i)] = new PresetCard(presetName(preset), presetSentence(preset));
    group->addButton(m_cards[static_cast<std::size_t>(i)], i);
    row->addWidget(m_cards[static_cast<std::size_t>(i)], 1);
  }
  column->addLayout(row);
  connect(group, &QButtonGroup::idClicked, this,
          [this](int id) { model()->applyPreset(static_cast<Preset>(id)); });
  auto* card = new Card(tr("What it sets"));
  m_summaryTitle = card->heading();
  QPushButton* change = makeButton(tr("Change in Advanced"), ButtonKind::quiet);
  card->head()->addWidget(change);
  connect(change, &QPushButton::clicked, this, &MethodPage::advancedWanted);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(8);
  grid->setColumnMinimumWidth(0, 168);
  grid->setColumnMinimumWidth(1, 176);
  grid->setColumnStretch(2, 1);
  const QString captions[] = {tr("Base weights"), tr("Adapter"), tr("Layers"), tr("Optimiser"),
                              tr("Learning")};
  for (int i = 0; i < 5; ++i) {
    auto& cells = m_summary[static_cast<std::size_t>(i)];
    cells = {new Label({}, Role::strong), wrapped({}, Role::caption),
             new Label({}, Role::caption, &Palette::text2)};
    cells[2]->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(new Label(captions[i]), i, 0);
    for (int c = 0; c < 3; ++c) grid->addWidget(cells[static_cast<std::size_t>(c)], i, c + 1);
  }
  card->body()->addLayout(grid);
  column->addWidget(card);
  column->addStretch();
  return box;
}

QWidget* MethodPage::makeAdvanced() {
  auto* box = new QWidget;
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  auto* row = new QHBoxLayout;
  row->setSpacing(12);
  m_presets = new Segments({presetName(Preset::fast), presetName(Preset::balanced),
                            presetName(Preset::thorough), presetName(Preset::own)});
  m_presets->setAccessibleName(tr("Preset"));
  m_cost = new Label({}, Role::strong);
  QPushButton* reset = makeButton(tr("Reset to Balanced"), ButtonKind::quiet);
  row->addWidget(new Label(tr("Preset"), Role::body, &Palette::text2));
  row->addWidget(m_presets);
  row->addWidget(m_cost);
  row->addStretch();
  row->addWidget(reset);
  column->addLayout(row);
  auto* card = new Card(tr("Base weights and adapter"));
  m_form = new SettingsForm(model(), {"quantization", "head-quantization", "compute", "rank", "alpha",
                                      "dropout", "targets", "rslora", "dora", "init"});
  card->body()->addWidget(m_form);
  column->addWidget(card);
  column->addStretch();
  connect(m_presets, &Segments::chosen, this, [this](int index) {
    if (index < 3) model()->applyPreset(static_cast<Preset>(index));
  });
  connect(reset, &QPushButton::clicked, this, [this] { model()->applyPreset(Preset::balanced); });
  connect(m_form, &SettingsForm::validityChanged, this, &StepPage::stateChanged);
  return box;
}

void MethodPage::enter() {
  update();
}

void MethodPage::setAdvanced(bool advanced) {
  m_stack->setCurrentIndex(advanced ? 1 : 0);
  setSentence(
      advanced
          ? tr("How much of the model may change. Each field shows its effect on memory at once.")
          : tr("How much of the model may change. A preset sets everything; you can change any part later."));
}

void MethodPage::update() {
  const WizardState& state = model()->state();
  for (int i = 0; i < 3; ++i) {
    PresetCard* card = m_cards[static_cast<std::size_t>(i)];
    const Settings settings = withPreset(state.settings, static_cast<Preset>(i));
    const auto plan = model()->planWith(settings);
    const bool rows = plan && plan->steps > 0 && state.prepared;
    card->setFigures(plan ? bytesText(plan->memory.total()) : unknownText(),
                     rows ? tr("%n step(s)", nullptr, static_cast<int>(plan->steps)) : unknownText(),
                     tr("%n epoch(s)", nullptr, static_cast<int>(settings.epochs)));
    card->setChecked(state.preset == static_cast<Preset>(i));
  }
  m_presets->setCurrent(static_cast<int>(state.preset));
  m_cost->setText(state.plan ? bytesText(state.plan->memory.total()) : QString());
  updateSummary();
}

void MethodPage::updateSummary() {
  const WizardState& state = model()->state();
  const Settings& s = state.settings;
  m_summaryTitle->setText(state.preset == Preset::own ? tr("What is set")
                                                      : tr("What %1 sets").arg(presetName(state.preset)));
  const bool known = state.plan && state.base;
  const auto share = known ? static_cast<double>(state.plan->adapter_parameters) /
                                 static_cast<double>(std::max<std::int64_t>(1, state.base->spec.parameters()))
                           : 0;
  const SettingInfo* quantization = find_setting("quantization");
  const SettingInfo* optimizer = find_setting("optimizer");
  const SettingInfo* schedule = find_setting("schedule");
  const auto set = [this](std::size_t row, const QString& value, const QString& hint, const QString& effect) {
    m_summary[row][0]->setText(value);
    m_summary[row][1]->setText(hint);
    m_summary[row][2]->setText(effect);
  };
  // bitsandbytes multiplies INT8 weights with activations in 8 bits, here they stay wide.
  const QString bits = numberText(bitsOf(s.quantization), 1);
  set(0, choiceLabel(*quantization, s.quantization),
      s.quantization == "none"   ? tr("As stored, in 16 bits.")
      : s.quantization == "int8" ? tr("%1 bits a weight, one scale for each row.").arg(bits)
                                 : tr("%1 bits a weight. Same numbers as bitsandbytes, so the adapter works "
                                      "elsewhere.")
                                       .arg(bits),
      known ? bytesText(state.plan->memory.base_weights) : QString());
  set(1, tr("Rank %1, alpha %2").arg(countText(s.rank), numberText(s.alpha, 0)),
      known ? tr("%1 of %2 weights are trained, %3.")
                  .arg(shortCountText(static_cast<double>(state.plan->adapter_parameters)),
                       shortCountText(static_cast<double>(state.base->spec.parameters())),
                       percentText(share, 1))
            : QString(),
      known ? QStringLiteral("+") + bytesText(state.plan->memory.trained()) : QString());
  set(2,
      s.targets == "all-linear" ? tr("All linear layers")
                                : fromUtf8(s.targets)
                                      .replace(QStringLiteral("_proj"), QString())
                                      .replace(QLatin1Char(','), QStringLiteral(", ")),
      state.base ? tr("In all %n block(s).", nullptr, static_cast<int>(state.base->spec.layers)) : QString(),
      {});
  set(3, choiceLabel(*optimizer, s.optimizer),
      s.optimizer == "adamw-8bit" ? tr("A quarter of the memory of 32-bit state.")
                                  : tr("Full state in 32 bits."),
      known ? QStringLiteral("+") + bytesText(state.plan->memory.optimizer) : QString());
  const QString epochs = s.max_steps > 0 ? tr("%n step(s)", nullptr, static_cast<int>(s.max_steps))
                                         : tr("%n epoch(s)", nullptr, static_cast<int>(s.epochs));
  set(4, tr("%1, rate %2").arg(epochs, rateText(s.learning_rate)),
      s.warmup_steps > 0
          ? tr("%1 schedule, warms up over %n step(s).", nullptr, static_cast<int>(s.warmup_steps))
                .arg(choiceLabel(*schedule, s.schedule))
          : tr("%1 schedule, warms up over the first %2.")
                .arg(choiceLabel(*schedule, s.schedule), percentText(s.warmup_ratio)),
      {});
}

QString MethodPage::obstacle() const {
  if (m_form->hasInvalid()) return tr("A value is outside its range.");
  if (model()->state().base && !model()->state().plan && model()->memoryLimit() > 0)
    return tr("The model does not have the layers that are named.");
  return {};
}

QWidget* MethodPage::firstFocus() const {
  if (m_stack->currentIndex() == 1) return m_form;
  for (PresetCard* card : m_cards) {
    if (card->isChecked()) return card;
  }
  return m_cards[1];
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/settings_form.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <climits>

#include "ui/widgets/choice.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/wizard/setting_words.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

/// Bytes of the part of the memory that a setting decides, 0 when none.
std::uint64_t memoryOf(const MemoryPlan& memory, const std::string& key) {
  if (key == "quantization") return memory.base_weights;
  if (key == "rank" || key == "targets") return memory.trained();
  if (key == "optimizer") return memory.optimizer;
  if (key == "batch-size" || key == "max-length") return memory.activations;
  return 0;
}

class Spin : public QSpinBox {
 public:
  Spin() {
    setGroupSeparatorShown(true);
    setAlignment(Qt::AlignRight);
    setKeyboardTracking(false);
    setFocusPolicy(Qt::StrongFocus);
  }

 protected:
  void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

}  // namespace

SettingsForm::SettingsForm(WizardModel* model, const std::vector<std::string>& keys, QWidget* parent)
    : QWidget(parent), m_model(model) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(8);
  grid->setColumnMinimumWidth(0, 168);
  grid->setColumnMinimumWidth(1, 204);
  grid->setColumnStretch(2, 1);
  m_fields.reserve(keys.size());
  int row = 0;
  for (const std::string& key : keys) {
    const SettingInfo* info = find_setting(key);
    if (info && isBuilt(*info)) addField(grid, 2 * row++, *info);
  }
  connect(model, &WizardModel::settingsChanged, this, &SettingsForm::update);
  connect(model, &WizardModel::planChanged, this, &SettingsForm::update);
  update();
}

void SettingsForm::addField(QGridLayout* grid, int row, const SettingInfo& info) {
  Field field;
  field.info = &info;
  field.label = new Label(settingLabel(info));
  field.hint = wrapped(settingHint(info), Role::caption);
  field.effect = new Label({}, Role::caption, &Palette::text2);
  field.effect->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  field.problem = wrapped({}, Role::caption, &Palette::danger);
  field.problem->hide();
  field.control = makeControl(field);
  field.control->setAccessibleName(settingLabel(info));
  field.control->setAccessibleDescription(settingHint(info));
  for (QWidget* widget : std::initializer_list<QWidget*>{field.label, field.control, field.hint})
    widget->setToolTip(settingTip(info));
  field.label->setBuddy(field.control);
  grid->addWidget(field.label, row, 0);
  grid->addWidget(field.control, row, 1, Qt::AlignLeft | Qt::AlignVCenter);
  grid->addWidget(field.hint, row, 2);
  grid->addWidget(field.effect, row, 3);
  grid->addWidget(field.problem, row + 1, 1, 1, 3);
  m_fields.push_back(std::move(field));
}

QWidget* SettingsForm::makeControl(Field& field) {
  const SettingInfo& info = *field.info;
  const auto value = [this, key = info.key] {
    return fromUtf8(setting_text(m_model->state().settings, key));
  };
  using Kind = SettingInfo::Kind;
  if (info.kind == Kind::boolean) {
    auto* box = new QCheckBox(tr("On"));
    field.show = [box, value] { box->setChecked(value() == QLatin1String("true")); };
    connect(box, &QCheckBox::toggled, this,
            [this, &info](bool on) { take(info, on ? QStringLiteral("true") : QStringLiteral("false")); });
    return box;
  }
  if (info.kind == Kind::choice && info.choices.size() <= 2) {
    QStringList words;
    for (const std::string& choice : info.choices) words << choiceLabel(info, choice);
    auto* segments = new Segments(words);
    field.show = [segments, value, &info] {
      for (std::size_t i = 0; i < info.choices.size(); ++i) {
        if (value().toStdString() == info.choices[i]) segments->setCurrent(static_cast<int>(i));
      }
    };
    connect(segments, &Segments::chosen, this, [this, &info](int index) {
      take(info, fromUtf8(info.choices[static_cast<std::size_t>(index)]));
    });
    return segments;
  }
  if (info.kind == Kind::choice) {
    auto* combo = new ComboBox;
    for (const std::string& choice : info.choices)
      combo->addItem(choiceLabel(info, choice), fromUtf8(choice));
    combo->setFixedWidth(176);
    field.show = [combo, value] { combo->setCurrentIndex(combo->findData(value())); };
    connect(combo, &QComboBox::activated, this,
            [this, &info, combo](int index) { take(info, combo->itemData(index).toString()); });
    return combo;
  }
  if (info.kind == Kind::integer && info.high > info.low && info.high <= INT_MAX) {
    const bool automatic = info.default_text == "auto";
    auto* spin = new Spin;
    const int low = static_cast<int>(info.low);
    spin->setRange(automatic ? low - 1 : low, static_cast<int>(info.high));
    if (automatic) spin->setSpecialValueText(tr("Automatic"));
    if (!info.unit.empty() && info.unit != "batches") spin->setSuffix(QChar(0x00A0) + unitLabel(info));
    spin->setFixedWidth(automatic || info.unit == "tokens" || info.unit == "steps" ? 136 : 104);
    field.show = [spin, value, low] {
      spin->setValue(value() == QLatin1String("auto") ? low - 1 : value().toInt());
    };
    connect(spin, &QSpinBox::valueChanged, this, [this, &info, automatic, low](int number) {
      take(info, automatic && number < low ? QStringLiteral("auto") : QString::number(number));
    });
    return spin;
  }
  auto* line = new QLineEdit;
  const bool number = info.kind == Kind::number || info.kind == Kind::integer;
  line->setFixedWidth(number ? 104 : 176);
  if (number) line->setAlignment(Qt::AlignRight);
  field.show = [line, value, isRate = info.key == "learning-rate" || info.key == "min-rate"] {
    const QString text = isRate ? rateText(value().toDouble()) : value();
    if (!line->hasFocus() && line->text() != text) line->setText(text);
  };
  connect(line, &QLineEdit::textEdited, this,
          [this, &info](const QString& text) { take(info, text.trimmed()); });
  connect(line, &QLineEdit::editingFinished, this, [this] { update(); });
  return line;
}

void SettingsForm::take(const SettingInfo& info, const QString& text) {
  if (m_showing) return;
  const Problem problem = m_model->setSetting(info.key, text);
  Field* field = find(info.key);
  QString sentence = problem.what;
  if (!problem.hint.isEmpty()) sentence += QStringLiteral(". ") + problem.hint;
  field->problem->setText(sentence);
  field->problem->setVisible(!problem.isEmpty());
  setLook(field->control, "invalid", !problem.isEmpty());
  emit validityChanged();
}

bool SettingsForm::hasInvalid() const {
  return std::any_of(m_fields.begin(), m_fields.end(), [](const Field& field) {
    return field.problem->isVisibleTo(field.problem->parentWidget());
  });
}

SettingsForm::Field* SettingsForm::find(const std::string& key) {
  for (Field& field : m_fields) {
    if (field.info->key == key) return &field;
  }
  return nullptr;
}

QWidget* SettingsForm::control(const std::string& key) const {
  for (const Field& field : m_fields) {
    if (field.info->key == key) return field.control;
  }
  return nullptr;
}

void SettingsForm::setRowVisible(const std::string& key, bool visible) {
  Field* field = find(key);
  if (!field) return;
  for (QWidget* widget :
       std::initializer_list<QWidget*>{field->label, field->control, field->hint, field->effect})
    widget->setVisible(visible);
}

void SettingsForm::update() {
  m_showing = true;
  for (Field& field : m_fields) {
    if (!field.problem->isVisibleTo(this)) field.show();
    const auto& plan = m_model->state().plan;
    const std::uint64_t bytes = plan ? memoryOf(plan->memory, field.info->key) : 0;
    field.effect->setText(bytes > 0 ? bytesText(bytes) : QString());
  }
  m_showing = false;
}

}  // namespace lorikeet::ui

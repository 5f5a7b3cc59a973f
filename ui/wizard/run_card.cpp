// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/run_card.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QPainter>

#include "ui/engine/device_monitor.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"
#include "ui/wizard/presets.h"
#include "ui/wizard/setting_words.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

struct MemoryPart {
  std::uint64_t (*bytes)(const MemoryPlan& plan);
  Token colour;
};
constexpr MemoryPart kParts[] = {
    {[](const MemoryPlan& plan) { return plan.base_weights; }, &Palette::series1},
    {[](const MemoryPlan& plan) { return plan.trained(); }, &Palette::series3},
    {[](const MemoryPlan& plan) { return plan.optimizer; }, &Palette::series5},
    {[](const MemoryPlan& plan) { return plan.activations; }, &Palette::series6},
    {[](const MemoryPlan& plan) { return plan.scratch(); }, &Palette::series8}};

class Dot : public QWidget {
 public:
  explicit Dot(Token colour) : m_colour(colour) { setFixedSize(10, 10); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(tokens().area(tokens().*m_colour));
    painter.drawRoundedRect(rect(), 3, 3);
  }

 private:
  Token m_colour;
};

}  // namespace

RunCard::RunCard(WizardModel* model, QWidget* parent) : Card(tr("Run card"), parent), m_model(model) {
  setFixedWidth(264);
  m_base = addChoice(QStringLiteral("base"), tr("Base model"));
  m_data = addChoice(QStringLiteral("dataset"), tr("Data"));
  m_method = addChoice(QStringLiteral("method"), tr("Method"));
  body()->addSpacing(2);
  body()->addWidget(horizontalLine());
  auto* memory = new QHBoxLayout;
  memory->addWidget(new Label(tr("Memory"), Role::caption, &Palette::text2));
  m_memory = new Label(unknownText(), Role::captionStrong);
  m_memory->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  memory->addWidget(m_memory, 1);
  m_bar = new MemoryBar(12);
  body()->addLayout(memory);
  body()->addWidget(m_bar);
  m_legend = new QWidget;
  auto* grid = new QGridLayout(m_legend);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  grid->setColumnStretch(1, 1);
  const QString names[] = {tr("Base weights"), tr("Adapter and gradients"), tr("Optimiser"),
                           tr("Activations"), tr("Work space")};
  for (int i = 0; i < 5; ++i) {
    auto* value = new Label(unknownText(), Role::caption);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_parts[static_cast<std::size_t>(i)] = value;
    auto* name = new Label(names[i], Role::caption, &Palette::text2);
    name->setElided(true);
    grid->addWidget(new Dot(kParts[i].colour), i, 0);
    grid->addWidget(name, i, 1);
    grid->addWidget(value, i, 2);
  }
  body()->addWidget(m_legend);
  body()->addSpacing(2);
  body()->addWidget(horizontalLine());
  addFigures();
  body()->addStretch();
  m_verdict = makeFrame("info");
  auto* verdict = new QHBoxLayout(m_verdict);
  verdict->setContentsMargins(11, 5, 11, 5);
  verdict->setSpacing(8);
  m_verdictIcon = new IconLabel(QStringLiteral("info"), 16);
  m_verdictText = wrapped({}, Role::strong, &Palette::text);
  verdict->addWidget(m_verdictIcon);
  verdict->addWidget(m_verdictText, 1);
  body()->addWidget(m_verdict);
  connect(model, &WizardModel::planChanged, this, &RunCard::update);
  connect(model, &WizardModel::settingsChanged, this, &RunCard::update);
  connect(model, &WizardModel::baseChanged, this, &RunCard::update);
  connect(model, &WizardModel::loadingChanged, this, &RunCard::update);
  update();
}

RunCard::Choice RunCard::addChoice(const QString& iconName, const QString& caption) {
  Choice choice;
  auto* row = new QHBoxLayout;
  row->setSpacing(10);
  row->addWidget(new IconLabel(iconName, 18), 0, Qt::AlignTop);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(0);
  choice.name = new Label({}, Role::strong);
  choice.name->setElided(true, Qt::ElideMiddle);
  choice.detail = new Label({}, Role::caption, &Palette::text2);
  choice.detail->setElided(true);
  texts->addWidget(new Label(caption, Role::caption, &Palette::text3));
  texts->addWidget(choice.name);
  texts->addWidget(choice.detail);
  row->addLayout(texts, 1);
  body()->addLayout(row);
  return choice;
}

void RunCard::addFigures() {
  auto* grid = new QGridLayout;
  grid->setVerticalSpacing(3);
  const QString names[] = {tr("Steps"), tr("Tokens a step"), tr("Time"), tr("Disk")};
  for (int i = 0; i < 4; ++i) {
    auto* value = new Label(unknownText(), Role::caption);
    value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_figures[static_cast<std::size_t>(i)] = value;
    grid->addWidget(new Label(names[i], Role::caption, &Palette::text3), i, 0);
    grid->addWidget(value, i, 1);
  }
  body()->addLayout(grid);
}

void RunCard::setCompact(bool compact) {
  setFixedWidth(compact ? 224 : 264);
  m_legend->setVisible(!compact);
}

void RunCard::update() {
  const WizardState& state = m_model->state();
  const auto set = [](const Choice& choice, const QString& name, const QString& detail) {
    choice.name->setText(name.isEmpty() ? tr("Not chosen yet") : name);
    choice.name->setToolTip({});
    choice.name->setRole(name.isEmpty() ? Role::body : Role::strong);
    choice.name->setInk(name.isEmpty() ? &Palette::text2 : &Palette::text);
    choice.detail->setText(detail);
    choice.detail->setToolTip({});
    choice.detail->setVisible(!detail.isEmpty());
  };
  const SettingInfo* quantization = find_setting("quantization");
  QString base;
  if (state.base) base = choiceLabel(*quantization, state.settings.quantization);
  if (state.base && state.plan)
    base += QStringLiteral(" · ") + tr("%1 resident").arg(bytesText(state.plan->memory.base_weights));
  set(m_base, state.base ? state.base->name : QString(), base);
  QString used;
  if (state.prepared) {
    used = tr("%n row(s) used", nullptr,
              static_cast<int>(state.prepared->train.size() + state.prepared->evaluation.size()));
    if (state.plan)
      used += QStringLiteral(" · ") +
              tr("%1 tokens").arg(shortCountText(static_cast<double>(state.plan->tokens)));
  } else if (state.data) {
    used = tr("%n row(s)", nullptr, static_cast<int>(state.data->report.used));
  }
  set(m_data, state.data ? QFileInfo(m_model->dataPath()).fileName() : QString(), used);
  QString method = tr("Rank %1").arg(countText(state.settings.rank)) + QStringLiteral(" · ") +
                   (state.settings.targets == "all-linear" ? tr("all linear") : tr("some layers"));
  if (state.plan && state.base)
    method += QStringLiteral(" · ") +
              tr("%1 trained").arg(shortCountText(static_cast<double>(state.plan->adapter_parameters)));
  set(m_method,
      state.adapterPath.isEmpty() ? presetName(state.preset) : tr("Goes on from %1").arg(state.adapterName),
      method);
  const bool rows = state.plan && state.prepared && state.plan->steps > 0;
  const auto seconds = rows ? m_model->secondsByEarlierRuns() : std::nullopt;
  const double perEpoch =
      rows ? static_cast<double>(std::max<std::int64_t>(1, state.plan->steps_per_epoch)) : 1;
  m_figures[0]->setText(rows ? countText(state.plan->steps) : unknownText());
  m_figures[1]->setText(
      rows ? countText(static_cast<std::int64_t>(static_cast<double>(state.plan->tokens) / perEpoch))
           : unknownText());
  m_figures[2]->setText(seconds ? tr("about %1").arg(durationText(*seconds)) : unknownText());
  m_figures[2]->setToolTip(seconds ? tr("Estimated from the speed of an earlier run of this base")
                                   : tr("Known after the first steps of a run on this base"));
  m_figures[3]->setText(rows ? bytesText(state.plan->disk_bytes) : unknownText());
  updateMemory();
  updateVerdict();
}

void RunCard::updateMemory() {
  const WizardState& state = m_model->state();
  const std::uint64_t limit = m_model->memoryLimit();
  const bool known = state.plan && state.base;
  std::vector<MemoryBar::Part> parts;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::uint64_t bytes = known ? kParts[i].bytes(state.plan->memory) : 0;
    m_parts[i]->setText(!known                                     ? unknownText()
                        : state.plan->memory.total() >= 1000000000 ? gigabytesText(bytes, 2)
                                                                   : bytesText(bytes));
    parts.push_back({{}, static_cast<double>(bytes), kParts[i].colour});
  }
  m_bar->setParts(std::move(parts), static_cast<double>(limit));
  if (!known || limit == 0) {
    m_memory->setText(unknownText());
    m_memory->setInk(&Palette::text);
    return;
  }
  const QString text =
      tr("%1 of %2 free").arg(bytesText(state.plan->memory.total()), gigabytesText(limit, 1));
  m_memory->setText(text);
  m_memory->setInk(state.plan->fits ? &Palette::text : &Palette::danger);
  m_bar->setSpoken(tr("Memory: %1").arg(text));
}

void RunCard::updateVerdict() {
  const WizardState& state = m_model->state();
  const std::uint64_t limit = m_model->memoryLimit();
  const auto say = [this](const char* kind, const char* icon, Token ink, const QString& text) {
    setLook(m_verdict, "kind", QString::fromLatin1(kind));
    m_verdictIcon->setIcon(QString::fromLatin1(icon), ink);
    m_verdictText->setText(text);
  };
  if (!state.base) return say("info", "info", &Palette::accentText, tr("Choose a base model"));
  if (limit == 0) {
    const bool lost = !m_model->context().devices->machine().problem.isEmpty();
    return lost ? say("danger", "error", &Palette::danger, tr("The engine did not answer"))
                : say("info", "info", &Palette::accentText, tr("Asking the engine …"));
  }
  if (!state.plan) return say("danger", "error", &Palette::danger, tr("A setting does not suit the model"));
  const std::uint64_t needed = state.plan->memory.total();
  if (!state.plan->fits)
    return say("danger", "error", &Palette::danger,
               tr("Does not fit: %1 short").arg(bytesText(needed - std::min(needed, limit))));
  if (!state.data) return say("info", "info", &Palette::accentText, tr("Choose data to see steps"));
  if (!state.prepared) {
    return m_model->isPreparing() ? say("info", "refresh", &Palette::accentText, tr("Counting tokens …"))
                                  : say("danger", "error", &Palette::danger, tr("No row can be used"));
  }
  const QString spare = bytesText(limit - needed);
  if (needed > limit - limit / 10)
    return say("warning", "warning", &Palette::warning, tr("Tight, %1 to spare").arg(spare));
  say("success", "success", &Palette::success, tr("Fits, %1 to spare").arg(spare));
}

QString RunCard::verdict() const {
  return m_verdictText->text();
}

}  // namespace lorikeet::ui

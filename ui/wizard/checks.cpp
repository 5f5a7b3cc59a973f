// SPDX-License-Identifier: GPL-3.0-or-later
// The checks of the Check step, without any widget.
#include <QCoreApplication>

#include "core/train/device_rules.h"
#include "ui/engine/device_monitor.h"
#include "ui/widgets/format.h"
#include "ui/wizard/check_page.h"
#include "ui/wizard/wizard_model.h"

namespace lorikeet::ui {
namespace {

constexpr int kDataStep = 1, kMethodStep = 2, kTrainingStep = 3;
constexpr std::int64_t kFewSteps = 20;

class CheckText {
  Q_DECLARE_TR_FUNCTIONS(CheckText)
};

CheckItem memoryCheck(const Plan& plan, std::uint64_t limit) {
  CheckItem item{plan.fits ? LightState::good : LightState::stops, CheckText::tr("Memory"), {}, {}, {}, -1};
  item.sentence =
      plan.recomputed_layers > 0
          ? CheckText::tr("Estimated peak. %n layer(s) are computed again on the way back to save memory.",
                          nullptr, static_cast<int>(plan.recomputed_layers))
          : CheckText::tr("Estimated peak of the longest batch.");
  item.value = CheckText::tr("%1 of %2").arg(bytesText(plan.memory.total()), gigabytesText(limit, 1));
  if (plan.fits && plan.memory.total() > limit - limit / 10) item.state = LightState::look;
  if (!plan.fits) {
    item.fix = CheckText::tr("Change");
    item.fixStep = kTrainingStep;
  }
  return item;
}

/// What the engine would refuse, in its own words, each with the step where it is set; else what is used.
std::vector<CheckItem> deviceChecks(const WizardState& state, const MachineInfo& machine) {
  const Settings& settings = state.settings;
  const DeviceAbilities device = machine.abilities(settings.device);
  std::vector<CheckItem> items;
  const auto stop = [&](const QString& name, const QString& sentence, const std::string& value, int step) {
    items.push_back({LightState::stops, name, sentence, fromUtf8(value), CheckText::tr("Change"), step});
  };
  const auto refuse = [&](const QString& name, const std::optional<Error>& fault, const std::string& value,
                          int step) {
    if (fault) stop(name, fromUtf8(fault->message() + ". " + fault->hint() + "."), value, step);
  };
  if (settings.device == "cuda" && !machine.usesGpu) {
    const QString why = machine.why.isEmpty() ? CheckText::tr("No GPU can be used.") : machine.why;
    stop(CheckText::tr("Device"),
         why + QLatin1Char(' ') + CheckText::tr("Set the device to automatic or processor."), settings.device,
         kTrainingStep);
  } else {
    refuse(CheckText::tr("Device"), model_fault(state.base->spec, device), settings.device, kTrainingStep);
    refuse(CheckText::tr("Offload"), offload_fault(settings, device), "offload", kTrainingStep);
    refuse(CheckText::tr("Number type"), compute_fault(settings, device), settings.compute, kMethodStep);
  }
  if (!items.empty()) return items;
  const QString compute =
      settings.compute == "auto" ? machine.compute(settings.device) : fromUtf8(settings.compute);
  return {{LightState::good,
           CheckText::tr("Device"),
           device.is_cuda ? machine.gpuName : CheckText::tr("The processor is used."),
           compute,
           {},
           -1}};
}

CheckItem stepsCheck(const Plan& plan) {
  const bool few = plan.steps < kFewSteps;
  CheckItem item{plan.steps <= 0 ? LightState::stops
                 : few           ? LightState::look
                                 : LightState::good,
                 CheckText::tr("Steps"),
                 {},
                 countText(plan.steps),
                 {},
                 -1};
  item.sentence = few ? CheckText::tr(
                            "Too short to learn much; 20 steps or more are advised. Raise the epochs or "
                            "collect fewer batches.")
                      : CheckText::tr("%1 to an epoch, evaluated every %2.")
                            .arg(countText(plan.steps_per_epoch), countText(plan.eval_every));
  if (few) {
    item.fix = CheckText::tr("Change");
    item.fixStep = kTrainingStep;
  }
  return item;
}

CheckItem endTokenCheck(const PreparedData& prepared) {
  const auto rows = std::ssize(prepared.train) + std::ssize(prepared.evaluation);
  const TokenId end = prepared.format->end_id();
  CheckItem item{LightState::good,
                 CheckText::tr("Template and end token"),
                 CheckText::tr("The trained end token is the one that chat and export stop at."),
                 {},
                 {},
                 -1};
  item.value = end >= 0 ? fromUtf8(prepared.tokenizer->piece(end)) : unknownText();
  if (prepared.end_rows == 0) {
    item.state = LightState::look;
    item.sentence =
        end < 0 ? CheckText::tr("This template has no end token: answers end only at the longest length.")
                : CheckText::tr("No row ends with the end token, so the model does not learn to stop.");
    item.fix = CheckText::tr("Look at tokens");
    item.fixStep = kDataStep;
  } else if (prepared.end_rows < rows) {
    item.sentence = CheckText::tr("%1 of %2 rows end with the end token; the others are cut before it.")
                        .arg(countText(prepared.end_rows), countText(rows));
  }
  return item;
}

CheckItem longRowsCheck(const PreparedData& prepared, const Settings& settings) {
  CheckItem item{LightState::good,
                 CheckText::tr("Row lengths"),
                 CheckText::tr("Every row fits into %1 tokens.").arg(countText(prepared.max_length)),
                 countText(prepared.longest),
                 {},
                 -1};
  if (prepared.long_rows == 0) return item;
  item.state = LightState::look;
  const QString what = settings.too_long == "drop"    ? CheckText::tr("are left out")
                       : settings.too_long == "split" ? CheckText::tr("are split")
                                                      : CheckText::tr("are cut");
  item.sentence = CheckText::tr("%1 rows are longer than %2 tokens and %3.")
                      .arg(countText(prepared.long_rows), countText(prepared.max_length), what);
  item.value = percentText(static_cast<double>(prepared.long_rows) /
                               static_cast<double>(std::max<std::size_t>(1, prepared.lengths.size())),
                           1);
  item.fix = CheckText::tr("Show rows");
  item.fixStep = kDataStep;
  return item;
}

CheckItem maskCheck(const Plan& plan) {
  const double share =
      plan.tokens > 0 ? static_cast<double>(plan.trained_tokens) / static_cast<double>(plan.tokens) : 0;
  return {share > 0.02 ? LightState::good : LightState::look,
          CheckText::tr("Answers left after masking"),
          CheckText::tr("%1 of %2 tokens of an epoch are trained.")
              .arg(shortCountText(static_cast<double>(plan.trained_tokens)),
                   shortCountText(static_cast<double>(plan.tokens))),
          percentText(share),
          {},
          -1};
}

CheckItem refusedCheck(const WizardState& state) {
  const auto refused = std::max(state.data->report.refused_rows, std::ssize(state.prepared->refused));
  CheckItem item{LightState::good,
                 CheckText::tr("Rows"),
                 CheckText::tr("Every row of the file is used."),
                 countText(state.data->report.read),
                 {},
                 -1};
  if (refused == 0) return item;
  item.state = LightState::look;
  item.sentence = CheckText::tr("%1 of %2 rows are not used.")
                      .arg(countText(refused), countText(state.data->report.read));
  item.value = percentText(
      static_cast<double>(refused) / static_cast<double>(std::max<std::int64_t>(1, state.data->report.read)),
      1);
  item.fix = CheckText::tr("Show rows");
  item.fixStep = kDataStep;
  return item;
}

CheckItem rateCheck(const Settings& settings) {
  const bool high = settings.learning_rate > 1e-3, low = settings.learning_rate < 1e-5;
  CheckItem item{high || low ? LightState::look : LightState::good,
                 CheckText::tr("Learning rate"),
                 CheckText::tr("Usual for LoRA: 1e-4 to 3e-4."),
                 rateText(settings.learning_rate),
                 {},
                 -1};
  if (high)
    item.sentence =
        CheckText::tr("Higher than usual; training may not converge. Usual for LoRA: 1e-4 to 3e-4.");
  if (low) item.sentence = CheckText::tr("Lower than usual; little is learnt. Usual for LoRA: 1e-4 to 3e-4.");
  if (high || low) {
    item.fix = CheckText::tr("Change");
    item.fixStep = kTrainingStep;
  }
  return item;
}

CheckItem evaluationCheck(const Plan& plan) {
  CheckItem item{
      LightState::good,
      CheckText::tr("Evaluation"),
      CheckText::tr("%1 rows are kept apart to see what was learnt.").arg(countText(plan.evaluation_rows)),
      countText(plan.evaluation_rows),
      {},
      -1};
  if (plan.evaluation_rows > 0) return item;
  item.state = LightState::look;
  item.sentence = CheckText::tr("No row is kept for evaluation, so overfitting would not be seen.");
  item.fix = CheckText::tr("Change");
  item.fixStep = kDataStep;
  return item;
}

CheckItem diskCheck(const Plan& plan, std::uint64_t diskFree) {
  const bool enough = plan.disk_bytes < diskFree;
  CheckItem item{enough ? LightState::good : LightState::stops,
                 CheckText::tr("Disk"),
                 CheckText::tr("Checkpoints, adapter and log."),
                 {},
                 {},
                 -1};
  item.value = CheckText::tr("%1 of %2").arg(bytesText(plan.disk_bytes), bytesText(diskFree));
  if (!enough)
    item.sentence =
        CheckText::tr("Free %1 on the disk that holds the runs.").arg(bytesText(plan.disk_bytes - diskFree));
  return item;
}

}  // namespace

std::vector<CheckItem> runChecks(const WizardState& state, std::uint64_t memoryLimit,
                                 const MachineInfo& machine) {
  std::vector<CheckItem> items;
  if (!state.plan || !state.prepared || !state.data) return items;
  const Plan& plan = *state.plan;
  items = {memoryCheck(plan, memoryLimit),
           stepsCheck(plan),
           endTokenCheck(*state.prepared),
           longRowsCheck(*state.prepared, state.settings),
           maskCheck(plan),
           refusedCheck(state),
           rateCheck(state.settings),
           evaluationCheck(plan)};
  for (CheckItem& item : deviceChecks(state, machine)) items.push_back(std::move(item));
  if (machine.diskFree > 0) items.push_back(diskCheck(plan, machine.diskFree));
  if (plan.max_length > state.base->spec.context) {
    items.push_back({LightState::look, CheckText::tr("Context"),
                     CheckText::tr("Max length is above the model's %1 tokens: positions are stretched.")
                         .arg(countText(state.base->spec.context)),
                     countText(plan.max_length), CheckText::tr("Change"), kTrainingStep});
  }
  std::stable_sort(items.begin(), items.end(), [](const CheckItem& a, const CheckItem& b) {
    const auto weight = [](LightState s) {
      return s == LightState::stops ? 0 : s == LightState::look ? 1 : 2;
    };
    return weight(a.state) < weight(b.state);
  });
  return items;
}

std::optional<Settings> settingsThatFit(const WizardModel& model) {
  Settings settings = model.state().settings;
  const auto fits = [&] {
    const auto plan = model.planWith(settings);
    return plan && plan->fits;
  };
  while (!fits() && settings.batch_size > 1) {  // the same rows a step: the result is the same
    settings.accumulation =
        settings.accumulation * settings.batch_size / std::max<std::int64_t>(1, settings.batch_size / 2);
    settings.batch_size = std::max<std::int64_t>(1, settings.batch_size / 2);
  }
  while (!fits() && resolved_max_length(settings, model.state().base->spec) > 256) {
    settings.max_length = resolved_max_length(settings, model.state().base->spec) / 2;
  }
  while (!fits() && settings.rank > 8) settings.rank /= 2;
  if (!fits()) return std::nullopt;
  return settings;
}

}  // namespace lorikeet::ui

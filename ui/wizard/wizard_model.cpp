// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/wizard_model.h"

#include <QFileInfo>
#include <QTimer>
#include <algorithm>
#include <initializer_list>
#include <set>
#include <variant>

#include "core/base/files.h"
#include "core/model/check_model.h"
#include "core/model/weight_source.h"
#include "core/train/prepare_parts.h"
#include "core/train/run_folder.h"
#include "kernels/base/error.h"
#include "ui/engine/device_monitor.h"
#include "ui/engine/run_store.h"
#include "ui/widgets/background.h"
#include "ui/widgets/format.h"
#include "ui/wizard/presets.h"

namespace lorikeet::ui {
namespace {

template <class Value>
using Outcome = std::variant<std::shared_ptr<const Value>, Problem>;

/// Of a large file the first rows are shown; all are counted, and trained from the file.
ReadOptions shownRows(const QString& path, const Settings& settings) {
  constexpr std::size_t kMostShownRows = 10'000;
  ReadOptions options = read_options(settings);
  if (is_streamed(path.toStdString())) options.most_kept = kMostShownRows;
  return options;
}

bool differ(const Settings& a, const Settings& b, std::initializer_list<const char*> keys) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const char* key) { return setting_text(a, key) != setting_text(b, key); });
}

/// Whether the data have to be read again.
bool changesReading(const Settings& a, const Settings& b) {
  return differ(a, b, {"columns", "empty-answers", "nested-values", "duplicates"});
}

/// Settings that change the rows themselves; others change the plan only.
bool changesRows(const Settings& a, const Settings& b) {
  return differ(a, b,
                {"template", "system", "train-on", "max-length", "too-long", "eval-fraction", "eval-data",
                 "batch-size", "packing", "shuffle", "seed"});
}

int computeBytes(const Settings& settings, const MachineInfo& machine) {
  const QString compute = settings.compute == "auto" ? machine.compute(settings.device)
                                                     : QString::fromStdString(settings.compute);
  return compute == QLatin1String("f32") ? 4 : 2;
}

}  // namespace

std::shared_ptr<const BaseModelInfo> readBaseModel(const QString& path) {
  auto base = std::make_shared<BaseModelInfo>();
  base->path = path;
  const std::string file = path.toStdString();
  base->spec = read_model_spec(file);
  base->name = fromUtf8(base->spec.name);
  if (base->name.isEmpty()) base->name = QFileInfo(path).fileName();
  const auto source = open_weight_source(file);
  require_complete_model(base->spec, *source);
  std::set<std::string> types;
  for (const SourceTensor& tensor : source->tensors()) {
    base->weightBytes += tensor.bytes.size();
    types.insert(to_string(tensor.type));
  }
  QStringList storage;
  for (const std::string& type : types) storage << fromUtf8(type);
  base->storage = storage.join(QStringLiteral(", "));
  base->tokenizer = load_tokenizer(file);
  base->hasChatTemplate = !base->tokenizer->chat_template().empty();
  const TokenId end = base->spec.eos_ids.empty() ? base->tokenizer->eos_id() : base->spec.eos_ids.front();
  if (end >= 0 && end < base->tokenizer->vocab_size()) base->endToken = fromUtf8(base->tokenizer->piece(end));
  return base;
}

WizardModel::WizardModel(const StudioContext& context, QObject* parent)
    : QObject(parent), m_context(context), m_delay(new QTimer(this)) {
  m_delay->setSingleShot(true);
  m_delay->setInterval(150);
  connect(m_delay, &QTimer::timeout, this, &WizardModel::prepare);
  connect(context.devices, &DeviceMonitor::changed, this, &WizardModel::replan);
  if (state().furthest == 0 && !state().data) edit().settings = withPreset(state().settings, state().preset);
  if (state().data) m_dataPath = fromUtf8(state().data->path);
}

WizardModel::~WizardModel() {
  m_readStop.request_stop();
  m_prepareStop.request_stop();
}

void WizardModel::chooseBase(const QString& path) {
  const int request = ++m_baseRequest;
  m_loadingBase = true;
  emit loadingChanged();
  inBackground<Outcome<BaseModelInfo>>(
      this,
      [path]() -> Outcome<BaseModelInfo> {
        try {
          return readBaseModel(path);
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this, request](Outcome<BaseModelInfo> outcome) {
        if (request != m_baseRequest) return;
        m_loadingBase = false;
        emit loadingChanged();
        if (const auto* problem = std::get_if<Problem>(&outcome)) {
          emit baseFailed(*problem);
          return;
        }
        edit().base = std::get<0>(outcome);
        emit baseChanged();
        prepareSoon();
        replan();
      });
}

void WizardModel::chooseAdapter(const QString& folder, const QString& name, const QString& basePath) {
  edit().adapterPath = folder;
  edit().adapterName = name;
  if (!basePath.isEmpty()) chooseBase(basePath);
  prepareSoon();
  emit settingsChanged();
}

void WizardModel::setReading(bool reading) {
  m_reading = reading;
  emit loadingChanged();
}

void WizardModel::chooseData(const QString& path) {
  m_readStop.request_stop();
  m_readStop = std::stop_source();
  m_dataPath = path;
  const int request = ++m_dataRequest;
  setReading(true);
  // Called on the pool thread: the guard is only looked at on the GUI thread.
  const auto progress = [guard = QPointer<WizardModel>(this), request](std::int64_t rows) {
    QMetaObject::invokeMethod(
        qApp,
        [guard, request, rows] {
          if (guard && request == guard->m_dataRequest) emit guard->dataProgress(rows);
        },
        Qt::QueuedConnection);
  };
  inBackground<Outcome<InstructionData>>(
      this,
      [path, stop = m_readStop.get_token(), progress,
       settings = state().settings]() -> Outcome<InstructionData> {
        try {
          return std::make_shared<const InstructionData>(
              read_instruction_data(path.toStdString(), stop, progress, shownRows(path, settings)));
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this, request](Outcome<InstructionData> outcome) {
        if (request != m_dataRequest) return;
        setReading(false);
        if (const auto* problem = std::get_if<Problem>(&outcome)) {
          if (!m_readStop.stop_requested()) emit dataFailed(*problem);
          return;
        }
        edit().data = std::get<0>(outcome);
        edit().prepared.reset();
        edit().plan.reset();
        if (!state().nameByHand) edit().runName = QFileInfo(m_dataPath).completeBaseName();
        emit dataChanged();
        emit planChanged();
        prepareSoon();
      });
}

void WizardModel::chooseEvaluationData(const QString& path) {
  if (path.isEmpty()) {
    edit().evaluation.reset();
    edit().settings.eval_data.clear();
    emit settingsChanged();
    prepareSoon();
    return;
  }
  inBackground<Outcome<InstructionData>>(
      this,
      [path, settings = state().settings]() -> Outcome<InstructionData> {
        try {
          return std::make_shared<const InstructionData>(
              read_instruction_data(path.toStdString(), {}, {}, read_options(settings)));
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this, path](Outcome<InstructionData> outcome) {
        if (const auto* problem = std::get_if<Problem>(&outcome)) {
          emit dataFailed(*problem);
          return;
        }
        edit().evaluation = std::get<0>(outcome);
        edit().settings.eval_data = path.toStdString();
        emit settingsChanged();
        prepareSoon();
      });
}

void WizardModel::cancelReading() {
  m_readStop.request_stop();
  ++m_dataRequest;
  setReading(false);
}

Problem WizardModel::setSetting(const std::string& key, const QString& text) {
  Settings changed = state().settings;
  try {
    set_setting(changed, key, text.toStdString());
  } catch (const std::exception&) {
    return currentProblem();
  }
  setSettings(changed);
  return {};
}

void WizardModel::setSettings(const Settings& settings) {
  const bool rows = changesRows(state().settings, settings),
             reading = changesReading(state().settings, settings);
  edit().settings = settings;
  edit().preset = matchingPreset(settings);
  emit settingsChanged();
  if (reading && !m_dataPath.isEmpty()) chooseData(m_dataPath);
  if (reading && state().evaluation) chooseEvaluationData(QString::fromStdString(settings.eval_data));
  if (rows) prepareSoon();
  replan();
}

void WizardModel::applyPreset(Preset preset) {
  setSettings(withPreset(state().settings, preset));
  edit().preset = preset;
  emit settingsChanged();
}

void WizardModel::prepareSoon() {
  if (!state().base || !state().data) return;
  m_preparing = true;
  emit loadingChanged();
  m_delay->start();
}

void WizardModel::prepare() {
  if (!state().base || !state().data) return;
  m_prepareStop.request_stop();
  m_prepareStop = std::stop_source();
  const int request = ++m_prepareRequest;
  inBackground<Outcome<PreparedData>>(
      this,
      [base = state().base, data = state().data, evaluation = state().evaluation, settings = state().settings,
       adapter = state().adapterPath.toStdString(),
       stop = m_prepareStop.get_token()]() -> Outcome<PreparedData> {
        try {
          return std::make_shared<const PreparedData>(
              std::ssize(data->rows) < data->report.used
                  ? prepare_data(base->path.toStdString(), base->spec, data->path, adapter, settings, stop)
                  : prepare_rows(*data, evaluation.get(), base->tokenizer, base->spec, adapter, settings,
                                 stop));
        } catch (const std::exception&) {
          return currentProblem();
        }
      },
      [this, request](Outcome<PreparedData> outcome) {
        if (request != m_prepareRequest) return;
        m_preparing = false;
        m_prepareProblem = {};
        edit().prepared.reset();
        if (const auto* problem = std::get_if<Problem>(&outcome)) {
          m_prepareProblem = *problem;
        } else {
          edit().prepared = std::get<0>(outcome);
        }
        emit loadingChanged();
        emit preparedChanged();
        replan();
      });
}

std::uint64_t WizardModel::memoryLimit() const {
  return m_context.devices->machine().known ? planDevice(state().settings).memory_limit_bytes : 0;
}

PlanDevice WizardModel::planDevice(const Settings& settings) const {
  const MachineInfo& machine = m_context.devices->machine();
  const bool gpu = machine.takesGpu(settings.device);
  return {resolved_memory_limit(settings, machine.freeMemory(settings.device), gpu),
          computeBytes(settings, machine), gpu, gpu ? machine.memoryFree : 0,
          machine.processorCompute == QLatin1String("f32") ? 4 : 2};
}

std::optional<Plan> WizardModel::planWith(const Settings& settings) const {
  const MachineInfo& machine = m_context.devices->machine();
  if (!state().base || !machine.known) return std::nullopt;
  DataShape shape;
  if (state().prepared) shape = state().prepared->shape;
  try {
    return make_plan(state().base->spec, shape, settings, planDevice(settings));
  } catch (const Error&) {
    return std::nullopt;  // a setting the model does not have; its field says so
  }
}

void WizardModel::replan() {
  edit().plan = planWith(state().settings);
  emit planChanged();
}

std::optional<double> WizardModel::secondsByEarlierRuns() const {
  if (!state().plan || !state().base || !state().prepared || state().plan->steps_per_epoch <= 0)
    return std::nullopt;
  for (const RunSummary& run : m_context.runs->runs()) {
    if (run.modelPath != state().base->path || run.tokensPerSecond <= 0) continue;
    const double epochs =
        static_cast<double>(state().plan->steps) / static_cast<double>(state().plan->steps_per_epoch);
    return static_cast<double>(state().plan->tokens) * epochs / run.tokensPerSecond;
  }
  return std::nullopt;
}

Job WizardModel::makeJob() const {
  Job job;
  job.name = state().runName.trimmed().toStdString();
  if (state().base) job.model_path = QFileInfo(state().base->path).absoluteFilePath().toStdString();
  job.data_path = QFileInfo(m_dataPath).absoluteFilePath().toStdString();
  if (!state().adapterPath.isEmpty()) job.adapter_path = state().adapterPath.toStdString();
  job.settings = state().settings;
  return job;
}

}  // namespace lorikeet::ui

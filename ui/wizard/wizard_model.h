// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <stop_token>

#include "ui/engine/studio_context.h"
#include "ui/widgets/banner.h"
#include "ui/wizard/wizard_state.h"

class QTimer;

namespace lorikeet {
struct Job;
}

namespace lorikeet::ui {

/// Does the wizard's reading, tokenising and planning on pool threads and keeps its state. A newer request
/// cancels an older one. Pages listen and show.
class WizardModel : public QObject {
  Q_OBJECT
 public:
  explicit WizardModel(const StudioContext& context, QObject* parent = nullptr);
  ~WizardModel() override;

  const WizardState& state() const { return *m_context.wizard; }
  WizardState& edit() { return *m_context.wizard; }
  const StudioContext& context() const { return m_context; }

  void chooseBase(const QString& path);
  /// Goes on from an adapter: its base is chosen too. "" = from the base.
  void chooseAdapter(const QString& folder, const QString& name, const QString& basePath);
  void chooseData(const QString& path);
  void chooseEvaluationData(const QString& path);  ///< "" = split the rows
  void cancelReading();
  bool isReading() const { return m_reading; }
  bool isPreparing() const { return m_preparing; }
  bool isLoadingBase() const { return m_loadingBase; }
  const QString& dataPath() const { return m_dataPath; }
  const Problem& prepareProblem() const { return m_prepareProblem; }

  /// Sets one value from its text; the problem (empty when it was taken) says the allowed range.
  Problem setSetting(const std::string& key, const QString& text);
  void setSettings(const Settings& settings);
  void applyPreset(Preset preset);

  /// The plan with other settings, when base and data are known. The rows are taken as they are.
  std::optional<Plan> planWith(const Settings& settings) const;
  /// The device that the settings take, as far as the engine has told.
  PlanDevice planDevice(const Settings& settings) const;
  std::uint64_t memoryLimit() const;  ///< 0 when the machine is not known yet
  /// Seconds the run may take by the speed of an earlier run of the same base on this machine.
  std::optional<double> secondsByEarlierRuns() const;
  Job makeJob() const;

 signals:
  void baseChanged();
  void baseFailed(const lorikeet::ui::Problem& problem);
  void loadingChanged();
  void dataProgress(qint64 rows);
  void dataChanged();
  void dataFailed(const lorikeet::ui::Problem& problem);
  void preparedChanged();
  void settingsChanged();
  void planChanged();

 private:
  void prepareSoon();
  void prepare();
  void replan();
  void setReading(bool reading);
  StudioContext m_context;
  QTimer* m_delay;
  std::stop_source m_readStop, m_prepareStop;
  QString m_dataPath;
  Problem m_prepareProblem;
  int m_baseRequest = 0, m_dataRequest = 0, m_prepareRequest = 0;
  bool m_reading = false, m_preparing = false, m_loadingBase = false;
};

/// Reads what the studio needs of a base model. Throws Error.
std::shared_ptr<const BaseModelInfo> readBaseModel(const QString& path);

}  // namespace lorikeet::ui

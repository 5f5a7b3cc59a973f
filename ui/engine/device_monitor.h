// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <string>

#include "core/train/device_rules.h"

class QJsonObject;
class QTimer;

namespace lorikeet::ui {

class EngineProcess;

/// What the studio knows of this machine, from `lorikeet devices --json`.
struct MachineInfo {
  bool known = false;
  bool usesGpu = false;
  QString gpuName;
  QString gpuLevel;  ///< for example "compute 8.6"
  QString driver;    ///< CUDA version the driver is for, for example "13.0"
  QString why;       ///< what the engine notes, for example why no GPU is used
  QString processor;
  QString instructions;                              ///< for example "avx512-bf16"
  QString processorCompute = QStringLiteral("f32");  ///< number type of the products by compute auto
  QString gpuCompute = QStringLiteral("f16");
  int threads = 0;
  std::uint64_t memoryTotal = 0, memoryFree = 0;  ///< RAM
  std::uint64_t gpuTotal = 0, gpuFree = 0;
  std::uint64_t diskTotal = 0, diskFree = 0;  ///< of the home folder
  QString problem;                            ///< set when the engine did not answer

  /// Of the device that the setting `device` takes.
  std::uint64_t freeMemory(const std::string& device) const {
    return takesGpu(device) ? gpuFree : memoryFree;
  }
  const QString& compute(const std::string& device) const {
    return takesGpu(device) ? gpuCompute : processorCompute;
  }
  bool takesGpu(const std::string& device) const { return usesGpu && device != "cpu"; }
  DeviceAbilities abilities(const std::string& device) const {
    return takesGpu(device) ? DeviceAbilities{true, gpuCompute == QLatin1String("bf16"), true}
                            : DeviceAbilities{};
  }
};

/// Asks the engine for the machine when it is told to; never waits. While a run trains, its device is left
/// alone.
class DeviceMonitor : public QObject {
  Q_OBJECT
 public:
  DeviceMonitor(const QString& engine, QString home, QObject* parent = nullptr);
  const MachineInfo& machine() const { return m_machine; }
  /// Asks again; while it is held, only where nothing is known yet.
  void refresh();
  bool isAsking() const;
  /// Looks at the disk every `seconds`; 0 stops.
  void watch(int seconds);
  /// Held while a run trains; asks once when that ends.
  void hold(bool held);

  static MachineInfo parse(const QJsonObject& json);

 signals:
  void changed();

 private:
  void readDisk();
  EngineProcess* m_engine;
  QTimer* m_timer;
  QString m_home;
  MachineInfo m_machine;
  bool m_held = false;
};

}  // namespace lorikeet::ui

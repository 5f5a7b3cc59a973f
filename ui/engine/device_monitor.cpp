// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/device_monitor.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QStorageInfo>
#include <QTimer>

#include "ui/engine/engine_process.h"
#include "ui/widgets/background.h"

namespace lorikeet::ui {
namespace {

std::uint64_t bytesOf(const QJsonObject& json, const char* key) {
  const double value = json.value(QLatin1String(key)).toDouble();
  return value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

QString textOf(const QJsonObject& json, const char* key) {
  return json.value(QLatin1String(key)).toString();
}

struct Disk {
  std::uint64_t total = 0, free = 0;
};

Disk diskOf(const QString& folder) {
  QDir dir(folder);
  while (!dir.exists() && dir.cdUp()) {
  }
  const QStorageInfo storage(dir.absolutePath());
  return {static_cast<std::uint64_t>(std::max<qint64>(0, storage.bytesTotal())),
          static_cast<std::uint64_t>(std::max<qint64>(0, storage.bytesAvailable()))};
}

}  // namespace

DeviceMonitor::DeviceMonitor(const QString& engine, QString home, QObject* parent)
    : QObject(parent),
      m_engine(new EngineProcess(engine, this)),
      m_timer(new QTimer(this)),
      m_home(std::move(home)) {
  connect(m_timer, &QTimer::timeout, this, &DeviceMonitor::readDisk);
  connect(m_engine, &EngineProcess::message, this, [this](const QJsonObject& line) {
    const MachineInfo before = m_machine;
    m_machine = parse(line);
    m_machine.diskTotal = before.diskTotal;
    m_machine.diskFree = before.diskFree;
    emit changed();
  });
  connect(m_engine, &EngineProcess::ended, this, [this](int, const QString& why) {
    if (why.isEmpty()) return;
    m_machine.problem = why;
    emit changed();
  });
}

void DeviceMonitor::refresh() {
  readDisk();
  if (m_held && m_machine.known) return;
  if (!m_engine->isRunning()) m_engine->start({QStringLiteral("devices"), QStringLiteral("--json")});
}

bool DeviceMonitor::isAsking() const {
  return m_engine->isRunning();
}

void DeviceMonitor::watch(int seconds) {
  seconds > 0 ? m_timer->start(seconds * 1000) : m_timer->stop();
}

void DeviceMonitor::hold(bool held) {
  if (held == m_held) return;
  m_held = held;
  if (!held) refresh();
}

void DeviceMonitor::readDisk() {
  inBackground<Disk>(
      this, [home = m_home] { return diskOf(home); },
      [this](Disk disk) {
        if (disk.total == m_machine.diskTotal && disk.free == m_machine.diskFree) return;
        m_machine.diskTotal = disk.total;
        m_machine.diskFree = disk.free;
        emit changed();
      });
}

MachineInfo DeviceMonitor::parse(const QJsonObject& json) {
  MachineInfo machine;
  machine.known = true;
  QStringList notes;
  for (const QJsonValue& note : json.value(QLatin1String("notes")).toArray()) notes << note.toString();
  machine.why = notes.join(QLatin1Char(' '));
  for (const QJsonValue& value : json.value(QLatin1String("devices")).toArray()) {
    const QJsonObject device = value.toObject();
    const bool hasBf16 = device.value(QLatin1String("has_bf16")).toBool();
    if (textOf(device, "kind") == QLatin1String("cpu")) {
      machine.processor = textOf(device, "name");
      machine.instructions = textOf(device, "instruction_set");
      machine.threads = device.value(QLatin1String("threads")).toInt();
      machine.memoryTotal = bytesOf(device, "memory_total_bytes");
      machine.memoryFree = bytesOf(device, "memory_free_bytes");
      machine.processorCompute = hasBf16 ? QStringLiteral("bf16") : QStringLiteral("f32");
    } else if (!machine.usesGpu) {  // the first one is the one the engine takes
      machine.usesGpu = true;
      machine.gpuCompute = hasBf16 ? QStringLiteral("bf16") : QStringLiteral("f16");
      machine.gpuLevel = textOf(device, "instruction_set");
      machine.driver = textOf(device, "driver");
      machine.gpuName = textOf(device, "name");
      machine.gpuTotal = bytesOf(device, "memory_total_bytes");
      machine.gpuFree = bytesOf(device, "memory_free_bytes");
    }
  }
  return machine;
}

}  // namespace lorikeet::ui

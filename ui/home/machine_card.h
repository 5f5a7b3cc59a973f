// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widgets/controls.h"

namespace lorikeet::ui {

class DeviceMonitor;
class MemoryBar;

/// Which device is used and why, with bars of memory and disk.
class MachineCard : public Card {
  Q_OBJECT
 public:
  explicit MachineCard(DeviceMonitor* devices, QWidget* parent = nullptr);

 private:
  struct Meter {
    QWidget* row = nullptr;
    Label* value = nullptr;
    MemoryBar* bar = nullptr;
  };
  Meter addMeter(const QString& name, Token colour);
  static void setMeter(const Meter& meter, const QString& name, std::uint64_t used, std::uint64_t total,
                       const QString& text);
  void update();

  DeviceMonitor* m_devices;
  IconLabel* m_icon;
  Label* m_sentence;
  Label* m_why;
  Meter m_gpu, m_ram, m_disk;
  Label* m_processor;
};

}  // namespace lorikeet::ui

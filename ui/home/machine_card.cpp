// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/home/machine_card.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/engine/device_monitor.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"

namespace lorikeet::ui {

MachineCard::MachineCard(DeviceMonitor* devices, QWidget* parent)
    : Card(tr("This machine"), parent), m_devices(devices) {
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  m_icon = new IconLabel(QStringLiteral("refresh"), 20);
  m_sentence = wrapped(tr("Asking the engine …"), Role::strong, &Palette::text);
  m_why = wrapped({}, Role::caption);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(0);
  texts->addWidget(m_sentence);
  texts->addWidget(m_why);
  row->addWidget(m_icon, 0, Qt::AlignTop);
  row->addLayout(texts, 1);
  body()->addLayout(row);
  m_gpu = addMeter(tr("GPU memory"), &Palette::series1);
  m_ram = addMeter(tr("RAM"), &Palette::series1);
  m_disk = addMeter(tr("Disk"), &Palette::series1);
  body()->addSpacing(4);
  body()->addWidget(horizontalLine());
  auto* processor = new QHBoxLayout;
  processor->addWidget(new Label(tr("Processor"), Role::caption, &Palette::text3));
  m_processor = new Label({}, Role::caption);
  m_processor->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  m_processor->setElided(true);
  processor->addWidget(m_processor, 1);
  body()->addLayout(processor);
  connect(devices, &DeviceMonitor::changed, this, &MachineCard::update);
  update();
}

MachineCard::Meter MachineCard::addMeter(const QString& name, Token) {
  Meter meter;
  meter.row = new QWidget;
  auto* column = new QVBoxLayout(meter.row);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* texts = new QHBoxLayout;
  texts->addWidget(new Label(name, Role::caption, &Palette::text3));
  meter.value = new Label({}, Role::caption);
  meter.value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  texts->addWidget(meter.value, 1);
  meter.bar = new MemoryBar;
  column->addLayout(texts);
  column->addWidget(meter.bar);
  meter.row->hide();
  body()->addWidget(meter.row);
  return meter;
}

void MachineCard::setMeter(const Meter& meter, const QString& name, std::uint64_t used, std::uint64_t total,
                           const QString& text) {
  meter.row->setVisible(total > 0);
  meter.value->setText(text);
  meter.bar->setParts({{name, static_cast<double>(used), &Palette::series1}}, static_cast<double>(total));
  meter.bar->setSpoken(QStringLiteral("%1: %2").arg(name, text));
}

void MachineCard::update() {
  const MachineInfo& machine = m_devices->machine();
  if (!machine.problem.isEmpty()) {
    m_icon->setIcon(QStringLiteral("error"), &Palette::danger);
    m_sentence->setText(tr("The engine did not answer"));
    m_why->setText(machine.problem);
  } else if (machine.known) {
    m_icon->setIcon(machine.usesGpu ? QStringLiteral("success") : QStringLiteral("info"),
                    machine.usesGpu ? &Palette::success : &Palette::accentText);
    m_sentence->setText(machine.usesGpu ? tr("CUDA is used") : tr("The processor is used"));
    QString why = machine.why;
    if (machine.usesGpu) {
      why = machine.gpuName + QStringLiteral(", ") + machine.gpuLevel;
      if (!machine.driver.isEmpty())
        why += QStringLiteral(", ") + tr("driver for CUDA %1").arg(machine.driver);
      if (!machine.why.isEmpty()) why += QStringLiteral(". ") + machine.why;
    } else {
      if (!why.isEmpty() && !why.endsWith(QLatin1Char('.'))) why += QLatin1Char('.');
      why += (why.isEmpty() ? QString() : QStringLiteral(" ")) +
             tr("Training works, more slowly than on a GPU.");
    }
    m_why->setText(why);
  }
  m_why->setVisible(!m_why->text().isEmpty());
  const auto ofText = [](std::uint64_t used, std::uint64_t total) {
    return tr("%1 of %2").arg(numberText(static_cast<double>(used) / 1e9, 1), gigabytesText(total, 1));
  };
  const std::uint64_t ramUsed = machine.memoryTotal - std::min(machine.memoryTotal, machine.memoryFree);
  const std::uint64_t gpuUsed = machine.gpuTotal - std::min(machine.gpuTotal, machine.gpuFree);
  setMeter(m_gpu, tr("GPU memory"), gpuUsed, machine.gpuTotal, ofText(gpuUsed, machine.gpuTotal));
  setMeter(m_ram, tr("RAM"), ramUsed, machine.memoryTotal, ofText(ramUsed, machine.memoryTotal));
  setMeter(m_disk, tr("Disk"), machine.diskTotal - std::min(machine.diskTotal, machine.diskFree),
           machine.diskTotal, tr("%1 free").arg(bytesText(machine.diskFree)));
  QStringList processor;
  if (machine.threads > 0) processor << tr("%n thread(s)", nullptr, machine.threads);
  if (!machine.instructions.isEmpty()) processor << machine.instructions;
  m_processor->setText(processor.isEmpty() ? unknownText() : processor.join(QStringLiteral(", ")));
  m_processor->setToolTip(machine.processor);
}

}  // namespace lorikeet::ui

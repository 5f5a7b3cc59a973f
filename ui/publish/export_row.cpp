// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/publish/export_row.h"

#include <QDateTime>
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/engine/engine_process.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/marks.h"

namespace lorikeet::ui {

ExportRow::ExportRow(const QString& engine, const QString& iconName, const QString& out, quint64 bytes,
                     QWidget* parent)
    : QWidget(parent), m_engine(new EngineProcess(engine, this)), m_out(out), m_bytes(bytes) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 8, 12, 8);
  row->setSpacing(12);
  row->addWidget(new IconLabel(iconName, 20));
  auto* texts = new QVBoxLayout;
  texts->setSpacing(4);
  auto* name = new Label(QFileInfo(out).fileName(), Role::strong);
  name->setElided(true, Qt::ElideMiddle);
  m_bar = new ThinBar;
  m_detail = wrapped(tr("Starting …"), Role::caption);
  m_detail->setTextInteractionFlags(Qt::TextSelectableByMouse);
  texts->addWidget(name);
  texts->addWidget(m_bar);
  texts->addWidget(m_detail);
  row->addLayout(texts, 1);
  m_chip = new Chip;
  m_chip->hide();
  m_button = makeButton(tr("Cancel"));
  row->addWidget(m_chip);
  row->addWidget(m_button);
  setAccessibleName(QFileInfo(out).fileName());
  connect(m_button, &QPushButton::clicked, this, [this] {
    if (m_state == State::running)
      cancel();
    else
      QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(m_out).absolutePath()));
  });
  connect(m_engine, &EngineProcess::message, this, [this](const QJsonObject& line) {
    if (line.value(QLatin1String("type")).toString() != QLatin1String("progress")) return;
    const qint64 done = line.value(QLatin1String("done")).toInteger(),
                 total = line.value(QLatin1String("total")).toInteger();
    if (total > 0) m_bar->setValue(static_cast<int>(done * 1000 / total));
    m_detail->setText(tr("Tensor %1 of %2").arg(countText(done), countText(total)));
  });
  connect(m_engine, &EngineProcess::ended, this, &ExportRow::finish);
}

void ExportRow::start(const QStringList& arguments) {
  m_engine->start(arguments);
}

void ExportRow::cancel() {
  m_state = State::cancelled;
  m_button->setEnabled(false);
  m_engine->stop();
}

void ExportRow::finish(int exitCode, const QString& why) {
  if (m_state == State::running) m_state = exitCode == 0 ? State::done : State::failed;
  m_bar->hide();
  m_chip->show();
  m_button->setEnabled(true);
  switch (m_state) {
    case State::done:
      m_chip->setState(tr("Written"), Tone::success, QStringLiteral("check"));
      m_detail->setText(
          QStringLiteral("%1 · %2 · %3")
              .arg(bytesText(m_bytes), shortPath(m_out), dayTimeText(QDateTime::currentDateTime())));
      setButtonKind(m_button, ButtonKind::quiet);
      m_button->setText(tr("Show the folder"));
      break;
    case State::cancelled:
      m_chip->setState(tr("Cancelled"), Tone::neutral, QStringLiteral("stop"));
      m_detail->setText(tr("Nothing was left behind."));
      m_button->hide();
      break;
    default:
      m_problem = why;
      m_chip->setState(tr("Failed"), Tone::danger, QStringLiteral("error"));
      m_detail->setText(why);
      m_button->hide();
  }
  emit ended();
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/status_item.h"

#include <QHBoxLayout>

#include "ui/widgets/label.h"

namespace lorikeet::ui {

StatusItem::StatusItem(const QString& iconName, QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(10, 0, 10, 0);
  row->setSpacing(6);
  row->addWidget(new IconLabel(iconName, 16));
  m_label = new Label({}, Role::caption, &Palette::text2);
  row->addWidget(m_label);
  hide();
}

void StatusItem::setText(const QString& text) {
  m_label->setText(text);
  setVisible(!text.isEmpty());
}

}  // namespace lorikeet::ui

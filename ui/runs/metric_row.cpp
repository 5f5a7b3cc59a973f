// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/metric_row.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

MetricRow::MetricRow(const QStringList& captions, std::vector<int> always, QWidget* parent) : QFrame(parent) {
  setProperty("kind", QStringLiteral("card"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 8, 16, 8);
  row->setSpacing(16);
  for (int i = 0; i < captions.size(); ++i) {
    Figure figure;
    figure.always = std::find(always.begin(), always.end(), i) != always.end();
    figure.box = new QWidget;
    auto* inside = new QHBoxLayout(figure.box);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(16);
    auto* column = new QVBoxLayout;
    column->setSpacing(0);
    figure.value = new Label(unknownText(), Role::figure);
    // Wide enough for what it will show, so that nothing jumps.
    figure.value->setMinimumWidth(
        QFontMetrics(roleFont(Role::figure)).horizontalAdvance(QStringLiteral("0.000")));
    column->addWidget(new Label(captions[i], Role::caption, &Palette::text3));
    column->addWidget(figure.value);
    inside->addLayout(column);
    inside->addWidget(verticalLine());
    row->addWidget(figure.box);
    figure.box->setAccessibleName(captions[i]);
    m_figures.push_back(figure);
  }
  row->addStretch(1);
  auto* progress = new QVBoxLayout;
  progress->setSpacing(8);
  auto* texts = new QHBoxLayout;
  texts->setSpacing(12);
  m_strong = new Label({}, Role::strong);
  m_rest = new Label({}, Role::body, &Palette::text2);
  m_rest->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  texts->addWidget(m_strong);
  texts->addStretch();
  texts->addWidget(m_rest);
  m_bar = new ThinBar;
  m_bar->setMinimumWidth(196);
  progress->addLayout(texts);
  progress->addWidget(m_bar);
  row->addLayout(progress);
}

void MetricRow::setValue(int index, const QString& text) {
  Figure& figure = m_figures.at(static_cast<std::size_t>(index));
  if (figure.value->text() == text) return;
  figure.value->setText(text);
  // A figure may grow, it never shrinks.
  figure.value->setMinimumWidth(std::max(figure.value->minimumWidth(), figure.value->sizeHint().width()));
}

QString MetricRow::value(int index) const {
  return m_figures.at(static_cast<std::size_t>(index)).value->text();
}

void MetricRow::setProgress(double fraction, const QString& strong, const QString& rest, bool danger) {
  m_bar->setValue(static_cast<int>(fraction * 1000));
  m_bar->setAccessibleName(strong + QStringLiteral(", ") + rest);
  m_strong->setText(strong);
  m_rest->setText(rest);
  m_rest->setInk(danger ? &Palette::danger : &Palette::text2);
}

void MetricRow::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  const bool narrow = width() < 1000;
  for (const Figure& figure : m_figures) figure.box->setVisible(!narrow || figure.always);
}

}  // namespace lorikeet::ui

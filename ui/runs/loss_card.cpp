// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/loss_card.h"

#include <QAbstractButton>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMenu>
#include <QPainter>
#include <QSaveFile>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/charts/loss_chart.h"
#include "ui/widgets/icons.h"

namespace lorikeet::ui {
namespace {

/// A swatch and its name; off, the series is hidden.
class LegendItem : public QAbstractButton {
 public:
  LegendItem(const QString& name, Token colour) : m_colour(colour) {
    setText(name);
    setCheckable(true);
    setChecked(true);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(name);
  }
  QSize sizeHint() const override {
    const QFontMetrics metrics(roleFont(Role::caption));
    return {metrics.horizontalAdvance(text()) + 26, std::max(24, metrics.height() + 4)};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(
        QPen(isChecked() ? tokens().*m_colour : tokens().border, 2.5, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(1.5, height() / 2.0), QPointF(14.5, height() / 2.0));
    QFont font = roleFont(Role::caption);
    font.setStrikeOut(!isChecked());
    painter.setFont(font);
    painter.setPen(isChecked() ? tokens().text2 : tokens().text3);
    painter.drawText(rect().adjusted(22, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, text());
  }

 private:
  Token m_colour;
};

}  // namespace

LossCard::LossCard(QWidget* parent) : Card(tr("Loss"), parent), m_chart(new LossChart) {
  body()->setContentsMargins(16, 8, 12, 8);
  body()->setSpacing(4);
  struct Item {
    QString name;
    Token colour;
    LossChart::Series series;
  };
  int at = 1;
  for (const Item& item : {Item{tr("Raw"), &Palette::raw, LossChart::Series::raw},
                           Item{tr("Smoothed"), &Palette::series1, LossChart::Series::smoothed},
                           Item{tr("Evaluation"), &Palette::series2, LossChart::Series::evaluation}}) {
    auto* legend = new LegendItem(item.name, item.colour);
    head()->insertSpacing(at++, 4);
    head()->insertWidget(at++, legend);
    connect(legend, &QAbstractButton::toggled, m_chart,
            [this, series = item.series](bool on) { m_chart->setSeriesVisible(series, on); });
  }
  m_smoothingWord = new Label(tr("Smoothing"), Role::caption, &Palette::text2);
  m_smoothing = new QSlider(Qt::Horizontal);
  m_smoothing->setRange(0, 99);
  m_smoothing->setValue(90);
  m_smoothing->setFixedWidth(88);
  m_smoothing->setAccessibleName(tr("Smoothing"));
  auto* axis = new ComboBox;
  axis->addItems({tr("By step"), tr("By epoch"), tr("By tokens"), tr("By time")});
  axis->setAccessibleName(tr("What the x axis counts"));
  QToolButton* all = makeIconButton(QStringLiteral("zoom"), tr("Show all (Home)"));
  QToolButton* more = makeIconButton(QStringLiteral("more"), tr("More"));
  makeMenu(more);
  head()->addWidget(m_smoothingWord);
  for (QWidget* widget : std::initializer_list<QWidget*>{m_smoothing, axis, all, more})
    head()->addWidget(widget);
  body()->addWidget(m_chart, 1);
  connect(m_smoothing, &QSlider::valueChanged, this, [this](int value) {
    m_smoothedByHand = true;
    m_chart->setSmoothing(value / 100.0);
  });
  connect(axis, &QComboBox::currentIndexChanged, this,
          [this](int index) { m_chart->setAxis(static_cast<RunAxis>(index)); });
  connect(all, &QToolButton::clicked, m_chart, &LossChart::showAll);
}

void LossCard::suggestSmoothing(std::int64_t totalSteps) {
  if (m_smoothedByHand || totalSteps <= 0) return;
  const double window = std::clamp(static_cast<double>(totalSteps) / 30, 1.0, 50.0);
  const QSignalBlocker quiet(m_smoothing);
  m_smoothing->setValue(static_cast<int>(std::lround((1 - 1 / window) * 100)));
  if (m_chart->series().smoothing() != m_smoothing->value() / 100.0)
    m_chart->setSmoothing(m_smoothing->value() / 100.0);
}

void LossCard::makeMenu(QToolButton* button) {
  auto* menu = new QMenu(button);
  QAction* log = menu->addAction(tr("Logarithmic loss axis"));
  log->setCheckable(true);
  connect(log, &QAction::toggled, m_chart, &LossChart::setLogarithmic);
  menu->addSeparator();
  connect(menu->addAction(icon(QStringLiteral("picture")), tr("Save as picture…")), &QAction::triggered, this,
          [this] { save(tr("Save the chart as a picture"), tr("Picture (*.png)"), QStringLiteral("png")); });
  connect(menu->addAction(icon(QStringLiteral("file")), tr("Save as PDF…")), &QAction::triggered, this,
          [this] { save(tr("Save the chart as PDF"), tr("PDF (*.pdf)"), QStringLiteral("pdf")); });
  connect(menu->addAction(icon(QStringLiteral("dataset")), tr("Save values as CSV…")), &QAction::triggered,
          this, [this] { save(tr("Save the values"), tr("CSV (*.csv)"), QStringLiteral("csv")); });
  button->setMenu(menu);
  button->setPopupMode(QToolButton::InstantPopup);
}

void LossCard::save(const QString& title, const QString& filter, const QString& suffix) {
  QString path = QFileDialog::getSaveFileName(this, title, QStringLiteral("loss.") + suffix, filter);
  if (path.isEmpty()) return;
  bool good = false;
  if (suffix == QLatin1String("png")) {
    good = m_chart->savePicture(path);
  } else if (suffix == QLatin1String("pdf")) {
    good = m_chart->savePdf(path);
  } else {
    QSaveFile file(path);
    good = file.open(QIODevice::WriteOnly) && file.write(m_chart->csv().toUtf8()) >= 0 && file.commit();
  }
  if (!good) emit saveFailed(path);
}

void LossCard::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  m_smoothingWord->setVisible(width() > 700);
}

}  // namespace lorikeet::ui

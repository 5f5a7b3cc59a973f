// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/step_page.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

#include "ui/widgets/label.h"

namespace lorikeet::ui {

StepPage::StepPage(WizardModel* model, const QString& title, const QString& sentence, QWidget* parent)
    : QWidget(parent), m_model(model), m_titleText(title) {
  m_body = new QVBoxLayout(this);
  m_body->setContentsMargins(0, 0, 0, 0);
  m_body->setSpacing(12);
  m_titleRow = new QHBoxLayout;
  m_titleRow->setSpacing(16);
  m_sentence = new Label(sentence, Role::body, &Palette::text2);
  m_sentence->setElided(true);
  auto* heading = new Label(title, Role::title);
  heading->setMinimumHeight(32);
  m_titleRow->addWidget(heading);
  m_titleRow->addWidget(m_sentence, 1);
  m_body->addLayout(m_titleRow);
  setAccessibleName(title);
}

void StepPage::setSentence(const QString& sentence) {
  m_sentence->setText(sentence);
  m_sentence->setToolTip({});
}

void StepPage::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_sentence->setVisible(width() > 720);
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/sample_strip.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/runs/word_diff.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {

SampleStrip::SampleStrip(QWidget* parent) : Card(tr("Sample answers"), parent) {
  m_prompts = new ComboBox;
  m_prompts->setAccessibleName(tr("Prompt"));
  m_prompts->setMinimumWidth(240);
  m_prompts->setMaximumWidth(480);
  m_prompts->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  head()->insertWidget(1, m_prompts, 1);
  head()->addWidget(
      new Label(tr("Changes against the answer before are marked"), Role::caption, &Palette::text2));
  m_earlier = makeIconButton(QStringLiteral("chevron-left"), tr("Earlier answers"));
  m_later = makeIconButton(QStringLiteral("chevron-right"), tr("Later answers"));
  head()->addWidget(m_earlier);
  head()->addWidget(m_later);
  m_row = new QHBoxLayout;
  m_row->setSpacing(8);
  body()->addLayout(m_row, 1);
  body()->setContentsMargins(16, 8, 16, 12);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  connect(m_prompts, &QComboBox::currentIndexChanged, this, [this] {
    m_first = -1;
    rebuild();
  });
  connect(m_earlier, &QToolButton::clicked, this, [this] {
    m_first = std::max(0, (m_first < 0 ? static_cast<int>(m_ofPrompt.size()) - shownCards() : m_first) - 1);
    rebuild();
  });
  connect(m_later, &QToolButton::clicked, this, [this] {
    if (m_first >= 0 && ++m_first + shownCards() >= static_cast<int>(m_ofPrompt.size())) m_first = -1;
    rebuild();
  });
  hide();
}

void SampleStrip::setSamples(const std::vector<SampleEvent>& samples) {
  const auto same = [](const SampleEvent& a, const SampleEvent& b) {
    return a.step == b.step && a.prompt == b.prompt && a.answer == b.answer;
  };
  if (std::equal(samples.begin(), samples.end(), m_all.begin(), m_all.end(), same)) return;
  m_all = samples;
  {
    const QSignalBlocker quiet(m_prompts);
    const QString chosen = m_prompts->currentText();
    m_prompts->clear();
    for (const SampleEvent& sample : m_all) {
      const QString prompt = fromUtf8(sample.prompt).simplified();
      if (m_prompts->findText(prompt) < 0) m_prompts->addItem(prompt);
    }
    m_prompts->setCurrentIndex(std::max(0, m_prompts->findText(chosen)));
  }
  setVisible(!m_all.empty());
  rebuild();
}

void SampleStrip::setCursorStep(std::int64_t step) {
  m_cursor = step;
  rebuild();
}

void SampleStrip::rebuild() {
  for (QWidget* card : m_cards) discard(card);
  m_cards.clear();
  m_ofPrompt.clear();
  for (const SampleEvent& sample : m_all) {
    if (fromUtf8(sample.prompt).simplified() == m_prompts->currentText()) m_ofPrompt.push_back(sample);
  }
  const int all = static_cast<int>(m_ofPrompt.size());
  const int room = std::clamp((width() - 24) / 240, 1, 4);
  int chosen = -1;
  for (int i = 0; m_cursor >= 0 && i < all; ++i) {
    if (m_ofPrompt[static_cast<std::size_t>(i)].step <= m_cursor) chosen = i;
  }
  int first = m_first >= 0 ? m_first : std::max(0, all - room);
  if (chosen >= 0) first = std::clamp(first, std::max(0, chosen - room + 1), chosen);
  for (int i = first; i < std::min(all, first + room); ++i) {
    QWidget* card = makeCard(static_cast<std::size_t>(i), i == chosen);
    m_cards.push_back(card);
    m_row->addWidget(card, 1);
  }
  m_earlier->setEnabled(first > 0);
  m_later->setEnabled(first + room < all);
}

QWidget* SampleStrip::makeCard(std::size_t index, bool chosen) const {
  const SampleEvent& sample = m_ofPrompt[index];
  QFrame* card = makeFrame(chosen ? "info" : "card");
  auto* column = new QVBoxLayout(card);
  column->setContentsMargins(12, 8, 12, 8);
  column->setSpacing(4);
  auto* top = new QHBoxLayout;
  top->addWidget(new Label(sample.step == 0 ? tr("Base, step 0") : tr("Step %1").arg(countText(sample.step)),
                           Role::strong));
  top->addStretch();
  const QString note = chosen                           ? tr("Under the cursor")
                       : sample.step == 0               ? tr("Before training")
                       : index + 1 == m_ofPrompt.size() ? tr("Newest")
                                                        : QString();
  top->addWidget(new Label(note, chosen ? Role::captionStrong : Role::caption,
                           chosen ? &Palette::accentText : &Palette::text3));
  column->addLayout(top);
  const QString answer = fromUtf8(sample.answer);
  Label* text = wrapped({}, Role::body, &Palette::text);
  text->setTextFormat(Qt::RichText);
  text->setText(index == 0 ? answer.simplified().toHtmlEscaped()
                           : diffHtml(wordDiff(fromUtf8(m_ofPrompt[index - 1].answer), answer)));
  text->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  text->setTextInteractionFlags(Qt::TextSelectableByMouse);
  // Whole lines only: the rest is in the tooltip.
  text->setFixedHeight(3 * text->fontMetrics().lineSpacing());
  text->setMinimumWidth(80);
  text->setToolTip(QStringLiteral("<p>%1</p>").arg(answer.toHtmlEscaped()));
  column->addWidget(text);
  card->setMinimumWidth(160);
  card->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  return card;
}

void SampleStrip::resizeEvent(QResizeEvent* event) {
  Card::resizeEvent(event);
  if (std::clamp((width() - 24) / 240, 1, 4) != shownCards() && !m_ofPrompt.empty()) rebuild();
}

void SampleStrip::changeEvent(QEvent* event) {
  Card::changeEvent(event);
  if (event->type() == QEvent::StyleChange && !m_ofPrompt.empty()) rebuild();  // the marks carry colours
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/navigation.h"

#include <QButtonGroup>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/engine/run_store.h"
#include "ui/runs/run_words.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/marks.h"

namespace lorikeet::ui {

QString Navigation::word(Place place) {
  switch (place) {
    case Place::home:
      return tr("Home");
    case Place::train:
      return tr("Train");
    case Place::runs:
      return tr("Runs");
    case Place::library:
      return tr("Library");
    case Place::chat:
      return tr("Chat");
    case Place::publish:
      return tr("Export");
    case Place::settings:
      return tr("Settings");
    case Place::help:
      return tr("Help");
  }
  return {};
}

QString Navigation::iconName(Place place) {
  static constexpr const char* names[kPlaces] = {"home", "train",  "run",      "library",
                                                 "chat", "export", "settings", "help"};
  return QString::fromLatin1(names[static_cast<int>(place)]);
}

Navigation::Navigation(QWidget* parent) : QFrame(parent), m_group(new QButtonGroup(this)) {
  setProperty("kind", QStringLiteral("nav"));
  setFixedWidth(81);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 8, 0, 8);
  column->setSpacing(0);
  for (int i = 0; i < static_cast<int>(Place::settings); ++i) addPlace(column, static_cast<Place>(i));
  column->addStretch();
  m_ring = new JobRing;
  m_ring->hide();
  column->addWidget(m_ring);
  addPlace(column, Place::settings);
  addPlace(column, Place::help);
  setPlace(Place::home);
  connect(m_ring, &JobRing::clicked, this, &Navigation::ringClicked);
  connect(m_group, &QButtonGroup::idClicked, this,
          [this](int id) { emit placeChosen(static_cast<Place>(id)); });
}

void Navigation::addPlace(QVBoxLayout* column, Place place) {
  auto* button = new QToolButton;
  button->setProperty("nav", true);
  button->setText(word(place));
  button->setIcon(icon(iconName(place), &Palette::text2, &Palette::accentText));
  button->setIconSize({24, 24});
  button->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
  button->setCheckable(true);
  button->setFocusPolicy(Qt::TabFocus);
  button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  button->setFixedHeight(60);
  button->setAccessibleName(word(place));
  m_group->addButton(button, static_cast<int>(place));
  m_buttons.push_back(button);
  column->addWidget(button);
}

void Navigation::setPlace(Place place) {
  button(place)->setChecked(true);
}

void Navigation::showRun(const RunSummary* run) {
  m_ring->setVisible(run != nullptr);
  if (!run) return;
  const RunWords words = runWords(*run);
  const bool waits = run->state == RunState::waiting || run->killed || run->state == RunState::failed;
  m_ring->setJob(run->state == RunState::done ? 1.0 : run->fraction(), words.state,
                 waits                          ? &Palette::danger
                 : run->state == RunState::done ? &Palette::success
                                                : &Palette::beak);
}

}  // namespace lorikeet::ui

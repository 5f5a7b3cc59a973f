// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings_page.h"

#include <QDesktopServices>
#include <QGridLayout>
#include <QScrollArea>
#include <QSettings>
#include <QUrl>

#include "ui/home/machine_card.h"
#include "ui/widgets/choice.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"
#include "ui/widgets/theme.h"

namespace lorikeet::ui {
namespace {

const QStringList kThemes{QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")};
const QStringList kLanguages{QStringLiteral("system"), QStringLiteral("en"), QStringLiteral("bn")};

void addRow(QGridLayout* grid, int row, const QString& name, QWidget* control, const QString& hint) {
  grid->addWidget(new Label(name), row, 0);
  grid->addWidget(control, row, 1, Qt::AlignLeft | Qt::AlignVCenter);
  grid->addWidget(wrapped(hint, Role::caption), row, 2);
}

QGridLayout* makeGrid() {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(8);
  grid->setColumnMinimumWidth(0, 168);
  grid->setColumnStretch(2, 1);
  return grid;
}

}  // namespace

SettingsPage::SettingsPage(const StudioContext& context, QWidget* parent) : Page(parent), m_context(context) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  outer->setSpacing(0);
  QFrame* headFrame = makeFrame("head");
  auto* headRow = new QHBoxLayout(headFrame);
  headRow->setContentsMargins(24, 0, 24, 0);
  headRow->addWidget(new PageHead(tr("Settings")));
  outer->addWidget(headFrame);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  auto* inside = new QWidget;
  auto* across = new QHBoxLayout(inside);
  across->setContentsMargins(24, 16, 24, 16);
  auto* form = new QWidget;
  form->setMaximumWidth(1040);
  auto* column = new QVBoxLayout(form);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  column->addWidget(makeAppearance());
  column->addWidget(makeFolders());
  column->addWidget(new MachineCard(context.devices));
  column->addWidget(makeAbout());
  column->addStretch();
  across->addWidget(form, 10);
  across->addStretch(1);
  scroll->setWidget(inside);
  outer->addWidget(scroll, 1);
}

QWidget* SettingsPage::makeAppearance() {
  auto* card = new Card(tr("Appearance"));
  QGridLayout* grid = makeGrid();
  m_theme = new Segments({tr("System"), tr("Light"), tr("Dark")});
  m_theme->setAccessibleName(tr("Theme"));
  m_theme->setCurrent(static_cast<int>(m_context.theme->choice()));
  // The names of languages are written in the language itself.
  m_language = new Segments({tr("System"), QStringLiteral("English"), QStringLiteral("বাংলা")});
  m_language->setAccessibleName(tr("Language"));
  m_language->setCurrent(static_cast<int>(std::max<qsizetype>(
      0, kLanguages.indexOf(
             m_context.settings->value(QStringLiteral("look/language"), kLanguages[0]).toString()))));
  addRow(grid, 0, tr("Theme"), m_theme, tr("System follows the desktop's light or dark setting."));
  addRow(grid, 1, tr("Language"), m_language, tr("Names of models, paths and commands stay as they are."));
  card->body()->addLayout(grid);
  connect(m_theme, &Segments::chosen, this, [this](int index) {
    m_context.settings->setValue(QStringLiteral("look/theme"), kThemes[index]);
    m_context.theme->setChoice(static_cast<ThemeChoice>(index));
  });
  connect(m_language, &Segments::chosen, this, [this](int index) { emit languageChosen(kLanguages[index]); });
  return card;
}

QWidget* SettingsPage::makeFolders() {
  auto* card = new Card(tr("Folders"));
  QPushButton* open = makeButton(tr("Show the folder"), ButtonKind::quiet, QStringLiteral("folder"));
  card->head()->addWidget(open);
  QGridLayout* grid = makeGrid();
  auto* home = new Label(shortPath(m_context.paths.home), Role::mono);
  home->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* engine = new Label(shortPath(m_context.paths.engine), Role::mono);
  engine->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  addRow(grid, 0, tr("Home"), home,
         tr("Runs, library and exports lie here. LORIKEET_HOME chooses another folder."));
  addRow(grid, 1, tr("Engine"), engine, tr("Trains, chats and exports in a process of its own."));
  card->body()->addLayout(grid);
  connect(open, &QPushButton::clicked, this,
          [this] { QDesktopServices::openUrl(QUrl::fromLocalFile(m_context.paths.home)); });
  return card;
}

QWidget* SettingsPage::makeAbout() {
  auto* card = new Card(tr("About"));
  card->body()->addWidget(
      new Label(QStringLiteral("Lorikeet %1").arg(QCoreApplication::applicationVersion()), Role::strong));
  card->body()->addWidget(
      wrapped(tr("The studio is free software under the GNU General Public License, version 3 or later; the "
                 "engine is under the "
                 "Apache License 2.0. Nothing is sent anywhere.")));
  return card;
}

QWidget* SettingsPage::firstFocus() const {
  return m_theme;
}

}  // namespace lorikeet::ui

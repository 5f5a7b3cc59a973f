// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

namespace lorikeet::ui {

class Segments;

/// How the studio looks and where it keeps things. Changes act at once.
class SettingsPage : public Page {
  Q_OBJECT
 public:
  explicit SettingsPage(const StudioContext& context, QWidget* parent = nullptr);
  QWidget* firstFocus() const override;
  Segments* theme() const { return m_theme; }
  Segments* language() const { return m_language; }

 signals:
  void languageChosen(const QString& language);

 private:
  QWidget* makeAppearance();
  QWidget* makeFolders();
  QWidget* makeAbout();
  StudioContext m_context;
  Segments* m_theme;
  Segments* m_language;
};

}  // namespace lorikeet::ui

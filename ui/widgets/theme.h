// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTemporaryDir>

#include "ui/widgets/palette.h"

class QApplication;
class QDBusVariant;

namespace lorikeet::ui {

enum class ThemeChoice { system, light, dark };

/// Sets style, palette, fonts and style sheet of the application; follows the desktop's light or dark setting
/// live. After a change every widget gets QEvent::StyleChange: that is where painted widgets and labels take
/// new colours.
class Theme : public QObject {
  Q_OBJECT
 public:
  explicit Theme(QApplication& application);

  ThemeChoice choice() const { return m_choice; }
  void setChoice(ThemeChoice choice);
  bool isDark() const { return tokens().dark; }

 signals:
  void changed();

 private slots:
  void onDesktopSetting(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  void askDesktop();
  void setSystemDark(bool dark);
  void apply();
  QString styleSheet();

  QApplication& m_application;
  QTemporaryDir m_images;
  ThemeChoice m_choice = ThemeChoice::system;
  bool m_systemDark = false;
  bool m_applied = false;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "core/train/settings.h"

class QGridLayout;

namespace lorikeet::ui {

class Label;
class WizardModel;

/// A grid of settings made from the settings table: label, control, meaning, effect on memory. A value that
/// is refused keeps its field marked with the sentence under it.
class SettingsForm : public QWidget {
  Q_OBJECT
 public:
  SettingsForm(WizardModel* model, const std::vector<std::string>& keys, QWidget* parent = nullptr);
  bool hasInvalid() const;
  QWidget* control(const std::string& key) const;
  void setRowVisible(const std::string& key, bool visible);

 signals:
  void validityChanged();

 private:
  struct Field {
    const SettingInfo* info = nullptr;
    QWidget* control = nullptr;
    Label* label = nullptr;
    Label* hint = nullptr;
    Label* effect = nullptr;
    Label* problem = nullptr;
    std::function<void()> show;  ///< writes the current value into the control
  };
  void addField(QGridLayout* grid, int row, const SettingInfo& info);
  QWidget* makeControl(Field& field);
  void take(const SettingInfo& info, const QString& text);
  void update();
  Field* find(const std::string& key);
  WizardModel* m_model;
  std::vector<Field> m_fields;
  bool m_showing = false;
};

}  // namespace lorikeet::ui

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <optional>

#include "core/publish/export.h"
#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QLineEdit;
class QStackedWidget;

namespace lorikeet::ui {

class Banner;
class Card;
class ComboBox;
class ExportRow;
class TargetCard;
struct PlanOutcome;

/// Takes an adapter out of the library: as it is for PEFT, or merged into its base.
class ExportPage : public Page {
  Q_OBJECT
 public:
  explicit ExportPage(const StudioContext& context, QWidget* parent = nullptr);

  void shown() override;
  QPushButton* primaryButton() const override { return m_export; }
  QWidget* firstFocus() const override;
  void chooseAdapter(const QString& id);
  void chooseTarget(int target);
  QLineEdit* nameField() const { return m_name; }
  QLineEdit* folderField() const { return m_folder; }
  ExportRow* newestRow() const { return m_rows.empty() ? nullptr : m_rows.back(); }
  Banner* banner() const { return m_banner; }
  void startExport();

 signals:
  void sampleRequested();
  void newRunRequested();

 private:
  enum Target { adapterTarget, mergedTarget, targets };
  QWidget* makeLeft();
  QWidget* makeOptions();
  QWidget* makeEmpty();
  void fillAdapters();
  void planSoon();
  void showPlan(Target target, const PlanOutcome& outcome);
  void updateOptions();
  ExportRequest request(Target target) const;
  QString outPath() const;
  StudioContext m_context;
  QStackedWidget* m_stack;
  ComboBox* m_adapter;
  Label* m_base;
  Banner* m_banner;
  std::array<TargetCard*, targets> m_cards{};
  std::array<std::optional<quint64>, targets> m_bytes;
  int m_target = adapterTarget;
  int m_planRequest = 0;
  Label* m_title;
  ComboBox* m_type;
  QWidget* m_typeRow;
  QLineEdit* m_folder;
  QLineEdit* m_name;
  Label* m_nameProblem;
  Label* m_size;
  Label* m_free;
  QPushButton* m_export;
  Card* m_list;
  QWidget* m_none;
  std::vector<ExportRow*> m_rows;
  QString m_wanted;
  bool m_nameByHand = false;
};

}  // namespace lorikeet::ui

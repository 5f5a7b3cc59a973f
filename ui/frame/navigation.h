// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <vector>

class QButtonGroup;
class QToolButton;
class QVBoxLayout;

namespace lorikeet::ui {

class JobRing;
struct RunSummary;

/// The places of the window, in the order of the navigation bar.
enum class Place { home, train, runs, library, chat, publish, settings, help };
constexpr int kPlaces = 8;

/// The bar at the left: icon over word, and above Settings the ring of the run that lives.
class Navigation : public QFrame {
  Q_OBJECT
 public:
  explicit Navigation(QWidget* parent = nullptr);
  void setPlace(Place place);
  /// nullptr hides the ring.
  void showRun(const RunSummary* run);
  QToolButton* button(Place place) const { return m_buttons[static_cast<std::size_t>(place)]; }
  static QString word(Place place);
  static QString iconName(Place place);

 signals:
  void placeChosen(lorikeet::ui::Place place);
  void ringClicked();

 private:
  void addPlace(QVBoxLayout* column, Place place);
  QButtonGroup* m_group;
  std::vector<QToolButton*> m_buttons;
  JobRing* m_ring;
};

}  // namespace lorikeet::ui

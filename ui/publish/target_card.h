// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>

namespace lorikeet::ui {

/// What an adapter can be exported as: icon, name, for whom, size.
class TargetCard : public QAbstractButton {
  Q_OBJECT
 public:
  TargetCard(QString iconName, const QString& name, QString sentence, QWidget* parent = nullptr);
  void setFigures(const QString& size, const QString& files);
  QSize sizeHint() const override { return {260, 112}; }
  QSize minimumSizeHint() const override { return {200, 112}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString m_icon, m_sentence, m_size, m_files;
};

}  // namespace lorikeet::ui

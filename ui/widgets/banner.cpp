// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/banner.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "kernels/base/error.h"
#include "ui/widgets/controls.h"
#include "ui/widgets/format.h"

namespace lorikeet::ui {
namespace {

struct Look {
  const char* kind;
  const char* icon;
  Token ink;
};

Look lookOf(BannerKind kind) {
  switch (kind) {
    case BannerKind::info:
      return {"info", "info", &Palette::accentText};
    case BannerKind::success:
      return {"success", "success", &Palette::success};
    case BannerKind::warning:
      return {"warning", "warning", &Palette::warning};
    case BannerKind::danger:
      return {"danger", "error", &Palette::danger};
    case BannerKind::coach:
      return {"coach", "coach", &Palette::accentText};
  }
  return {"info", "info", &Palette::accentText};
}

}  // namespace

Problem problemOf(const Error& error) {
  return {fromUtf8(error.message()), shortPath(fromUtf8(error.where())), fromUtf8(error.hint())};
}

Problem currentProblem() {
  try {
    throw;
  } catch (const Error& error) {
    return problemOf(error);
  } catch (const std::exception& error) {
    return {QString::fromUtf8(error.what()), {}, {}};
  }
}

Banner::Banner(QWidget* parent) : QFrame(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(13, 9, 13, 9);
  row->setSpacing(12);
  m_icon = new IconLabel(QStringLiteral("info"), 20);
  m_sentence = wrapped({}, Role::strong, &Palette::text);
  m_detail = wrapped({}, Role::body, &Palette::text2);
  for (Label* label : {m_sentence, m_detail}) label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* texts = new QVBoxLayout;
  texts->setSpacing(2);
  texts->addWidget(m_sentence);
  texts->addWidget(m_detail);
  m_buttons = new QHBoxLayout;
  m_buttons->setSpacing(12);
  row->addWidget(m_icon, 0, Qt::AlignTop);
  row->addLayout(texts, 1);
  row->addLayout(m_buttons);
  QFrame::hide();
}

void Banner::show(BannerKind kind, const QString& sentence, const QString& detail) {
  m_kind = kind;
  const Look look = lookOf(kind);
  setLook(this, "kind", QString::fromLatin1(look.kind));
  m_icon->setIcon(QString::fromLatin1(look.icon), look.ink);
  m_sentence->setText(sentence);
  m_sentence->setRole(detail.isEmpty() && kind != BannerKind::danger ? Role::body : Role::strong);
  m_detail->setText(detail);
  m_detail->setVisible(!detail.isEmpty());
  m_icon->setContentsMargins(0, 0, 0, 0);
  setAccessibleName(sentence);
  setAccessibleDescription(detail);
  QFrame::show();
}

void Banner::showProblem(const Problem& problem) {
  QStringList detail;
  if (!problem.where.isEmpty()) detail << problem.where;
  if (!problem.hint.isEmpty()) detail << problem.hint;
  show(BannerKind::danger, problem.what, detail.join(QStringLiteral(" · ")));
}

void Banner::clear() {
  QFrame::hide();
}

void Banner::setButtons(const QList<QPushButton*>& buttons) {
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    discard(item->widget());
    delete item;
  }
  for (QPushButton* button : buttons) m_buttons->addWidget(button, 0, Qt::AlignVCenter);
}

}  // namespace lorikeet::ui

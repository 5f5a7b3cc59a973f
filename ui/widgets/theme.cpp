// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/theme.h"

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include "ui/widgets/fonts.h"
#include "ui/widgets/icons.h"
#include "ui/widgets/lorikeet_style.h"

namespace lorikeet::ui {
namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kSpace = QStringLiteral("org.freedesktop.appearance");
const QString kKey = QStringLiteral("color-scheme");

/// The portal wraps its answer in one or two variants.
QVariant unwrap(QVariant value) {
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value;
}

}  // namespace

Theme::Theme(QApplication& application) : QObject(&application), m_application(application) {
  loadFonts();
  application.setStyle(new LorikeetStyle);
  application.setFont(roleFont(Role::body));
  m_systemDark = application.palette().color(QPalette::WindowText).lightness() >
                 application.palette().color(QPalette::Window).lightness();
  askDesktop();
  apply();
}

void Theme::setChoice(ThemeChoice choice) {
  if (m_choice == choice) return;
  m_choice = choice;
  apply();
}

void Theme::askDesktop() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), this,
              SLOT(onDesktopSetting(QString, QString, QDBusVariant)));
  QDBusMessage call = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
  call << kSpace << kKey;
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* finished) {
    const QDBusPendingReply<QVariant> reply = *finished;
    if (!reply.isError()) setSystemDark(unwrap(reply.value()).toUInt() == 1);
    finished->deleteLater();
  });
}

void Theme::onDesktopSetting(const QString& space, const QString& key, const QDBusVariant& value) {
  if (space == kSpace && key == kKey) setSystemDark(unwrap(value.variant()).toUInt() == 1);
}

void Theme::setSystemDark(bool dark) {
  if (m_systemDark == dark) return;
  m_systemDark = dark;
  if (m_choice == ThemeChoice::system) apply();
}

void Theme::apply() {
  const bool dark = m_choice == ThemeChoice::dark || (m_choice == ThemeChoice::system && m_systemDark);
  if (m_applied && tokens().dark == dark) return;
  m_applied = true;
  setTokens(dark ? darkPalette() : lightPalette());
  m_application.setPalette(toQPalette(tokens()));
  m_application.setStyleSheet(styleSheet());
  emit changed();
}

QString Theme::styleSheet() {
  QFile file(QStringLiteral(":/styles/lorikeet.qss"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QString sheet = QString::fromUtf8(file.readAll());

  // The style sheet can only name files, so each glyph it uses is written once per theme in the colour it
  // needs.
  static const QRegularExpression image(QStringLiteral("@image:([a-z-]+)"));
  for (auto match = image.match(sheet); match.hasMatch(); match = image.match(sheet)) {
    const QString name = match.captured(1);
    const QString path =
        m_images.filePath(QStringLiteral("%1-%2.svg").arg(name, tokens().dark ? "dark" : "light"));
    QFile glyph(path);
    if (!QFileInfo::exists(path) && glyph.open(QIODevice::WriteOnly))
      glyph.write(tintedSvg(name, tokens().text2));
    glyph.close();
    sheet.replace(match.captured(0), path);
  }
  static const QRegularExpression token(QStringLiteral("@([a-z_0-9]+)"));
  QString result;
  qsizetype from = 0;
  for (auto matches = token.globalMatch(sheet); matches.hasNext();) {
    const auto match = matches.next();
    result += QStringView(sheet).mid(from, match.capturedStart() - from);
    from = match.capturedEnd();
    for (const NamedToken& named : namedTokens()) {
      if (match.capturedView(1) == QLatin1String(named.name)) result += (tokens().*named.token).name();
    }
  }
  result += QStringView(sheet).mid(from);
  return result;
}

}  // namespace lorikeet::ui

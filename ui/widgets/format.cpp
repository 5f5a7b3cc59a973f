// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/format.h"

#include <QCoreApplication>
#include <QDir>
#include <QLocale>
#include <array>
#include <cmath>

namespace lorikeet::ui {
namespace {

const QChar kNoBreak(0x00A0);

class FormatText {
  Q_DECLARE_TR_FUNCTIONS(FormatText)
};

QString withUnit(const QString& number, const QString& unit) {
  return number + kNoBreak + unit;
}

}  // namespace

QString unknownText() {
  return QStringLiteral("—");
}
QString countText(std::int64_t value) {
  return QLocale().toString(static_cast<qlonglong>(value));
}
QString numberText(double value, int decimals) {
  return QLocale().toString(value, 'f', decimals);
}

QString shortCountText(double value) {
  struct Unit {
    double size;
    const char* name;
  };
  static constexpr std::array<Unit, 3> units = {{{1e9, "B"}, {1e6, "M"}, {1e4, "k"}}};
  for (const Unit& unit : units) {
    if (value < unit.size) continue;
    const double scaled = value / (unit.size == 1e4 ? 1e3 : unit.size);
    return withUnit(numberText(scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0), QLatin1String(unit.name));
  }
  return countText(static_cast<std::int64_t>(std::llround(value)));
}

QString bytesText(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (value >= 1e9)
    return withUnit(numberText(value / 1e9, value < 1e10 ? 2 : value < 1e11 ? 1 : 0), QStringLiteral("GB"));
  if (value >= 1e6) return withUnit(numberText(value / 1e6, value < 1e7 ? 1 : 0), QStringLiteral("MB"));
  if (value >= 1e3) return withUnit(numberText(value / 1e3, 0), QStringLiteral("kB"));
  return withUnit(numberText(value, 0), QStringLiteral("B"));
}

QString gigabytesText(std::uint64_t bytes, int decimals) {
  return withUnit(numberText(static_cast<double>(bytes) / 1e9, decimals), QStringLiteral("GB"));
}

QString lossText(std::optional<double> loss) {
  return loss && std::isfinite(*loss) ? numberText(*loss, 3) : unknownText();
}

QString rateText(double rate) {
  if (rate == 0) return QStringLiteral("0");
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(rate)) + 1e-9));
  if (exponent >= -2 && exponent < 4) return QString::number(rate, 'g', 4);
  const double mantissa = rate / std::pow(10.0, exponent);
  return QStringLiteral("%1e%2").arg(QString::number(mantissa, 'g', 3)).arg(exponent);
}

QString durationText(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return unknownText();
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 90) return withUnit(countText(whole), FormatText::tr("s"));
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < 60) return withUnit(countText(minutes), FormatText::tr("min"));
  const QString hours = withUnit(countText(minutes / 60), FormatText::tr("h"));
  return minutes % 60 == 0 ? hours
                           : hours + kNoBreak + withUnit(countText(minutes % 60), FormatText::tr("min"));
}

QString clockText(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return unknownText();
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto two = [](std::int64_t v) {
    const QString digits = QLocale().toString(static_cast<qlonglong>(v));
    return v < 10 ? QLocale().zeroDigit() + digits : digits;
  };
  if (whole < 3600) return two(whole / 60) + QLatin1Char(':') + two(whole % 60);
  return countText(whole / 3600) + QLatin1Char(':') + two(whole / 60 % 60) + QLatin1Char(':') +
         two(whole % 60);
}

QString percentText(double fraction, int decimals) {
  return withUnit(numberText(fraction * 100, decimals), QStringLiteral("%"));
}

QString dayTimeText(const QDateTime& when) {
  if (!when.isValid()) return unknownText();
  const QDate today = QDate::currentDate();
  const QLocale locale;
  const QString time = locale.toString(when.time(), QStringLiteral("HH:mm"));
  if (when.date() == today) return FormatText::tr("Today, %1").arg(time);
  if (when.date() == today.addDays(-1)) return FormatText::tr("Yesterday, %1").arg(time);
  const QString format =
      when.date().year() == today.year() ? QStringLiteral("d MMM") : QStringLiteral("d MMM yyyy");
  return QStringLiteral("%1, %2").arg(locale.toString(when.date(), format), time);
}

QString shortPath(const QString& path) {
  const QString home = QDir::homePath();
  if (home.size() > 1 && (path == home || path.startsWith(home + QLatin1Char('/')))) {
    return QLatin1Char('~') + path.mid(home.size());
  }
  return path;
}

}  // namespace lorikeet::ui

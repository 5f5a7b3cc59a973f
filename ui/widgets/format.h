// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QString>
#include <cstdint>
#include <optional>
#include <string>

namespace lorikeet::ui {

/// Figures as people read them, by the locale in use (QLocale()); a no-break space stands before every unit.
QString countText(std::int64_t value);                     ///< "12,480"
QString shortCountText(double value);                      ///< "2.61 M", "36.9 M", "1.54 B"
QString bytesText(std::uint64_t bytes);                    ///< "9.4 MB", "1.14 GB"
QString gigabytesText(std::uint64_t bytes, int decimals);  ///< always GB, for columns
QString lossText(std::optional<double> loss);              ///< three decimals; "—" when unknown
QString rateText(double rate);                             ///< "2e-4", as one types it
QString durationText(double seconds);                      ///< "18 min", "1 h 52 min", "42 s"
QString clockText(double seconds);                         ///< "20:17", "1:02:09"
QString percentText(double fraction, int decimals = 0);
QString dayTimeText(const QDateTime& when);  ///< "Today, 09:12", "27 Nov, 18:05"
QString numberText(double value, int decimals);
QString unknownText();  ///< "—"

/// Path with the home folder written as "~".
QString shortPath(const QString& path);

inline QString fromUtf8(const std::string& text) {
  return QString::fromStdString(text);
}

}  // namespace lorikeet::ui

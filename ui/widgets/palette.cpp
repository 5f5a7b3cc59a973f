// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/palette.h"

#include <QPalette>
#include <algorithm>
#include <cmath>

namespace lorikeet::ui {
namespace {

struct Row {
  const char* name;
  Token token;
  QRgb light, dark;
};

constexpr QRgb rgb(unsigned value) {
  return 0xff000000u | value;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {"window", &Palette::window, rgb(0xF3F6F4), rgb(0x131917)},
      {"nav", &Palette::nav, rgb(0xE6ECE9), rgb(0x0D1210)},
      {"surface", &Palette::surface, rgb(0xFFFFFF), rgb(0x1B2320)},
      {"sunken", &Palette::sunken, rgb(0xECF1EE), rgb(0x111715)},
      {"hover", &Palette::hover, rgb(0xE3EAE6), rgb(0x27312D)},
      {"border", &Palette::border, rgb(0xD2DBD6), rgb(0x323E39)},
      {"border_strong", &Palette::borderStrong, rgb(0x7F8C86), rgb(0x71807A)},
      {"text", &Palette::text, rgb(0x16211D), rgb(0xE7EEEA)},
      {"text2", &Palette::text2, rgb(0x45534D), rgb(0xB4C0BA)},
      {"text3", &Palette::text3, rgb(0x5C6A64), rgb(0x94A29C)},
      {"disabled", &Palette::disabled, rgb(0x98A39E), rgb(0x65716C)},
      {"accent", &Palette::accent, rgb(0x2B4FC4), rgb(0x4666DC)},
      {"accent_hover", &Palette::accentHover, rgb(0x2443AC), rgb(0x4A69DF)},
      {"accent_press", &Palette::accentPress, rgb(0x1D378F), rgb(0x3A58C6)},
      {"on_accent", &Palette::onAccent, rgb(0xFFFFFF), rgb(0xFFFFFF)},
      {"accent_tint", &Palette::accentTint, rgb(0xE4EAFB), rgb(0x243059)},
      {"accent_text", &Palette::accentText, rgb(0x2545B0), rgb(0xA3B6FF)},
      {"focus", &Palette::focus, rgb(0x2B4FC4), rgb(0x93AAFF)},
      {"beak", &Palette::beak, rgb(0xD4490C), rgb(0xFF8A4C)},
      {"success", &Palette::success, rgb(0x1A7340), rgb(0x63CB92)},
      {"success_tint", &Palette::successTint, rgb(0xE2F2E8), rgb(0x17311F)},
      {"warning", &Palette::warning, rgb(0x855300), rgb(0xE8B650)},
      {"warning_tint", &Palette::warningTint, rgb(0xFBF0D6), rgb(0x352A10)},
      {"danger", &Palette::danger, rgb(0xB3261E), rgb(0xFF9184)},
      {"danger_tint", &Palette::dangerTint, rgb(0xFBE8E5), rgb(0x3D1D1A)},
      {"trained_bg", &Palette::trainedBg, rgb(0xFBDCC8), rgb(0x4F2B15)},
      {"trained_text", &Palette::trainedText, rgb(0x7A2A00), rgb(0xFFC9A6)},
      {"add_bg", &Palette::addBg, rgb(0xD6EEDD), rgb(0x1C4029)},
      {"del_bg", &Palette::delBg, rgb(0xF9DAD5), rgb(0x4D2521)},
      {"raw", &Palette::raw, rgb(0xA9B8EA), rgb(0x44538F)},
      {"grid", &Palette::grid, rgb(0xE4EAE7), rgb(0x26302C)},
      {"axis", &Palette::axis, rgb(0x7F8C86), rgb(0x71807A)},
      {"series1", &Palette::series1, rgb(0x2B4FC4), rgb(0x8FA6FF)},
      {"series2", &Palette::series2, rgb(0xD4490C), rgb(0xFF8A4C)},
      {"series3", &Palette::series3, rgb(0x0A7050), rgb(0x5ED6A0)},
      {"series4", &Palette::series4, rgb(0x5E2A86), rgb(0xE2C4FB)},
      {"series5", &Palette::series5, rgb(0x94793F), rgb(0xE6D558)},
      {"series6", &Palette::series6, rgb(0x1F93BD), rgb(0x3F97C2)},
      {"series7", &Palette::series7, rgb(0xB34C86), rgb(0xC9668F)},
      {"series8", &Palette::series8, rgb(0x5C6A64), rgb(0x94A29C)},
  };
  return table;
}

Palette& current() {
  static Palette palette = lightPalette();
  return palette;
}

double luminance(const QColor& colour) {
  const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) + 0.0722 * linear(colour.blueF());
}

}  // namespace

const QColor& Palette::series(int index) const {
  static constexpr std::array<Token, 8> order = {&Palette::series1, &Palette::series2, &Palette::series3,
                                                 &Palette::series4, &Palette::series5, &Palette::series6,
                                                 &Palette::series7, &Palette::series8};
  return this->*order[static_cast<std::size_t>(std::clamp(index, 0, 7))];
}

QColor Palette::area(const QColor& colour) const {
  if (!dark) return colour;
  const auto mix = [](int a, int b) { return (a * 4 + b) / 5; };
  return QColor(mix(colour.red(), surface.red()), mix(colour.green(), surface.green()),
                mix(colour.blue(), surface.blue()));
}

const std::vector<NamedToken>& namedTokens() {
  static const std::vector<NamedToken> names = [] {
    std::vector<NamedToken> list;
    for (const Row& row : rows()) list.push_back({row.name, row.token});
    return list;
  }();
  return names;
}

Palette lightPalette() {
  Palette palette;
  for (const Row& row : rows()) palette.*row.token = QColor(row.light);
  return palette;
}

Palette darkPalette() {
  Palette palette;
  palette.dark = true;
  for (const Row& row : rows()) palette.*row.token = QColor(row.dark);
  return palette;
}

const Palette& tokens() {
  return current();
}
void setTokens(const Palette& palette) {
  current() = palette;
}

QPalette toQPalette(const Palette& p) {
  QPalette q;
  q.setColor(QPalette::Window, p.window);
  q.setColor(QPalette::WindowText, p.text);
  q.setColor(QPalette::Base, p.surface);
  q.setColor(QPalette::AlternateBase, p.sunken);
  q.setColor(QPalette::Text, p.text);
  q.setColor(QPalette::PlaceholderText, p.text3);
  q.setColor(QPalette::Button, p.surface);
  q.setColor(QPalette::ButtonText, p.text);
  q.setColor(QPalette::BrightText, p.onAccent);
  q.setColor(QPalette::Highlight, p.accentTint);
  q.setColor(QPalette::HighlightedText, p.text);
  q.setColor(QPalette::Link, p.accentText);
  q.setColor(QPalette::LinkVisited, p.accentText);
  q.setColor(QPalette::ToolTipBase, p.surface);
  q.setColor(QPalette::ToolTipText, p.text);
  q.setColor(QPalette::Light, p.surface);
  q.setColor(QPalette::Midlight, p.hover);
  q.setColor(QPalette::Mid, p.border);
  q.setColor(QPalette::Dark, p.borderStrong);
  q.setColor(QPalette::Shadow, p.border);
  for (const auto role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText}) {
    q.setColor(QPalette::Disabled, role, p.disabled);
  }
  q.setColor(QPalette::Disabled, QPalette::Base, p.sunken);
  return q;
}

double contrast(const QColor& a, const QColor& b) {
  const double la = luminance(a) + 0.05, lb = luminance(b) + 0.05;
  return std::max(la, lb) / std::min(la, lb);
}

}  // namespace lorikeet::ui

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/base/half.h"

using namespace lorikeet;

namespace {

/// Value of a finite number of 16 bits from the definition of its fields.
double finite_value(std::uint16_t bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool is_finite(std::uint16_t bits, int exponent_bits) {
  const int mask = ((1 << exponent_bits) - 1) << (15 - exponent_bits);
  return (bits & mask) != mask;
}

using FromFloat = std::uint16_t (*)(float);
using ToFloat = float (*)(std::uint16_t);

/// Checks one 16-bit type against its definition: all 65,536 codes, and around every edge between neighbours.
bool follows_definition(int exponent_bits, ToFloat widen, FromFloat narrow, QString& complaint) {
  const std::uint16_t infinity =
      static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << (15 - exponent_bits));
  for (int code = 0; code < 65536; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    complaint = QString("code %1").arg(code, 4, 16);
    const float wide = widen(bits);
    if (!is_finite(bits, exponent_bits)) {
      const bool is_infinity = (bits & 0x7fff) == infinity;
      if (is_infinity ? !(std::isinf(wide) && narrow(wide) == bits) : !std::isnan(wide)) return false;
      if (!is_infinity && !std::isnan(widen(narrow(wide)))) return false;
      continue;
    }
    if (static_cast<double>(wide) != finite_value(bits, exponent_bits) || narrow(wide) != bits) return false;
    if ((bits & 0x8000) != 0) continue;
    // The edge to the next larger magnitude; beyond the largest finite number it leads to infinity.
    const double next = bits + 1 == infinity
                            ? 2 * finite_value(bits, exponent_bits) -
                                  finite_value(static_cast<std::uint16_t>(bits - 1), exponent_bits)
                            : finite_value(static_cast<std::uint16_t>(bits + 1), exponent_bits);
    const auto edge = static_cast<float>((static_cast<double>(wide) + next) / 2);
    const auto up = static_cast<std::uint16_t>(bits + 1);
    const std::uint16_t even = (bits & 1) == 0 ? bits : up;
    if (narrow(edge) != even || narrow(-edge) != static_cast<std::uint16_t>(even | 0x8000)) return false;
    if (narrow(std::nextafter(edge, 0.0f)) != bits) return false;
    if (narrow(std::nextafter(edge, std::numeric_limits<float>::infinity())) != up) return false;
  }
  return true;
}

}  // namespace

class TestHalf : public QObject {
  Q_OBJECT
 private slots:
  void every_f16_code_and_every_edge_between_codes_converts_as_ieee_says() {
    QString complaint;
    QVERIFY2(follows_definition(5, f16_to_f32, f32_to_f16, complaint), qPrintable(complaint));
  }
  void every_bf16_code_and_every_edge_between_codes_rounds_to_nearest_even() {
    QString complaint;
    QVERIFY2(follows_definition(8, bf16_to_f32, f32_to_bf16, complaint), qPrintable(complaint));
  }
  void a_nan_with_only_low_bits_set_does_not_become_infinity() {
    const float nan = std::bit_cast<float>(0x7f800001u);
    QVERIFY(std::isnan(bf16_to_f32(f32_to_bf16(nan))));
    QVERIFY(std::isnan(f16_to_f32(f32_to_f16(nan))));
    QVERIFY(std::isnan(bf16_to_f32(f32_to_bf16(-nan))));
  }
};

QTEST_GUILESS_MAIN(TestHalf)
#include "test_half.moc"

// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "core/base/utf8.h"

using namespace lorikeet;

class TestUtf8 : public QObject {
  Q_OBJECT

 private slots:
  void the_valid_part_ends_before_the_first_broken_character_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("valid");
    QTest::newRow("nothing") << QByteArray("") << 0;
    QTest::newRow("ASCII") << QByteArray("hello, parrots") << 14;
    QTest::newRow("two, three and four bytes") << QByteArray("\xC3\xA9\xE2\x89\xA4\xF0\x9F\xA6\x9C") << 9;
    QTest::newRow("the last code point") << QByteArray("\xF4\x8F\xBF\xBF") << 4;
    QTest::newRow("beyond the last") << QByteArray("a\xF4\x90\x80\x80") << 1;
    QTest::newRow("a lone continuation byte") << QByteArray("ab\x80") << 2;
    QTest::newRow("cut off") << QByteArray("ab\xE2\x89") << 2;
    QTest::newRow("a lead byte before ASCII") << QByteArray("abcdefgh\xE6zyxwvuts") << 8;
    QTest::newRow("longer than needed, two bytes") << QByteArray("\xC0\x80") << 0;
    QTest::newRow("longer than needed, three bytes") << QByteArray("\xE0\x80\xAF") << 0;
    QTest::newRow("longer than needed, four bytes") << QByteArray("\xF0\x80\x80\xAF") << 0;
    QTest::newRow("a surrogate half") << QByteArray("x\xED\xA0\x80") << 1;
    QTest::newRow("never a byte of UTF-8") << QByteArray("0123456789abcdef\xFF") << 16;
  }
  void the_valid_part_ends_before_the_first_broken_character() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, valid);
    QCOMPARE(static_cast<int>(valid_utf8_prefix(bytes.toStdString())), valid);
  }

  void every_code_point_is_written_and_read_back() {
    for (std::uint32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
      std::string text;
      append_utf8(text, code_point);
      const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
      if ((valid_utf8_prefix(text) == text.size()) == surrogate)
        QFAIL(qPrintable(QString::number(code_point, 16)));
      std::size_t position = 0;
      if (!surrogate && (next_code_point(text, position) != code_point || position != text.size())) {
        QFAIL(qPrintable(QString::number(code_point, 16)));
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestUtf8)
#include "test_utf8.moc"

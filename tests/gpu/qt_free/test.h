// SPDX-License-Identifier: Apache-2.0
// As much of Qt Test as the tests of operations use, for machines that have a GPU and no Qt: their sources
// compile unchanged against the headers of this folder, with slots.sh in moc's place.
#pragma once

#include <any>
#include <cstdio>
#include <exception>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace qt_free {

struct Row {
  std::string name;
  std::vector<std::any> values;
  template <typename T>
  Row& operator<<(const T& value) {
    values.emplace_back(value);
    return *this;
  }
};

/// Outcome of the test function that runs, and its table.
struct State {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  const Row* row = nullptr;
  std::string failure, skip;
};
State& state();

struct Totals {
  int passed = 0, failed = 0, skipped = 0;
};
Totals& totals();

template <typename Class>
struct Slot {
  const char* name;
  void (Class::*test)();
  void (Class::*data)();
};
/// The slots of a test class; slots.sh writes one specialisation per class.
template <typename Class>
struct SlotTable;

void report(const std::string& test);

template <typename Class>
void call(Class& object, void (Class::*function)()) {
  try {
    (object.*function)();
  } catch (const std::exception& error) {
    state().failure = std::string("threw: ") + error.what();
  }
}

/// Runs every slot, once per row where it has a table. Only those whose "Class::slot(row)" contains `wanted`.
template <typename Class>
void run(const char* class_name, const std::string& wanted) {
  Class object;
  for (const Slot<Class>& slot : SlotTable<Class>::all()) {
    state() = {};
    if (slot.data) call(object, slot.data);
    const std::vector<Row> rows = slot.data ? state().rows : std::vector<Row>(1);
    const std::vector<std::string> columns = state().columns;
    for (const Row& row : rows) {
      const std::string name = std::string(class_name) + "::" + slot.name + "(" + row.name + ")";
      if (name.find(wanted) == std::string::npos) continue;
      state() = {columns, {}, &row, {}, {}};
      call(object, slot.test);
      report(name);
    }
  }
}

using Runner = void (*)(const std::string& wanted);
/// Registers a class at start-up.
bool add(Runner runner);
const std::vector<Runner>& runners();

template <typename T>
T fetch(const char* name) {
  const State& s = state();
  for (std::size_t i = 0; i < s.columns.size(); ++i) {
    if (s.columns[i] == name) return std::any_cast<T>(s.row->values.at(i));
  }
  throw std::runtime_error(std::string("no column ") + name);
}

inline bool fail(const std::string& what, const char* file, int line) {
  state().failure = what + " [" + file + ":" + std::to_string(line) + "]";
  return false;
}

template <typename T>
std::string text(const T& value) {
  if constexpr (requires(std::ostream & out) { out << value; }) {
    std::ostringstream out;
    out << value;
    return out.str();
  } else {
    return "...";
  }
}

template <typename A, typename B>
bool compare(const A& got, const B& want, const char* expression, const char* file, int line) {
  if (got == want) return true;
  return fail(std::string(expression) + " is " + text(got) + " where " + text(want) + " is expected", file,
              line);
}

}  // namespace qt_free

namespace QTest {

template <typename T>
void addColumn(const char* name) {
  qt_free::state().columns.emplace_back(name);
}
inline qt_free::Row& newRow(const char* name) {
  return qt_free::state().rows.emplace_back(qt_free::Row{name, {}});
}
template <typename... Arguments>
qt_free::Row& addRow(const char* format, Arguments... arguments) {
  char name[256];
  std::snprintf(name, sizeof name, format, arguments...);
  return newRow(name);
}
/// Whether a check of this test has failed, in a function that it called.
inline bool currentTestFailed() {
  return !qt_free::state().failure.empty();
}

}  // namespace QTest

struct QObject {
  virtual ~QObject() = default;
};

template <typename T>
using QVector = std::vector<T>;
using qint64 = long long;
using qlonglong = long long;

class QString : public std::string {
 public:
  QString() = default;
  QString(const char* text) : std::string(text) {}  // NOLINT(google-explicit-constructor): as Qt's
  static QString fromStdString(const std::string& text) { return text.c_str(); }
  const std::string& toStdString() const { return *this; }
  template <typename T>
  static QString number(T value) {
    return std::to_string(value).c_str();
  }
  template <typename T>
  QString arg(T value) const {
    const std::size_t at = find('%');
    return at == npos ? *this : (substr(0, at) + std::to_string(value) + substr(at + 2)).c_str();
  }
};
inline const char* qPrintable(const QString& text) {
  return text.c_str();
}

// NOLINTBEGIN(cppcoreguidelines-macro-usage): the names are Qt's
#define Q_OBJECT      \
  template <typename> \
  friend struct ::qt_free::SlotTable;
#define slots
#define QStringLiteral(text) QString(text)
#define QFETCH(type, name) type name = qt_free::fetch<type>(#name)
#define QVERIFY2(condition, message)                                                            \
  do {                                                                                          \
    if (!(condition))                                                                           \
      return void(qt_free::fail(std::string(#condition ": ") + (message), __FILE__, __LINE__)); \
  } while (false)
#define QVERIFY(condition) QVERIFY2(condition, "is false")
#define QCOMPARE(got, want)                                                 \
  do {                                                                      \
    if (!qt_free::compare((got), (want), #got, __FILE__, __LINE__)) return; \
  } while (false)
#define QFAIL(message) return void(qt_free::fail((message), __FILE__, __LINE__))
#define QSKIP(message) return void(qt_free::state().skip = (message))
#define QTEST_GUILESS_MAIN(Class)               \
  void qt_free_run_##Class(const std::string&); \
  static const bool registered_##Class = qt_free::add(qt_free_run_##Class);
// NOLINTEND(cppcoreguidelines-macro-usage)

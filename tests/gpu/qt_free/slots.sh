#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# slots.sh SOURCE: what stands in SOURCE.moc where there is no Qt: a table of the private slots of each test class.
awk '
  /^class [A-Za-z0-9_]+ : public/ { class = $2 }
  /^ *private slots:/ { inside = 1; next }
  /^ *(public|private|protected):/ || /^};/ { inside = 0 }
  inside && match($0, /^  void [a-zA-Z0-9_]+\(\)/) {
    name = substr($0, RSTART + 7, RLENGTH - 9)
    names[++count] = name
    known[name] = 1
  }
  END {
    print "template <>\nstruct qt_free::SlotTable<" class "> {"
    print "  static std::vector<Slot<" class ">> all() {\n    return {"
    for (i = 1; i <= count; ++i) {
      name = names[i]
      if (name ~ /_data$/ || name ~ /^(init|cleanup)(TestCase)?$/) continue
      data = (name "_data") in known ? "&" class "::" name "_data" : "nullptr"
      print "      {\"" name "\", &" class "::" name ", " data "},"
    }
    print "    };\n  }\n};"
    print "void qt_free_run_" class "(const std::string& wanted) {\n  qt_free::run<" class ">(\"" class "\", wanted);\n}"
  }' "$1"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when an include points the wrong way (app -> ui -> core -> kernels), when a library is used outside the one folder
# that may, or when a source file lacks its licence line. With --self-test it proves that it can fail.
set -u
root=${1:?usage: check_structure.sh ROOT [--self-test]}
found=0

complain() {
  printf '%s\n' "$1:" "$2"
  found=1
}

# forbid WHAT PATTERN FOLDER...: no source file in these folders may have a line like this.
forbid() {
  local what=$1 pattern=$2 lines
  shift 2
  lines=$(cd "$root" && grep -rnP "$pattern" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' "$@" 2>/dev/null)
  [ -z "$lines" ] || complain "$what" "$lines"
}

# only FOLDER WHAT PATTERN: outside this folder no source file may include it.
only() {
  local folder=$1 what=$2 pattern=$3 lines
  lines=$(cd "$root" && grep -rnP "$pattern" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' app core kernels ui 2>/dev/null | grep -v "^$folder")
  [ -z "$lines" ] || complain "$what belongs to $folder alone" "$lines"
}

check() {
  forbid "kernels/base is the lowest layer" '#include "(app|core|ui)/|#include "kernels/(?!base/)' kernels/base
  forbid "kernels knows no upper layer" '#include "(app|core|ui)/' kernels
  forbid "core knows no upper layer" '#include "(app|ui)/' core
  forbid "ui knows no upper layer" '#include "app/' ui
  forbid "core and kernels are free of Qt" '#include <Q|#include <Qt' core kernels
  forbid "ui does no arithmetic: of kernels it may use base" '#include "kernels/(?!base/)' ui app/studio
  only ui/charts "QCustomPlot" '#include <qcustomplot\.h>'
  only core/text "sentencepiece" '#include <sentencepiece'
  only core/library "SQLite" '#include <(SQLiteCpp|sqlite3)'
  only core/publish/hub "libcurl" '#include <curl'
  only kernels/cpu "oneDNN" '#include <oneapi/dnnl'
  only kernels/cuda "CUDA" '#include <(cuda|cublas|driver_types|vector_types)'
  only kernels/cuda "The inside of the CUDA back end" '#include "kernels/cuda/(?!cuda_loader\.h)'
  forbid "of the tests, tests/ptx and tests/gpu know CUDA" '#include <(cuda|cublas)' tests/kernels tests/core tests/app tests/ui tests/support
  forbid "no 'using namespace' in headers" '^ *using namespace' --include='*.h' --exclude='*.cpp' app core kernels ui
  local unlicensed
  unlicensed=$(cd "$root" && find app core kernels ui tests \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0 2>/dev/null |
    xargs -0 -r grep -L 'SPDX-License-Identifier: ')
  [ -z "$unlicensed" ] || complain "Files without a licence line" "$unlicensed"
}

if [ "${2:-}" = --self-test ]; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root"/{kernels/base,core/text,ui/charts,ui/home,app,tests/kernels}
  licence='// SPDX-License-Identifier: Apache-2.0'
  expect_failure() {
    printf '%s\n%s\n' "$licence" "$2" >"$root/$1"
    found=0
    check >/dev/null
    [ "$found" = 1 ] || { echo "not caught: $2 in $1"; exit 1; }
    rm "$root/$1"
  }
  expect_failure kernels/a.cpp '#include "core/base/json.h"'
  expect_failure kernels/base/a.cpp '#include "kernels/tensor.h"'
  expect_failure core/a.cpp '#include <QString>'
  expect_failure core/a.h 'using namespace std;'
  expect_failure ui/home/a.cpp '#include <qcustomplot.h>'
  expect_failure ui/home/a.cpp '#include "kernels/backend.h"'
  expect_failure ui/home/a.cpp '#include "app/version.h"'
  expect_failure core/a.cpp '#include <cuda_runtime_api.h>'
  expect_failure core/a.cpp '#include "kernels/cuda/cuda_backend.h"'
  expect_failure tests/kernels/a.cpp '#include <cuda_runtime_api.h>'
  licence='// nothing'
  expect_failure core/text/a.cpp 'int x;'
  licence='// SPDX-License-Identifier: Apache-2.0'
  printf '%s\n%s\n' "$licence" '#include <qcustomplot.h>' >"$root/ui/charts/a.cpp"
  found=0
  check
  [ "$found" = 0 ] || { echo "a right include was refused"; exit 1; }
  echo "caught all planted mistakes"
  exit 0
fi
check
exit "$found"

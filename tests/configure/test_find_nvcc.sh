#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which nvcc the configuration takes, and that AUTO goes on without CUDA whatever is wrong with it.
#   test_find_nvcc.sh CMAKE SOURCE
set -eu
cmake=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CUDACXX CUDA_PATH CUDAHOSTCXX LORIKEET_NVCC

# pretend NAME RELEASE SCRIPT: NAME/bin/nvcc that says RELEASE; SCRIPT is what it does when asked to compile.
pretend() {
  mkdir -p "$work/$1/bin"
  cat >"$work/$1/bin/nvcc" <<END
#!/bin/sh
case "\$1" in
  --version) $2 ;;
  --list-gpu-arch) printf 'compute_75\ncompute_80\ncompute_90\n' ;;
  *) $3 ;;
esac
END
  chmod +x "$work/$1/bin/nvcc"
}
says() { printf 'echo "Cuda compilation tools, release %s, V%s.1"' "$1" "$1"; }
writes='while [ "$1" != -o ]; do shift; done; touch "$2"'
pretend old "$(says 11.5)" "$writes"
pretend good "$(says 12.8)" "$writes"
pretend newer "$(says 13.1)" "$writes"
pretend mute 'exit 1' "$writes"
pretend broken "$(says 13.0)" 'echo "x.cu(1): error: cicc was not found" >&2; exit 1'
pretend liar "$(says 13.0)" 'exit 0'

failures=0
fresh=0
# expect NAME TEXT PATHS FOLDERS [ARGUMENT...]: the output of the configuration has TEXT, and it succeeds.
expect() {
  local name=$1 text=$2 path=$3 folders=$4 output
  shift 4
  fresh=$((fresh + 1))
  if ! output=$(PATH="$path:/usr/bin:/bin" "$cmake" -S "$source/tests/configure/project" -B "$work/build-$fresh" \
    "-DLORIKEET_SOURCE=$source" "-DLORIKEET_CUDA_FOLDERS=$folders" "$@" 2>&1); then
    printf 'FAIL %s: the configuration stopped\n%s\n' "$name" "$output"
    failures=$((failures + 1))
  elif ! printf '%s' "$output" | grep -qF -- "$text"; then
    printf 'FAIL %s: "%s" is not in\n%s\n' "$name" "$text" "$output"
    failures=$((failures + 1))
  fi
}
search=-DONLY_SEARCH=ON
expect 'the one on PATH is taken' "found: [$work/good/bin/nvcc] faults: []" "$work/good/bin" "$work/newer" $search
expect 'an old one on PATH hides nothing' "found: [$work/newer/bin/nvcc] faults: [$work/old/bin/nvcc is version 11.5" \
  "$work/old/bin" "$work/newer" $search
expect 'a broken one on PATH hides nothing' "found: [$work/good/bin/nvcc]" "$work/broken/bin:$work/mute/bin" \
  "$work/liar;$work/good" $search
expect 'the one that is named comes first' "found: [$work/newer/bin/nvcc] faults: []" "$work/good/bin" "" $search \
  "-DLORIKEET_NVCC=$work/newer/bin/nvcc"
expect 'architectures it does not know are told' 'unknown: [120]' "$work/good/bin" "" $search
expect 'none at all' 'CUDA back end: left out' /nowhere "$work/nowhere"
for kind in old mute broken liar; do
  expect "AUTO goes on with a nvcc that is $kind" 'has CUDA: OFF' "$work/$kind/bin" ""
  expect "a nvcc that is $kind is named" "left out, $work/$kind/bin/nvcc" "$work/$kind/bin" ""
done
expect 'the first error is told' 'does not compile: x.cu(1): error: cicc was not found' "$work/broken/bin" ""
expect 'an architecture that it lacks is told' 'does not build for 120 of CMAKE_CUDA_ARCHITECTURES' "$work/good/bin" "" \
  -DCMAKE_CUDA_ARCHITECTURES=120
if PATH="$work/broken/bin:/usr/bin:/bin" "$cmake" -S "$source/tests/configure/project" -B "$work/on" \
  "-DLORIKEET_SOURCE=$source" -DLORIKEET_CUDA_FOLDERS= -DLORIKEET_CUDA=ON >/dev/null 2>&1; then
  echo 'FAIL ON accepts a nvcc that does not compile'
  failures=$((failures + 1))
fi
[ "$failures" = 0 ] && echo "$fresh configurations as they should be"
exit "$failures"

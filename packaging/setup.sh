# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by start and check: finds the repository, installs missing packages, configures and builds.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build/release"

say() { printf '%s\n' "$*"; }
fail() { printf 'lorikeet: %s\n' "$*" >&2; exit 1; }

# Prints the packages of dependencies.txt that are not installed, one a line.
missing_packages() {
  local name
  grep -v '^#' "$root/packaging/dependencies.txt" | while read -r name; do
    [ -n "$name" ] || continue
    dpkg-query -W -f '${Status}\n' "$name" 2>/dev/null | grep -q '^install ok installed' || printf '%s\n' "$name"
  done
}

# Installs what is missing in one package transaction, shown first. Asks only on a terminal, and not with --yes.
install_missing() {
  local assume_yes=$1 missing answer as_root=()
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "This system has no apt-get. The libraries listed in packaging/dependencies.txt are needed; going on without installing."
    return
  fi
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  say "These packages are missing and will be installed in one go:"
  printf '%s\n' "$missing" | tr '\n' ' ' | fold -s -w 100 | sed 's/^/  /'
  say ""
  if [ "$assume_yes" != yes ] && [ -t 0 ] && [ -t 1 ]; then
    read -r -p "Install them now? [Y/n] " answer
    case "$answer" in n* | N*) fail "Nothing was installed. Install these packages and start again." ;; esac
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "Installing needs root: run this as root once, or install the packages above."
    as_root=(sudo)
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get update -qq || say "The package lists could not be refreshed; trying with those that are there."
  # shellcheck disable=SC2086  # one word a package
  "${as_root[@]}" apt-get install -y --no-install-recommends $missing || fail "Installing failed, see above."
}

# Every nvcc that the configuration may choose (cmake/LorikeetNvcc.cmake): on PATH, then in /usr/local.
find_nvccs() {
  type -aP nvcc
  ls -d /usr/local/cuda*/bin/nvcc 2>/dev/null
}

# The compute capabilities of this machine's GPUs that nvcc can build for, for example "75;86"; 75 and 80 where there is
# none to ask. The release preset in a fresh folder builds for every card that is served, which takes minutes more.
cuda_architectures() {
  local known found nvcc
  known=$(find_nvccs | while read -r nvcc; do "$nvcc" --list-gpu-arch 2>/dev/null; done | sed -n 's/^compute_//p' | sort -u) ||
    known=
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -Fx "${known:-none}" |
    sort -u | paste -sd ';') || found=
  printf '%s' "${found:-75-real;80}"
}

# build_targets TARGET...: configures when needed and builds these targets of the release preset.
build_targets() {
  mkdir -p "$root/build"
  cmake --preset release -S "$root" "-DCMAKE_CUDA_ARCHITECTURES=$(cuda_architectures)" \
    >"$root/build/configure.log" 2>&1 || {
    cat "$root/build/configure.log" >&2
    fail "Cannot configure the build, see above."
  }
  cmake --build "$build" --target "$@" || fail "The build failed, see above."
}

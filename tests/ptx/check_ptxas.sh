#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles kernel files to machine code and reads what the assembler says of every kernel: fails on spills, on stack, and
# where the registers of the largest block that the kernel may have (its launch bound) are more than a multiprocessor's
# 65,536. A kernel without a launch bound may have 1,024 threads. Prints the table.
#   check_ptxas.sh NVCC ROOT "ARCHITECTURE..." FILE.cu...
set -euo pipefail
nvcc=$1 root=$2 architectures=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {  # ARCHITECTURE FILE: rows "registers threads stack spills shared kernel" in a file of its own
  local architecture=$1 file=$2 out
  out=$work/$architecture-$(basename "$file" .cu)
  mkdir -p "$out"
  if ! "$nvcc" -std=c++20 -O3 -arch="sm_$architecture" -Xptxas -v -cubin --keep --keep-dir "$out" -I "$root" "$file" \
    -o "$out/code.cubin" >"$out/log" 2>&1; then
    cat "$out/log" >&2
    echo "cannot compile $file for sm_$architecture" >"$out/failed"
    return
  fi
  awk '
    FNR == NR {   # PTX: the launch bound of each entry
      if (match($0, /\.entry [A-Za-z0-9_$]+/)) entry = substr($0, RSTART + 7, RLENGTH - 7)
      if ($1 == ".maxntid" || $1 == ".reqntid") {
        gsub(/,/, " "); bound[entry] = $2 * ($3 ? $3 : 1) * ($4 ? $4 : 1)
      }
      next
    }
    /Compiling entry function/ { split($0, part, "\047"); name = part[2] }
    /bytes stack frame/ { stack = $1; spills = $5 + $9 }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5)
      shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART, RLENGTH - 11) : 0
      print registers, (name in bound ? bound[name] : 1024), stack, spills, shared, name
    }' "$out"/*.ptx "$out/log" >"$out/rows"
  rm -f "$out"/*.ii "$out"/*.cubin "$out"/*.gpu "$out"/*.c "$out"/*.cpp
}

for architecture in $architectures; do
  for file in "$@"; do
    compile "$architecture" "$file" &
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  done
done
wait

bad=0 kernels=0
printf '%-6s %-20s %4s %7s %5s %6s %7s  %s\n' arch file regs threads stack spills shared kernel
for architecture in $architectures; do
  for file in "$@"; do
    name=$(basename "$file" .cu)
    out=$work/$architecture-$name
    if [ -e "$out/failed" ]; then
      cat "$out/failed"
      bad=1
      continue
    fi
    while read -r registers threads stack spills shared kernel; do
      kernels=$((kernels + 1))
      mark=
      if [ "$stack" != 0 ] || [ "$spills" != 0 ] || [ $((registers * threads)) -gt 65536 ]; then
        mark='  <-- refused'
        bad=1
      fi
      printf '%-6s %-20s %4d %7d %5d %6d %7d  %s%s\n' "sm_$architecture" "$name" "$registers" "$threads" "$stack" \
        "$spills" "$shared" "$(c++filt "$kernel" | sed -E 's/\(anonymous namespace\):://g; s/lorikeet::cuda:://g; s/^void //; s/>\(.*/>/; s/^([^<(]*)\(.*/\1/')" "$mark"
    done <"$out/rows"
  done
done
echo "$kernels kernels"
[ "$kernels" -gt 0 ] || bad=1
exit "$bad"

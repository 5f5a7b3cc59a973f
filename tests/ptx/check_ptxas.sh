#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Assembles the PTX of every kernel file and reads what the assembler says of every kernel: fails on spills, on stack, and
# where the registers of the largest block that the kernel may have (its launch bound) are more than a multiprocessor's
# 65,536. A kernel without a launch bound may have 1,024 threads. Prints the table.
#   check_ptxas.sh PTXAS FOLDER ARCHITECTURE...    PTX lies in FOLDER/sm_NN; that of sm_80 serves 86 and 89 too
set -euo pipefail
ptxas=$1 folder=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

assemble() {  # ARCHITECTURE FILE.ptx: rows "registers threads stack spills shared kernel"
  local architecture=$1 ptx=$2 out
  out=$work/$architecture-$(basename "$ptx" .ptx)
  if ! "$ptxas" -v -O3 -arch="sm_$architecture" "$ptx" -o "$out.cubin" >"$out.log" 2>&1; then
    cat "$out.log" >&2
    return
  fi
  rm "$out.cubin"
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
    }' "$ptx" "$out.log" >"$out.rows"
}

source_of() {  # ARCHITECTURE: the folder of its PTX
  if [ -d "$folder/sm_$1" ]; then echo "$folder/sm_$1"; else echo "$folder/sm_80"; fi
}

for architecture; do
  for ptx in "$(source_of "$architecture")"/*.ptx; do
    assemble "$architecture" "$ptx" &
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  done
done
wait

bad=0 kernels=0
printf '%-6s %-20s %4s %7s %5s %6s %7s  %s\n' arch file regs threads stack spills shared kernel
for architecture; do
  for ptx in "$(source_of "$architecture")"/*.ptx; do
    name=$(basename "$ptx" .ptx)
    out=$work/$architecture-$name
    grep -q '\.entry ' "$ptx" || continue
    if [ ! -s "$out.rows" ]; then
      echo "sm_$architecture $name: cannot be assembled"
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
        "$spills" "$shared" "$kernel" "$mark"
    done <"$out.rows"
  done
done >"$work/table"
# Without namespaces, and without the parameters: the last bracket and its partner.
c++filt <"$work/table" | sed -E 's/\(anonymous namespace\):://g; s/lorikeet::(cuda::)?//g; s/  void /  /' | awk '{
    mark = sub(/  <-- refused$/, "") ? "  <-- refused" : ""
    if (/\)$/) {
      depth = 0
      for (i = length($0); i > 0; --i) {
        c = substr($0, i, 1)
        if (c == ")") ++depth
        if (c == "(" && --depth == 0) break
      }
      $0 = substr($0, 1, i - 1)
    }
    print $0 mark
  }'
echo "$kernels kernels"
[ "$kernels" -gt 0 ] || bad=1
exit "$bad"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `lorikeet plan` says a run takes against what it took, for runs that differ in all that decides memory.
#   tests/app/plan_memory.sh ENGINE [MODEL DATA]
# Prints plan | measured | ratio: measured is the largest anonymous resident memory of the engine's process, read
# every 20 ms, so mapped files do not count. Fails when a plan is off by more than 5 % and 32 MB. MODEL may be a
# folder or a GGUF file, DATA an Alpaca file; without them (or the environment variables LORIKEET_PLAN_MODEL and
# LORIKEET_PLAN_DATA) the sample model and its stories serve.
set -euo pipefail
engine=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
small=$here/resources/samples/nest
stories=$here/resources/samples/stories.json
model=${2:-${LORIKEET_PLAN_MODEL:-$small}}
data=${3:-${LORIKEET_PLAN_DATA:-$stories}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LORIKEET_HOME=$work/home
steps=${LORIKEET_PLAN_STEPS:-4}
failed=0

# The whole number behind a key of the JSON on standard input, 0 when it is not there.
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | head -n 1; }

measure() { # name model data flags...
  local name=$1 model=$2 data=$3 run=$work/run plan peak=0 kb key value rest pid
  shift 3
  rm -rf "$run"
  plan=$("$engine" plan --json --model "$model" --data "$data" "$@" | number total)
  "$engine" train --model "$model" --data "$data" --run "$run" --max-steps "$steps" "$@" > "$work/out" 2>&1 &
  pid=$!
  while [ -r "/proc/$pid/status" ]; do
    kb=0
    while read -r key value rest; do
      if [ "$key" = RssAnon: ]; then kb=$value; fi
    done < "/proc/$pid/status" 2> /dev/null || true
    if [ "$kb" -gt "$peak" ]; then peak=$kb; fi
    sleep 0.02
  done
  if ! wait "$pid"; then
    printf '%-44s failed: %s\n' "$name" "$(tail -n 2 "$work/out")"
    failed=1
    return
  fi
  awk -v name="$name" -v plan="$plan" -v kb="$peak" 'BEGIN {
    measured = kb * 1024; off = plan - measured; if (off < 0) off = -off
    bad = off > 0.05 * measured && off > 32e6
    printf "%-44s | %9.1f MB | %9.1f MB | %5.3f%s\n", name, plan / 1e6, measured / 1e6, plan / measured, bad ? "  <- off" : ""
    exit bad
  }' || failed=1
}

printf '%-44s | %12s | %12s | ratio\n' run plan measured
measure 'nf4, packed, 2 x 512' "$model" "$data" --max-length 512
measure 'nf4, packed, 2 x 1024, rank 64' "$model" "$data" --rank 64
measure 'int8, adamw, rank 8, 1 x 1024' "$model" "$data" --quantization int8 --optimizer adamw --rank 8 --batch-size 1
measure 'none, f32, adamw, 1 x 512' "$model" "$data" --quantization none --compute f32 --optimizer adamw \
  --batch-size 1 --max-length 512
measure 'nf4, without packing, 8 rows' "$model" "$data" --packing false --batch-size 8 --accumulation 1
measure 'nf4, q_proj and v_proj, sample prompts' "$model" "$data" --targets q_proj,v_proj --max-length 512 \
  --sample-prompts 'What is a nest made of?'
measure 'fp4, one thread, 2 x 256' "$model" "$data" --quantization fp4 --threads 1 --max-length 256
total=$("$engine" plan --json --model "$model" --data "$data" --max-length 1024 | number total)
acts=$("$engine" plan --json --model "$model" --data "$data" --max-length 1024 | number activations)
limit=$((total - acts / 2))
if [ "$limit" -ge 64000000 ]; then
  measure 'nf4, half of the layers recomputed' "$model" "$data" --max-length 1024 --memory-limit "$limit"
fi
measure 'sample model, nf4, 2 x 256' "$small" "$stories" --max-length 256
measure 'sample model, none, f32, 16 x 128' "$small" "$stories" --quantization none --compute f32 --batch-size 16 \
  --max-length 128
exit $failed

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a run says after its first five measured steps it will still take, against what it took.
#   tests/app/plan_time.sh ENGINE [MODEL DATA [flags...]]
# Three runs; prints said | took | ratio of each and the median of the ratios. Fails when the median is off by more
# than 15 %. The machine should have nothing else to do. Without MODEL and DATA the sample model and its stories
# serve.
set -euo pipefail
engine=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
model=${2:-$here/resources/samples/nest}
data=${3:-$here/resources/samples/stories.json}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- --max-steps 60 --max-length 256 --sample-prompts 'What is a nest made of?'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LORIKEET_HOME=$work/home

# The value of a key in the line on standard input.
value() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"; }

printf 'load average %s\n' "$(cut -d ' ' -f 1 /proc/loadavg)"
for run in 1 2 3; do
  "$engine" train --model "$model" --data "$data" --run "$work/$run" --seed "$run" "$@" > "$work/out"
  events=$work/$run/events.jsonl
  # The first estimate of a run that trains; the rehearsal's is of a run that loads.
  line=$(grep '"state":"training"' "$events" | grep -m 1 seconds_left)
  end=$(tail -n 1 "$events" | value time)
  awk -v said="$(value seconds_left <<< "$line")" -v from="$(value time <<< "$line")" -v end="$end" \
    'BEGIN { printf "%8.2f s | %8.2f s | %5.3f\n", said, end - from, said / (end - from) }' | tee -a "$work/ratios"
done
sort -t '|' -k 3 -n "$work/ratios" | awk -F '|' 'NR == 2 {
  print "median ratio" $3
  exit $3 < 0.85 || $3 > 1.15
}'

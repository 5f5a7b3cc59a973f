#!/usr/bin/env python3
# SPDX-License-Identifier: CC0-1.0
"""Writes stories.json, the Alpaca records of the sample job. Needs Python alone; the result is always the same."""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
RECORDS, SEED, WITH_INPUT = 400, "stories", 0.2
# The question of the sample job is kept out, so that its answer is never one learned by heart.
KEPT_OUT = ("fox", "lantern")


def record(index):
    """One record, or None where it would be the kept-out question."""
    from maker import tasks
    from maker.grammar import Cast, paragraphs, rng_for, sentence, tell
    rng = rng_for(SEED, index)
    does, things, beats, morals = rng.choice(tasks.PLOTS)
    cast = Cast(rng, things)
    cast.words.update(k=cast.h.kind, does=does, moral=rng.choice(morals))
    if (cast.h.kind, cast.noun) == KEPT_OUT:
        return None
    first, last = (sentence(rng.choice(lines), cast) for lines in (tasks.FIRST_LINES, tasks.LAST_LINES))
    output = "\n".join((first, paragraphs(tell(cast, beats), rng), last))
    if rng.random() < WITH_INPUT:
        instruction, given = (cast_text(part, cast) for part in rng.choice(tasks.QUESTIONS_WITH_INPUT))
    else:
        instruction, given = cast_text(rng.choice(tasks.QUESTIONS), cast), ""
    return {"instruction": instruction, "input": given, "output": output}


def cast_text(template, cast):
    """A question in which only the slots are filled and `a` becomes `an`; notes keep their small letters."""
    import re
    text = re.sub(r"\{(\w+)\}", lambda m: cast.words[m.group(1)], template)
    return re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)


def main():
    rows, index = [], 0
    while len(rows) < RECORDS:
        row = record(index)
        index += 1
        if row:
            rows.append(row)
    (HERE / "stories.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

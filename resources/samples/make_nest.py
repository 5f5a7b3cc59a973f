#!/usr/bin/env python3
# SPDX-License-Identifier: CC0-1.0
"""Makes resources/samples/nest: writes the stories, trains the vocabulary, pre-trains the model.

    python3 -m venv nest-env && nest-env/bin/pip install -r maker/requirements.txt
    nest-env/bin/python make_nest.py

README.md says how long it takes and what comes out.
"""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "nest", help="folder of the model")
    parser.add_argument("--stories", type=int, default=40000, help="stories to train on; 400 more are held out")
    parser.add_argument("--steps", type=int, default=2700, help="optimiser steps of 4,096 tokens")
    parser.add_argument("--save-every", type=int, default=100)
    parser.add_argument("--stop-after", type=int, metavar="N", help="stop early, after step N")
    parser.add_argument("--resume", action="store_true", help="go on from the model in the folder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--precision", choices=("bf16", "f32"), default="bf16",
                        help="bf16 is faster where the processor has it")
    parser.add_argument("--seed", type=int, default=3407)
    parser.add_argument("--print-stories", type=int, metavar="N", help="print N stories and stop")
    return parser.parse_args()


def main():
    options = arguments()
    from maker import stories
    if options.print_stories:
        print("\n\n----\n\n".join(stories.corpus(options.seed, options.print_stories)))
        return
    from maker import chart, tokens, training
    options.out.mkdir(parents=True, exist_ok=True)
    texts = stories.corpus(options.seed, options.stories + 400)
    held_out, texts = texts[:400], texts[400:]
    if not options.resume:
        tokens.train(texts[:20000], options.out / "tokenizer")
        (options.out / "tokenizer.vocab").unlink()
        tokens.write_config(options.out)
    processor = tokens.load(options.out)
    train_ids, valid_ids = training.stream(processor, texts), training.stream(processor, held_out)
    print(f"{len(texts)} stories, {len(train_ids)} tokens, {len(train_ids) / len(texts):.0f} a story", flush=True)
    curve = training.train(train_ids, valid_ids, options.out, options)
    (options.out / "loss.svg").write_text(chart.svg(curve))


if __name__ == "__main__":
    main()

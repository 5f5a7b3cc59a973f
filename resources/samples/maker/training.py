# SPDX-License-Identifier: CC0-1.0
"""Pre-trains the nest model on the stories, on the CPU."""

import json
import math
import time

import numpy
import torch

from . import model as nest
from .tokens import BOS, EOS

MATRIX_RATE, OTHER_RATE, LAST_PART, WARM_UP = 4e-3, 2e-3, 0.03, 100
# The rates follow a cosine that would end at HORIZON × steps; the last quarter of the steps goes down in a line.
HORIZON, COOL_FROM = 5 / 3, 20 / 27
TOKENS_PER_STEP = 4096
# Rows grow: (part of the steps, tokens a row). In short rows the hero was named only a few words ago, so the model
# soon finds out that it can look back; later rows teach it to look further. Every fourth of the last steps sees the
# whole context.
SCHEDULE = ((0.2, 64), (0.4, 128), (1.0, 256))
LONG_ROW, LONG_EVERY = 512, 4


def stream(processor, stories):
    """All stories in one row of ids, each between begin and end token."""
    ids = [i for text in stories for i in [BOS, *processor.encode(text), EOS]]
    return numpy.array(ids, dtype=numpy.int64)


def row_width(step, steps):
    width = next(width for part, width in SCHEDULE if step < part * steps or part == 1.0)
    return LONG_ROW if width == SCHEDULE[-1][1] and step % LONG_EVERY == 0 else width


def batch(ids, width, rng):
    """Rows of (TOKENS_PER_STEP / width, width): the longest are random windows, all others begin with a story."""
    count = TOKENS_PER_STEP // width
    if width < LONG_ROW:
        begins = numpy.flatnonzero(ids[:-width] == BOS)
        starts = begins[rng.integers(0, len(begins), count)]
    else:
        starts = rng.integers(0, len(ids) - width, count)
    return torch.from_numpy(numpy.stack([ids[s:s + width] for s in starts]))


def rate_part(step, steps):
    """The part of the peak rates used at a step: warm-up, the begin of a cosine, a line down to nearly nothing."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    cool = COOL_FROM * steps
    done = (min(step, cool) - WARM_UP) / max(1, HORIZON * steps - WARM_UP)
    part = LAST_PART + (1 - LAST_PART) * 0.5 * (1 + math.cos(math.pi * done))
    return part * (steps - step) / (steps - cool) if step > cool else part


def loss_of(network, rows, precision):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
        return network(input_ids=rows, labels=rows, use_cache=False).loss


def validate(network, ids, width, precision):
    """Mean loss per token over 64 rows, each from the begin of a held-out story, as long as those being trained."""
    network.eval()
    begins = numpy.flatnonzero(ids[:-LONG_ROW] == BOS)
    rows = torch.from_numpy(numpy.stack([ids[s:s + width] for s in begins[::len(begins) // 64][:64]]))
    with torch.no_grad():
        losses = [loss_of(network, part, precision).item() for part in rows.split(4096 // width)]
    network.train()
    return sum(losses) / len(losses)


def optimisers(network):
    """Muon for the matrices of the layers, which it teaches in fewer steps; AdamW for embedding and norms."""
    matrices = [p for n, p in network.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in network.named_parameters() if p.ndim != 2 or "embed" in n]
    return (torch.optim.Muon(matrices, lr=MATRIX_RATE, weight_decay=0.1, momentum=0.95,
                             adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, lr=OTHER_RATE, weight_decay=0.0, betas=(0.9, 0.95)))


def set_rates(pair, part):
    for optimiser, peak in zip(pair, (MATRIX_RATE, OTHER_RATE)):
        for group in optimiser.param_groups:
            group["lr"] = peak * part


def update(network, pair, rows, precision):
    """One optimiser step; returns the loss before it."""
    loss = loss_of(network, rows, precision)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    for optimiser in pair:
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
    return loss.item()


def train(train_ids, valid_ids, folder, options):
    """Runs all steps; writes the model and loss.json every `save_every` steps. Returns the curve.

    With `resume` it goes on from the model in the folder; the optimisers' memory starts anew then.
    """
    torch.set_num_threads(options.threads)
    network = nest.build(options.seed).train()
    curve = []
    if options.resume:
        network.load_state_dict(nest.load(folder).state_dict())
        curve = json.loads((folder / "loss.json").read_text())
    first = curve[-1]["step"] if curve else 0
    pair = optimisers(network)
    rng = numpy.random.default_rng(options.seed)
    recent, started = [], time.time()
    for step in range(options.steps):
        width = row_width(step, options.steps)
        rows = batch(train_ids, width, rng)   # drawn for passed steps too, so that the order stays the same
        if step < first:
            continue
        set_rates(pair, rate_part(step, options.steps))
        recent.append(update(network, pair, rows, options.precision))
        done = step + 1
        if done % options.save_every == 0 or done in (options.steps, options.stop_after):
            curve.append({"step": done, "tokens": done * TOKENS_PER_STEP,
                          "train_loss": round(sum(recent) / len(recent), 4),
                          "valid_loss": round(validate(network, valid_ids, width, options.precision), 4)})
            recent = []
            nest.save(network, folder)
            lines = ",\n".join(json.dumps(row) for row in curve)
            (folder / "loss.json").write_text(f"[\n{lines}\n]\n")
            print(f"step {done}/{options.steps}  train {curve[-1]['train_loss']:.4f}  valid "
                  f"{curve[-1]['valid_loss']:.4f}  {time.time() - started:.0f} s", flush=True)
        if done == options.stop_after:
            break
    return curve

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
TOKENS_PER_STEP = 4096
# Rows grow: (part of the steps, tokens a row). In short rows the hero was named only a few words ago, so the model
# soon finds out that it can look back; later rows teach it to look further. Every fourth of the last steps sees the
# whole context.
SCHEDULE = ((0.12, 64), (0.24, 128), (1.0, 256))
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
    """The part of the peak rates used at a step: linear warm-up, then a cosine down to LAST_PART."""
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(1, steps - WARM_UP)
    return LAST_PART + (1 - LAST_PART) * 0.5 * (1 + math.cos(math.pi * done))


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


def train(train_ids, valid_ids, folder, options):
    """Runs all steps; writes the model and loss.json every `save_every` steps. Returns the curve."""
    torch.set_num_threads(options.threads)
    network = nest.build(options.seed).train()
    pair = optimisers(network)
    rng = numpy.random.default_rng(options.seed)
    curve, recent, started = [], [], time.time()
    for step in range(options.steps):
        set_rates(pair, rate_part(step, options.steps))
        width = row_width(step, options.steps)
        loss = loss_of(network, batch(train_ids, width, rng), options.precision)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        for optimiser in pair:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        recent.append(loss.item())
        done = step + 1
        if done % options.save_every == 0 or done == options.steps:
            curve.append({"step": done, "tokens": done * TOKENS_PER_STEP, "train_loss": sum(recent) / len(recent),
                          "valid_loss": validate(network, valid_ids, width, options.precision)})
            recent = []
            nest.save(network, folder)
            (folder / "loss.json").write_text(json.dumps(curve, indent=0) + "\n")
            print(f"step {done}/{options.steps}  train {curve[-1]['train_loss']:.4f}  valid "
                  f"{curve[-1]['valid_loss']:.4f}  {time.time() - started:.0f} s", flush=True)
    return curve

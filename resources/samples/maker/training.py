# SPDX-License-Identifier: CC0-1.0
"""Pre-trains the nest model on the stories, on the CPU."""

import json
import math
import time

import numpy
import torch

from . import model as nest
from .tokens import BOS, EOS

PEAK_RATE, LAST_RATE, WARM_UP = 3e-3, 1e-4, 150
TOKENS_PER_STEP = 4096
SHORT_ROW, LONG_ROW, LONG_EVERY = 256, 512, 4   # short rows are faster; every fourth step sees the whole context


def stream(processor, stories):
    """All stories in one row of ids, each between begin and end token."""
    ids = [i for text in stories for i in [BOS, *processor.encode(text), EOS]]
    return numpy.array(ids, dtype=numpy.int64)


def batch(ids, width, rng):
    """Random windows of the stream: (TOKENS_PER_STEP / width, width)."""
    starts = rng.integers(0, len(ids) - width, TOKENS_PER_STEP // width)
    return torch.from_numpy(numpy.stack([ids[s:s + width] for s in starts]))


def rate(step, steps):
    """Linear warm-up, then a cosine down to LAST_RATE."""
    if step < WARM_UP:
        return PEAK_RATE * (step + 1) / WARM_UP
    part = (step - WARM_UP) / max(1, steps - WARM_UP)
    return LAST_RATE + (PEAK_RATE - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * part))


def loss_of(network, rows, precision):
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
        return network(input_ids=rows, labels=rows, use_cache=False).loss


def validate(network, ids, precision):
    """Mean loss per token over the held-out stories, in rows of 512."""
    network.eval()
    count = min(len(ids) // LONG_ROW, 64)
    rows = torch.from_numpy(ids[:count * LONG_ROW].reshape(count, LONG_ROW))
    with torch.no_grad():
        losses = [loss_of(network, part, precision).item() for part in rows.split(8)]
    network.train()
    return sum(losses) / len(losses)


def optimiser(network):
    """AdamW; norms and embeddings do not decay."""
    decayed = [p for n, p in network.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in network.named_parameters() if p.ndim != 2 or "embed" in n]
    return torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
                             lr=PEAK_RATE, betas=(0.9, 0.95))


def train(train_ids, valid_ids, folder, options):
    """Runs all steps; writes the model and loss.json every `save_every` steps. Returns the curve."""
    torch.set_num_threads(options.threads)
    network = nest.build(options.seed).train()
    adam = optimiser(network)
    rng = numpy.random.default_rng(options.seed)
    curve, recent, started = [], [], time.time()
    for step in range(options.steps):
        width = LONG_ROW if step % LONG_EVERY == 0 else SHORT_ROW
        for group in adam.param_groups:
            group["lr"] = rate(step, options.steps)
        loss = loss_of(network, batch(train_ids, width, rng), options.precision)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        adam.step()
        adam.zero_grad(set_to_none=True)
        recent.append(loss.item())
        done = step + 1
        if done % options.save_every == 0 or done == options.steps:
            curve.append({"step": done, "tokens": done * TOKENS_PER_STEP, "train_loss": sum(recent) / len(recent),
                          "valid_loss": validate(network, valid_ids, options.precision)})
            recent = []
            nest.save(network, folder)
            (folder / "loss.json").write_text(json.dumps(curve, indent=0) + "\n")
            print(f"step {done}/{options.steps}  train {curve[-1]['train_loss']:.4f}  valid "
                  f"{curve[-1]['valid_loss']:.4f}  {time.time() - started:.0f} s", flush=True)
    return curve

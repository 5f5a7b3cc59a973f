# SPDX-License-Identifier: Apache-2.0
"""Makes training_curves/: ten steps as in lora_10_steps, once for each option that changes their numbers.

Rows, base and loop are those of make_lora_steps.py. Adapters start with B = 0 and A from a formula, so that nothing
but the curves has to be kept. 8-bit AdamW is the numpy of make_adamw_8bit.py (the rules of bitsandbytes' CUDA
kernels; tensors below 4,096 numbers keep float32 states), fed with torch's gradients.
"""

import common

common.one_thread()

import torch  # noqa: E402
from peft import LoraConfig, get_peft_model  # noqa: E402
from transformers import get_scheduler  # noqa: E402

import make_adamw_8bit as eight  # noqa: E402
import make_lora_steps as plain  # noqa: E402

FOLDER = common.HERE / "training_curves"
SMALLEST_8BIT = 4096

# What differs from: rank 8, alpha 16, linear without warm-up, rate 1e-2, decay 0.01, clip 1, answers only, adamw.
CASES = {
    "linear, warm-up 3": {"schedule": "linear", "warmup": 3},
    "cosine": {"schedule": "cosine"},
    "cosine, warm-up 2": {"schedule": "cosine", "warmup": 2},
    "cosine-min": {"schedule": "cosine_with_min_lr", "warmup": 2, "min_rate": 0.1},
    "constant": {"schedule": "constant"},
    "constant, warm-up 4": {"schedule": "constant_with_warmup", "warmup": 4},
    "inverse-sqrt, warm-up 3": {"schedule": "inverse_sqrt", "warmup": 3},
    "inverse-sqrt": {"schedule": "inverse_sqrt"},
    "not clipped": {"max_grad_norm": 0.0},
    "strong decay": {"weight_decay": 0.5, "schedule": "constant"},
    "train on all": {"train_on": "all"},
    "rank 64": {"rank": 64, "alpha": 64},
    "adamw-8bit, rank 64": {"rank": 64, "alpha": 64, "optimizer": "adamw-8bit"},
    "adamw-8bit, small tensors": {"optimizer": "adamw-8bit"},
}


class Adam8bit:
    """bitsandbytes' 8-bit AdamW by the rules of its CUDA kernels; tensors with few numbers keep float32 states."""

    def __init__(self, parameters: list, decay: float):
        self.parameters, self.decay = parameters, eight.F(decay)
        self.states = [None] * len(parameters)

    def step(self, number: int, rate: float) -> None:
        for i, p in enumerate(self.parameters):
            flat, g = p.detach().numpy().reshape(-1), p.grad.numpy().reshape(-1)
            is_8bit = len(flat) >= SMALLEST_8BIT
            if self.states[i] is None:
                blocks = -(-len(flat) // eight.BLOCK)
                zero = eight.np.zeros(len(flat), eight.np.uint8 if is_8bit else eight.F)
                absmax = eight.np.zeros(blocks, eight.F)
                self.states[i] = (zero, zero, absmax, absmax)
            s1, s2, a1, a2 = self.states[i]
            if is_8bit:
                s1, s2 = eight.decode(s1, a1, eight.SIGNED), eight.decode(s2, a2, eight.UNSIGNED)
            m, v, ok = eight.moments(s1, s2, g)
            new = eight.update(flat, m, v, ok, number, eight.F(rate), self.decay)
            if is_8bit:
                m, a1, _ = eight.encode(m, eight.SIGNED, True)
                v, a2, _ = eight.encode(v, eight.UNSIGNED, False)
            self.states[i] = (m, v, a1, a2)
            p.data.copy_(torch.tensor(new).reshape(p.shape))


def start_value(rank: int, width: int) -> torch.Tensor:
    """A of every module: (r, in), values between -1 and 1 over the root of the width."""
    i, j = torch.arange(rank).double()[:, None], torch.arange(width).double()[None]
    return (((i * 31 + j * 17) % 61 - 30) / 30 / width**0.5).float()


def make_model(options: dict):
    config = LoraConfig(r=options.get("rank", plain.RANK), lora_alpha=options.get("alpha", plain.ALPHA),
                        target_modules="all-linear", lora_dropout=0.0, bias="none", task_type="CAUSAL_LM")
    model = get_peft_model(plain.base_model(), config)
    parameters = {plain.saved_name(n): p for n, p in model.named_parameters() if p.requires_grad}
    for name, p in parameters.items():
        p.data.copy_(start_value(*p.shape) if "lora_A" in name else torch.zeros_like(p))
    return model, list(parameters.values())


def curve_of(options: dict, steps: list) -> list[dict]:
    torch.manual_seed(1)
    model, parameters = make_model(options)
    decay = options.get("weight_decay", plain.OPTIMIZER["weight_decay"])
    torch_adam = torch.optim.AdamW(parameters, **{**plain.OPTIMIZER, "weight_decay": decay})
    mine = Adam8bit(parameters, decay) if options.get("optimizer") == "adamw-8bit" else None
    extra = {"min_lr_rate": options["min_rate"]} if "min_rate" in options else None
    schedule = get_scheduler(options.get("schedule", "linear"), torch_adam, num_warmup_steps=options.get("warmup", 0),
                             num_training_steps=plain.STEPS, scheduler_specific_kwargs=extra)
    curve = []
    for number, step in enumerate(steps, 1):
        count = sum(t != -100 for batch in step for row in batch for t in plain.targets_of(row))
        loss = 0.0
        for batch in step:
            part = plain.batch_loss_sum(model, batch) / count
            part.backward()
            loss += part.item()
        limit = options.get("max_grad_norm", plain.MAX_GRAD_NORM)
        norm = torch.nn.utils.clip_grad_norm_(parameters, limit if limit > 0 else float("inf")).item()
        rate = schedule.get_last_lr()[0]
        curve.append({"loss": loss, "learning_rate": rate, "grad_norm": norm, "trained_tokens": count})
        if mine:
            mine.step(number, rate)
        else:
            torch_adam.step()
        schedule.step()
        torch_adam.zero_grad()
    return curve


def main() -> None:
    steps = plain.make_steps()
    everything = [[[{"ids": r["ids"], "trained": [[0, len(r["ids"])]]} for r in b] for b in s] for s in steps]
    cases = {}
    for name, options in CASES.items():
        cases[name] = {"options": options,
                       "curve": curve_of(options, everything if options.get("train_on") == "all" else steps)}
        print(name, [round(c["loss"], 4) for c in cases[name]["curve"]], flush=True)
    common.write_json(FOLDER / "curves.json", {
        "made_by": "make_training_curves.py", "versions": common.versions("torch", "transformers", "peft"),
        "cases": cases})


if __name__ == "__main__":
    main()

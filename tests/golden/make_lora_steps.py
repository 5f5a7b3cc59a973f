# SPDX-License-Identifier: Apache-2.0
"""Makes lora_10_steps/: ten optimiser steps of a PEFT LoRA on tiny_llama in float32, by a plain PyTorch loop.

Rows are not packed; a micro-batch is padded on the right. Loss of a step = sum of the token losses of its 4 micro-batches
divided by the number of trained targets in all of them. Needs tiny_llama/.
"""

import json
import shutil

import common
import reference_llama

common.one_thread()

import torch  # noqa: E402
from peft import LoraConfig, PeftModel, get_peft_model  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers import LlamaForCausalLM  # noqa: E402

BASE = common.HERE / "tiny_llama"
FOLDER = common.HERE / "lora_10_steps"
STEPS, ACCUMULATION, BATCH = 10, 4, 2
RANK, ALPHA = 8, 16
OPTIMIZER = {"lr": 1e-2, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
MAX_GRAD_NORM = 1.0
BOS, EOS, USER, ANSWER = 1, 2, 10, 11
LETTERS = range(100, 124)


def make_turn(generator) -> tuple[list[int], list[int]]:
    """A question of 2 to 9 letters and its answer: the letters shifted by five, backwards."""
    n = int(torch.randint(2, 10, (1,), generator=generator))
    letters = torch.randint(0, len(LETTERS), (n,), generator=generator).tolist()
    question = [USER, *(LETTERS[i] for i in letters), ANSWER]
    return question, [*(LETTERS[(i + 5) % len(LETTERS)] for i in reversed(letters)), EOS]


def make_row(index: int, generator) -> dict:
    """ids and half-open ranges of trained tokens; every seventh row has two turns, row 20 trains every token."""
    ids, trained = [BOS], []
    for _ in range(2 if index % 7 == 6 else 1):
        question, answer = make_turn(generator)
        ids += question
        trained.append([len(ids), len(ids) + len(answer)])
        ids += answer
    return {"ids": ids, "trained": [[0, len(ids)]] if index == 20 else trained}


def targets_of(row: dict) -> list[int]:
    """Token to predict at each position but the last, -100 where it is not trained."""
    wanted = {t for a, b in row["trained"] for t in range(a, b)}
    return [row["ids"][t] if t in wanted else -100 for t in range(1, len(row["ids"]))]


def make_steps() -> list:
    """[step][micro-batch][row]"""
    generator = torch.Generator().manual_seed(99)
    rows = [make_row(i, generator) for i in range(STEPS * ACCUMULATION * BATCH)]
    batches = [rows[i:i + BATCH] for i in range(0, len(rows), BATCH)]
    return [batches[i:i + ACCUMULATION] for i in range(0, len(batches), ACCUMULATION)]


def batch_loss_sum(model, batch: list) -> torch.Tensor:
    """Sum of token losses of one padded micro-batch."""
    longest = max(len(row["ids"]) for row in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask, targets = torch.zeros_like(ids), torch.full((len(batch), longest - 1), -100)
    for i, row in enumerate(batch):
        n = len(row["ids"])
        ids[i, :n], mask[i, :n] = torch.tensor(row["ids"]), 1
        targets[i, :n - 1] = torch.tensor(targets_of(row))
    logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100,
                                             reduction="sum")


def exact_loss_sum(model: reference_llama.Llama, batch: list) -> torch.Tensor:
    """The same in float64, row by row."""
    total = torch.zeros((), dtype=torch.float64)
    for row in batch:
        total = total + torch.nn.functional.cross_entropy(
            model.logits(row["ids"])[:-1], torch.tensor(targets_of(row)), ignore_index=-100, reduction="sum")
    return total


def run(parameters: dict, steps: list, loss_sum) -> dict:
    """The loop. parameters: name -> leaf tensor; loss_sum(batch) -> scalar. Returns the curve and gradients."""
    optimizer = torch.optim.AdamW(list(parameters.values()), **OPTIMIZER)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda t: (STEPS - t) / STEPS)
    curve, gradients = [], {}
    for number, step in enumerate(steps, 1):
        count = sum(t != -100 for batch in step for row in batch for t in targets_of(row))
        loss = 0.0
        for batch in step:
            part = loss_sum(batch) / count
            part.backward()
            loss += part.item()
        gradients[number] = {name: p.grad.clone() for name, p in parameters.items()}
        norm = torch.nn.utils.clip_grad_norm_(list(parameters.values()), MAX_GRAD_NORM).item()
        curve.append({"step": number, "loss": loss, "learning_rate": schedule.get_last_lr()[0],
                      "grad_norm": norm, "trained_tokens": count,
                      "tokens": sum(len(row["ids"]) for batch in step for row in batch)})
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return {"curve": curve, "gradients": gradients}


def saved_name(name: str) -> str:
    return name.replace(".default", "")


def relative(a: torch.Tensor, b: torch.Tensor) -> float:
    """Norm of the difference over the norm."""
    norm = b.double().norm().item()
    return (a.double() - b.double()).norm().item() / norm if norm else a.double().norm().item()


def compare_with_float64(start: dict, steps: list, got: dict, final: dict) -> dict:
    """The same ten steps on the float64 network: how much float32 itself may differ."""
    leaves = {name: t.double().requires_grad_() for name, t in start.items()}
    adapter = {module: (leaves[f"base_model.model.{module}.lora_A.weight"],
                        leaves[f"base_model.model.{module}.lora_B.weight"], ALPHA / RANK)
               for module in reference_llama.adapter_of(start, 1.0)}
    model = reference_llama.load(BASE, adapter)
    exact = run(leaves, steps, lambda batch: exact_loss_sum(model, batch))
    worst = {f"gradients_step_{n}": max(relative(got["gradients"][n][name], g)
                                        for name, g in exact["gradients"][n].items()) for n in (1, 2, 10)}
    pairs = list(zip(got["curve"], exact["curve"]))
    return {"loss": max(abs(a["loss"] / b["loss"] - 1) for a, b in pairs),
            "grad_norm": max(abs(a["grad_norm"] / b["grad_norm"] - 1) for a, b in pairs),
            **worst, "final_adapter": max(relative(final[name], leaves[name].detach()) for name in leaves)}


def base_model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(BASE, dtype=torch.float32, attn_implementation="eager")


def save_adapter(model, name: str) -> dict:
    """PEFT's own files; the base is named by its folder only."""
    folder = FOLDER / name
    model.peft_config["default"].base_model_name_or_path = "tiny_llama"
    model.save_pretrained(folder)
    common.tidy_adapter(folder)
    return load_file(folder / "adapter_model.safetensors")


def final_logits() -> dict:
    """Logits with the final adapter as PEFT loads it, for the ids of tiny_llama's third and fourth sequence."""
    model = PeftModel.from_pretrained(base_model(), FOLDER / "adapter_final").eval()
    known = load_file(BASE / "golden" / "logits.safetensors")
    tensors = {}
    for i in (2, 3):
        ids = known[f"ids_{i}"]
        with torch.no_grad():
            tensors |= {f"ids_{i}": ids, f"logits_{i}": model(ids[None].long()).logits[0]}
    return tensors


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    steps = make_steps()
    torch.manual_seed(1234)
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules="all-linear", lora_dropout=0.0, bias="none",
                        task_type="CAUSAL_LM")
    model = get_peft_model(base_model(), config)
    start = save_adapter(model, "adapter_start")
    parameters = {saved_name(n): p for n, p in model.named_parameters() if p.requires_grad}
    got = run(parameters, steps, lambda batch: batch_loss_sum(model, batch))
    final = save_adapter(model, "adapter_final")
    for number in (1, 2, 10):
        common.save_tensors(FOLDER / f"gradients_step_{number}.safetensors", got["gradients"][number])
    common.save_tensors(FOLDER / "logits_final.safetensors", final_logits())
    noise = compare_with_float64(start, steps, got, final)
    meta = {"made_by": "make_lora_steps.py",
            "versions": common.versions("torch", "transformers", "peft", "safetensors"), "base": "tiny_llama",
            "optimizer": {"name": "torch.optim.AdamW", **OPTIMIZER}, "max_grad_norm": MAX_GRAD_NORM,
            "schedule": "linear to 0 over the ten steps, no warm-up: lr * (10 - t) / 10 for t = 0 .. 9",
            "steps": STEPS, "accumulation": ACCUMULATION, "batch_size": BATCH,
            "largest_relative_difference_from_float64": noise, "curve": got["curve"]}
    common.write_json(FOLDER / "run.json", meta)
    common.write_json(FOLDER / "rows.json", {"steps": steps}, compact=True)
    print(json.dumps(noise), *(json.dumps(c) for c in got["curve"]), sep="\n")


if __name__ == "__main__":
    main()

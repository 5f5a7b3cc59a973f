# SPDX-License-Identifier: Apache-2.0
"""Makes lora_dropout/: the ten steps of make_lora_steps.py with dropout in PEFT's modules and NEFTune's noise.

PyTorch's own random numbers are not ours, so the masks and the noise are drawn here, from the generator that
kernels/base/random.h documents (Philox 4x32-10), and put in the place of PEFT's torch.nn.Dropout and behind the
embedding. Everything else is PEFT's and PyTorch's. Needs tiny_llama/, lora_10_steps/ and lora_variants/.
"""

import json
import math
import shutil

import common
import make_lora_steps as plain

common.one_thread()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from peft import PeftModel  # noqa: E402

FOLDER = common.HERE / "lora_dropout"
SEED, EPOCH = 3407, 0
# RandomUse of kernels/base/random.h.
DROPOUT, NEFTUNE, TOKEN = 4, 5, 8
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# Dropout, noise, and the variant of lora_variants/ whose start is taken ("" = lora_10_steps').
CASES = {"dropout": (0.25, 0.0, ""), "neftune": (0.0, 5.0, ""), "both": (0.1, 5.0, ""), "dora": (0.25, 0.0, "dora")}
MASK = np.uint64(0xFFFFFFFF)


def philox(key, low, high) -> list:
    """Four arrays of 32-bit words (in uint64) for arrays of 64-bit keys and counters, which are broadcast."""
    key, low, high = np.broadcast_arrays(*(np.asarray(v, dtype=np.uint64) for v in (key, low, high)))
    shift = np.uint64(32)
    c = [low & MASK, low >> shift, high & MASK, high >> shift]
    k0, k1 = key & MASK, key >> shift
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> shift) ^ c[1] ^ k0, p1 & MASK, (p0 >> shift) ^ c[3] ^ k1, p0 & MASK]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & MASK, (k1 + np.uint64(0xBB67AE85)) & MASK
    return c


def key_of(words) -> np.ndarray:
    return (words[1] << np.uint64(32)) | words[0]


def check_philox() -> None:
    """Known answers published with Random123."""
    ones = 2**64 - 1
    assert [int(w) for w in philox(0, 0, 0)] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert [int(w) for w in philox(ones, ones, ones)] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def token_keys(row: int, length: int) -> np.ndarray:
    """Keys of the tokens of the row with this index among the training rows."""
    folded = np.uint64(SEED)
    for part in (EPOCH, row, 0, TOKEN):
        folded = key_of(philox(folded, part, 0x6C6F72696B656574))
    return key_of(philox(folded, np.arange(length), 0))


def words(keys: np.ndarray, use: int, place: int, columns: int) -> np.ndarray:
    """(tokens, columns): the word drawn for each element."""
    groups = np.arange((columns + 3) // 4)
    four = philox(keys[:, None], groups[None, :], use << 32 | place)
    return np.stack(four, axis=-1).reshape(len(keys), -1)[:, :columns]


class Draws:
    """Numbers for the micro-batch at hand: rows of keys, padded on the right."""

    def __init__(self) -> None:
        self.keys = []

    def padded(self, columns: int, make) -> torch.Tensor:
        longest = max(len(keys) for keys in self.keys)
        out = torch.ones(len(self.keys), longest, columns)
        for i, keys in enumerate(self.keys):
            out[i, :len(keys)] = torch.from_numpy(make(keys))
        return out


class OurDropout(torch.nn.Module):
    """In the place of torch.nn.Dropout in one adapted module."""

    def __init__(self, draws: Draws, probability: float, place: int) -> None:
        super().__init__()
        self.draws, self.probability, self.place = draws, float(np.float32(probability)), place

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        threshold = np.uint64(int(self.probability * 2.0**32))

        def mask(keys):
            stays = words(keys, DROPOUT, self.place, x.shape[-1]) >= threshold
            return stays.astype(np.float32) * np.float32(1 / (1 - self.probability))

        return x * self.draws.padded(x.shape[-1], mask)


def add_noise(draws: Draws, alpha: float):
    """A hook behind the embedding; L is the length of the row itself, not of the padded batch."""

    def hook(_module, _inputs, output):
        width = output.shape[-1]

        def noise(keys):
            size = np.float32(alpha / math.sqrt(len(keys) * width))
            number = (words(keys, NEFTUNE, 0, width) >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-23)
            return size * (number - np.float32(1))

        return output + draws.padded(width, noise)

    return hook


def run_case(steps: list, probability: float, alpha: float, variant: str) -> tuple[dict, dict]:
    """Curve and gradients of the ten steps, and the finished adapter."""
    draws = Draws()
    start = common.HERE / "lora_variants" / variant if variant else plain.FOLDER
    model = PeftModel.from_pretrained(plain.base_model(), start / "adapter_start", is_trainable=True)
    if probability:
        for name, module in model.named_modules():
            if hasattr(module, "lora_dropout"):
                layer, which = int(name.split("layers.")[1].split(".")[0]), MODULES.index(name.split(".")[-1])
                module.lora_dropout["default"] = OurDropout(draws, probability, layer * len(MODULES) + which)
    if alpha:
        model.get_input_embeddings().register_forward_hook(add_noise(draws, alpha))
    model.train()
    numbers = {id(row): i for i, row in enumerate(row for step in steps for batch in step for row in batch)}

    def loss_sum(batch):
        draws.keys = [token_keys(numbers[id(row)], len(row["ids"])) for row in batch]
        return plain.batch_loss_sum(model, batch)

    parameters = {plain.saved_name(n).replace("magnitude_vector.weight", "magnitude_vector"): p
                  for n, p in model.named_parameters() if p.requires_grad}
    got = plain.run(parameters, steps, loss_sum)
    return got, {name: p.detach().clone() for name, p in parameters.items()}


def main() -> None:
    check_philox()
    shutil.rmtree(FOLDER, ignore_errors=True)
    steps = json.loads((plain.FOLDER / "rows.json").read_text())["steps"]
    meta = {"made_by": "make_lora_dropout.py", "versions": common.versions("torch", "transformers", "peft", "numpy"),
            "base": "tiny_llama", "rows": "lora_10_steps/rows.json", "start": "lora_10_steps/adapter_start",
            "seed": SEED, "epoch": EPOCH, "cases": {}}
    for name, (probability, alpha, variant) in CASES.items():
        got, final = run_case(steps, probability, alpha, variant)
        meta["cases"][name] = {"dropout": probability, "neftune": alpha, "variant": variant, "curve": got["curve"]}
        for number in (1, 10):
            common.save_tensors(FOLDER / f"{name}_gradients_step_{number}.safetensors", got["gradients"][number])
        common.save_tensors(FOLDER / f"{name}_final.safetensors", final)
        print(name, *(json.dumps(c) for c in got["curve"]), sep="\n")
    common.write_json(FOLDER / "run.json", meta)


if __name__ == "__main__":
    main()

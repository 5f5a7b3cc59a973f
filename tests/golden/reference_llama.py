# SPDX-License-Identifier: Apache-2.0
"""The Llama network with LoRA in float64, written from the formulas alone: independent of transformers and PEFT.

The makers compare their golden values with it and write the difference into the meta data; that difference is the
noise of float32. RoPE angles are taken exactly or rounded to float32 as transformers does. Gradients come from
PyTorch's autograd.
"""

import json
from pathlib import Path

import torch


def inverse_frequencies(config: dict) -> torch.Tensor:
    """Angle per position of each rotated pair, shape (head_dim / 2)."""
    hd = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta") or config.get("rope_theta") or 10000.0
    inv = theta ** (-torch.arange(0, hd, 2, dtype=torch.float64) / hd)
    if rope.get("rope_type", "default") == "default":
        return inv
    assert rope["rope_type"] == "llama3"
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    original = rope["original_max_position_embeddings"]
    wave = 2 * torch.pi / inv
    s = (original / wave - low) / (high - low)
    middle = (1 - s) * inv / factor + s * inv
    return torch.where(wave < original / high, inv, torch.where(wave > original / low, inv / factor, middle))


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * weight


def rotate(x: torch.Tensor, angle: torch.Tensor) -> torch.Tensor:
    """Half-split rotation; x is (heads, T, head_dim), angle is (T, head_dim / 2)."""
    a, b = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Llama:
    """One row at a time. config: what config.json holds; weights: name -> tensor; adapter: module path ->
    (A [r, in], B [out, r], scaling), used as they are, so that their gradients can be asked for."""

    def __init__(self, config: dict, weights: dict, adapter: dict | None = None, round_angles: bool = False):
        self.config, self.round_angles = config, round_angles
        self.weights = {name: w.double() for name, w in weights.items()}
        self.adapter = adapter or {}

    def linear(self, x: torch.Tensor, module: str) -> torch.Tensor:
        y = x @ self.weights[module + ".weight"].T
        if module in self.adapter:
            a, b, scaling = self.adapter[module]
            y = y + scaling * (x @ a.T) @ b.T
        return y

    def angles(self, length: int) -> torch.Tensor:
        place, inv = torch.arange(length)[:, None], inverse_frequencies(self.config)
        return (place.float() * inv.float()).double() if self.round_angles else place * inv

    def attention(self, x: torch.Tensor, at: str) -> torch.Tensor:
        heads, kv = self.config["num_attention_heads"], self.config["num_key_value_heads"]
        t = x.shape[0]
        q, k, v = (self.linear(x, f"{at}.{p}_proj").reshape(t, n, -1).transpose(0, 1)
                   for p, n in (("q", heads), ("k", kv), ("v", kv)))
        q, k = rotate(q, self.angles(t)), rotate(k, self.angles(t))
        k, v = k.repeat_interleave(heads // kv, 0), v.repeat_interleave(heads // kv, 0)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~torch.ones(t, t, dtype=torch.bool).tril(), -torch.inf)
        mixed = scores.softmax(-1) @ v
        return self.linear(mixed.transpose(0, 1).reshape(t, -1), f"{at}.o_proj")

    def logits(self, ids) -> torch.Tensor:
        """(T, vocabulary) in float64."""
        w, eps = self.weights, self.config["rms_norm_eps"]
        x = w["model.embed_tokens.weight"][torch.as_tensor(ids).long()]
        for layer in range(self.config["num_hidden_layers"]):
            at = f"model.layers.{layer}"
            x = x + self.attention(rms_norm(x, w[at + ".input_layernorm.weight"], eps), at + ".self_attn")
            h = rms_norm(x, w[at + ".post_attention_layernorm.weight"], eps)
            gate, up = self.linear(h, at + ".mlp.gate_proj"), self.linear(h, at + ".mlp.up_proj")
            x = x + self.linear(gate * gate.sigmoid() * up, at + ".mlp.down_proj")
        x = rms_norm(x, w["model.norm.weight"], eps)
        head = "model.embed_tokens.weight" if self.config["tie_word_embeddings"] else "lm_head.weight"
        return x @ w[head].T


def load(folder: Path, adapter: dict | None = None, round_angles: bool = False) -> Llama:
    """Reads config.json and every safetensors file of the folder."""
    from safetensors.torch import load_file

    weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        weights |= load_file(file)
    return Llama(json.loads((folder / "config.json").read_text()), weights, adapter, round_angles)


def adapter_of(tensors: dict, scaling) -> dict:
    """PEFT's names -> what Llama takes; scaling is a number or a function of the module path."""
    found = {}
    for name, a in tensors.items():
        if name.endswith(".lora_A.weight"):
            module = name.removeprefix("base_model.model.").removesuffix(".lora_A.weight")
            b = tensors[name.replace("lora_A", "lora_B")]
            found[module] = (a.double(), b.double(), scaling(module) if callable(scaling) else scaling)
    return found

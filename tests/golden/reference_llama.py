# SPDX-License-Identifier: Apache-2.0
"""The Llama forward pass in numpy float64, written from the formulas alone: an evaluation independent of PyTorch.

The makers compare their golden values with it and write the difference into the meta data. RoPE angles are taken
either exactly or rounded to float32 as transformers does; the difference between the two bounds what an
implementation may choose.
"""

import json
from pathlib import Path

import numpy as np


def inverse_frequencies(config: dict) -> np.ndarray:
    """Angles per position of each rotated pair, shape (head_dim / 2)."""
    hd = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    theta = rope.get("rope_theta") or config.get("rope_theta") or 10000.0
    inv = theta ** (-np.arange(0, hd, 2, dtype=np.float64) / hd)
    if rope.get("rope_type", "default") == "default":
        return inv
    assert rope["rope_type"] == "llama3"
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    original = rope["original_max_position_embeddings"]
    wave = 2 * np.pi / inv
    s = (original / wave - low) / (high - low)
    middle = (1 - s) * inv / factor + s * inv
    return np.where(wave < original / high, inv, np.where(wave > original / low, inv / factor, middle))


def rms_norm(x: np.ndarray, weight: np.ndarray, eps: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def rotate(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Half-split rotation; x is (heads, T, head_dim), cos and sin are (T, head_dim / 2)."""
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


class Llama:
    """config: the dictionary of config.json; weights: name -> float64 array; delta: name -> array added to it."""

    def __init__(self, config: dict, weights: dict, delta: dict | None = None, round_angles: bool = False):
        self.config, self.round_angles = config, round_angles
        self.weights = {name: np.asarray(w, np.float64) for name, w in weights.items()}
        for name, d in (delta or {}).items():
            self.weights[name] = self.weights[name] + d

    def attention(self, x: np.ndarray, prefix: str) -> np.ndarray:
        c, w = self.config, self.weights
        heads, kv = c["num_attention_heads"], c["num_key_value_heads"]
        t = x.shape[0]
        q, k, v = (x @ w[f"{prefix}{p}_proj.weight"].T for p in "qkv")
        q = q.reshape(t, heads, -1).transpose(1, 0, 2)
        k, v = (m.reshape(t, kv, -1).transpose(1, 0, 2) for m in (k, v))
        inv, place = inverse_frequencies(c), np.arange(t)[:, None]
        if self.round_angles:
            angle = (place.astype(np.float32) * inv.astype(np.float32)).astype(np.float64)
        else:
            angle = place * inv
        q, k = rotate(q, np.cos(angle), np.sin(angle)), rotate(k, np.cos(angle), np.sin(angle))
        k, v = np.repeat(k, heads // kv, axis=0), np.repeat(v, heads // kv, axis=0)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        scores = np.where(np.tril(np.ones((t, t), bool)), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (p / p.sum(-1, keepdims=True)) @ v
        return mixed.transpose(1, 0, 2).reshape(t, -1) @ w[f"{prefix}o_proj.weight"].T

    def logits(self, ids) -> np.ndarray:
        """(T, vocabulary) in float64."""
        c, w = self.config, self.weights
        eps = c["rms_norm_eps"]
        x = w["model.embed_tokens.weight"][np.asarray(ids)]
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            x = x + self.attention(rms_norm(x, w[at + "input_layernorm.weight"], eps), at + "self_attn.")
            h = rms_norm(x, w[at + "post_attention_layernorm.weight"], eps)
            gate, up = h @ w[at + "mlp.gate_proj.weight"].T, h @ w[at + "mlp.up_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w[at + "mlp.down_proj.weight"].T
        x = rms_norm(x, w["model.norm.weight"], eps)
        head = "model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"
        return x @ w[head].T


def load(folder: Path, delta: dict | None = None, round_angles: bool = False) -> Llama:
    """Reads config.json and every safetensors file of the folder."""
    from safetensors.torch import load_file

    weights = {}
    for file in sorted(folder.glob("*.safetensors")):
        weights |= {name: t.double().numpy() for name, t in load_file(file).items()}
    return Llama(json.loads((folder / "config.json").read_text()), weights, delta, round_angles)

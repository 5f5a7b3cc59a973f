# SPDX-License-Identifier: Apache-2.0
"""Makes adamw_8bit/: trajectories of bitsandbytes' AdamW with the rules of its CUDA kernels.

bitsandbytes' CPU back end differs from its CUDA kernels: it decays before the update and does not keep the sign of
the first moment. The trajectories are therefore made by the plain numpy below, written from the rules; with decay and
sign rule off it is compared, state byte by state byte, with what bitsandbytes itself computes on the CPU.

Gradients are adjusted until no state value lies near a rounding edge of its map, so the codes may be compared exactly.
"""

import json
import shutil

import common

common.one_thread()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from plain_bitsandbytes import bnb  # noqa: E402

FOLDER = common.HERE / "adamw_8bit"
BLOCK = 256
F = np.float32
BETA1, BETA2, EPS, DECAY = F(0.9), F(0.999), F(1e-8), F(0.01)
RATES = [F(2e-3 * (10 - t) / 10) for t in range(10)]
GRADIENTS = 4  # step t uses gradient (t - 1) mod 4
SAVED_STEPS = (1, 2, 10)
SIGNED = bnb.create_dynamic_map(signed=True).numpy()
UNSIGNED = bnb.create_dynamic_map(signed=False).numpy()
EDGE = 1e-4  # no value nearer to an edge than this part of it


def corrections(step: int) -> tuple[np.float32, np.float32]:
    """Step size factor sqrt(1 - b2^t) / (1 - b1^t), and sqrt(1 - b2^t) itself."""
    root = np.sqrt(F(1) - F(BETA2**F(step)))
    return root / (F(1) - F(BETA1**F(step))), root


def moments(m, v, gradient):
    """New moments; both are 0 where the gradient is not finite."""
    ok = np.isfinite(gradient)
    g = np.where(ok, gradient, F(0))
    m, v = m * BETA1 + (F(1) - BETA1) * g, v * BETA2 + (F(1) - BETA2) * g * g
    return np.where(ok, m, F(0)), np.where(ok, v, F(0)), ok


def update(p, m, v, ok, step: int, rate, decay):
    """p after the update and then the decay; untouched where the gradient is not finite."""
    factor, root = corrections(step)
    new = p - rate * factor * (m / (np.sqrt(v) + root * EPS))
    new = new * (F(1) - rate * decay)
    return np.where(ok, new, p).astype(F)


def by_block(values) -> np.ndarray:
    return np.pad(values, (0, -len(values) % BLOCK)).reshape(-1, BLOCK)


def encode(values, map_, keep_sign: bool):
    """(codes, absmax per block, how near each value is to a rounding edge, relative to the edge)."""
    blocks = by_block(values)
    absmax = np.abs(blocks).max(1)
    x = blocks.astype(np.float64) / np.maximum(absmax.astype(np.float64), 1e-300)[:, None]
    edges = (map_[:-1].astype(np.float64) + map_[1:]) / 2
    codes = np.searchsorted(edges, x, side="left")
    above, below = edges[np.minimum(codes, 254)], edges[np.maximum(codes - 1, 0)]
    near = np.minimum(np.abs(x / above - 1), np.abs(x / below - 1))
    near[(x == 0) | (np.abs(x) == 1)] = np.inf
    if keep_sign:  # a negative value that rounds to 0 takes the entry below; a positive one keeps 0, whose sign is +
        codes -= (map_[codes] == 0) & (x < 0)
    n = len(values)
    return codes.flatten()[:n].astype(np.uint8), absmax.astype(F), near.flatten()[:n]


def decode(codes, absmax, map_):
    return (by_block(map_[codes]) * absmax[:, None]).flatten()[:len(codes)].astype(F)


def trajectory_8bit(p, gradients, decay, keep_sign=True):
    """Yields (step, p, codes1, codes2, absmax1, absmax2, near) for steps 1 .. 10."""
    blocks = -(-len(p) // BLOCK)
    c1 = c2 = np.zeros(len(p), np.uint8)
    a1 = a2 = np.zeros(blocks, F)
    for step, rate in enumerate(RATES, 1):
        g = gradients[(step - 1) % len(gradients)]
        m, v, ok = moments(decode(c1, a1, SIGNED), decode(c2, a2, UNSIGNED), g)
        p = update(p, m, v, ok, step, rate, decay)
        c1, a1, near1 = encode(m, SIGNED, keep_sign)
        c2, a2, near2 = encode(v, UNSIGNED, False)
        yield step, p, c1, c2, a1, a2, np.minimum(near1, near2)


def trajectory_32bit(p, gradients, decay):
    m = v = np.zeros(len(p), F)
    for step, rate in enumerate(RATES, 1):
        m, v, ok = moments(m, v, gradients[(step - 1) % len(gradients)])
        p = update(p, m, v, ok, step, rate, decay)
        yield step, p, m, v


def gradients_for(n: int, seed: int) -> np.ndarray:
    """Normal values of very different size, exact zeros, and values so small beside their block that they round to 0."""
    rng = np.random.default_rng(seed)
    g = rng.standard_normal((GRADIENTS, n)) * 10.0 ** rng.uniform(-4, -1, n)
    g[:, rng.random(n) < 0.03] = 0
    tiny = rng.random(n) < 0.05
    g[:, tiny] = np.sign(g[:, tiny]) * 1e-9
    if n > 3 * BLOCK:
        g[:, 2 * BLOCK:3 * BLOCK] = 0  # one block without any gradient
    return g.astype(F)


def settle(p, gradients) -> np.ndarray:
    """Draws gradients anew until every value of the whole trajectory is clear of the edges."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        bad = np.min([near for *_, near in trajectory_8bit(p, gradients, DECAY)], axis=0) < EDGE
        if not bad.any():
            return gradients
        gradients[:, bad] *= rng.uniform(0.5, 1.5, (GRADIENTS, bad.sum())).astype(F)
    raise SystemExit("the gradients do not settle")


def compare_with_bitsandbytes(p, gradients) -> dict:
    """Largest differences from bitsandbytes on the CPU, decay and sign rule off."""
    q = torch.tensor(p.copy())
    s1, s2 = torch.zeros(len(p), dtype=torch.uint8), torch.zeros(len(p), dtype=torch.uint8)
    a1 = torch.zeros(-(-len(p) // BLOCK))
    a2, worst = a1.clone(), {"codes_that_differ": 0, "parameters": 0.0, "absmax": 0.0}
    for step, mine, c1, c2, b1, b2, _ in trajectory_8bit(p, gradients, F(0), keep_sign=False):
        bnb.optimizer_update_8bit_blockwise(
            "adam", torch.tensor(gradients[(step - 1) % GRADIENTS]), q, s1, s2, 0.9, 0.999, 0.0, 0.0, 1e-8, step,
            float(RATES[step - 1]), torch.tensor(SIGNED), torch.tensor(UNSIGNED), a1, a2, weight_decay=0.0)
        live1, live2 = (np.repeat(a > 0, BLOCK)[:len(p)] for a in (b1, b2))
        differ = ((s1.numpy() != c1) & live1).sum() + ((s2.numpy() != c2) & live2).sum()
        worst["codes_that_differ"] += int(differ)
        worst["parameters"] = max(worst["parameters"], float(np.abs(q.numpy() - mine).max()))
        for ours, theirs in ((b1, a1.numpy()), (b2, a2.numpy())):
            worst["absmax"] = max(worst["absmax"], float((np.abs(ours - theirs) / np.maximum(ours, 1e-30)).max()))
    return worst


def case_8bit(name: str, n: int, seed: int, tensors: dict) -> dict:
    rng = np.random.default_rng(seed + 1)
    p = (rng.standard_normal(n) * 0.05).astype(F)
    gradients = settle(p, gradients_for(n, seed))
    tensors[f"{name}.start"] = p
    for i, g in enumerate(gradients):
        tensors[f"{name}.gradient_{i}"] = g
    kept = 0
    for step, q, c1, c2, a1, a2, near in trajectory_8bit(p, gradients, DECAY):
        kept += int(((decode(c1, a1, SIGNED) < 0) & (c1 == 126)).sum())
        if step in SAVED_STEPS:
            tensors |= {f"{name}.parameters_{step}": q, f"{name}.state1_{step}": c1, f"{name}.state2_{step}": c2,
                        f"{name}.absmax1_{step}": a1, f"{name}.absmax2_{step}": a2}
    return {"elements": n, "codes_126_seen": kept, "differences_from_bitsandbytes_cpu_without_decay_and_sign_rule":
            compare_with_bitsandbytes(p, gradients)}


def case_32bit(name: str, n: int, seed: int, tensors: dict) -> dict:
    rng = np.random.default_rng(seed + 1)
    p, gradients = (rng.standard_normal(n) * 0.05).astype(F), gradients_for(n, seed)
    tensors[f"{name}.start"] = p
    for i, g in enumerate(gradients):
        tensors[f"{name}.gradient_{i}"] = g
    for step, q, m, v in trajectory_32bit(p, gradients, DECAY):
        if step in SAVED_STEPS:
            tensors |= {f"{name}.parameters_{step}": q, f"{name}.state1_{step}": m, f"{name}.state2_{step}": v}
    return {"elements": n, "states": "float32"}


def case_not_finite(tensors: dict) -> dict:
    """Two steps of one block and a half; the second gradient holds NaN and both infinities."""
    rng = np.random.default_rng(77)
    n = BLOCK + BLOCK // 2
    p = (rng.standard_normal(n) * 0.05).astype(F)
    good = np.where(np.arange(n) % 2, F(0.01), F(-0.02)).astype(F)
    bad = good.copy()
    bad[[3, 40, 200, 300]] = [np.nan, np.inf, -np.inf, np.nan]
    tensors |= {"not_finite.start": p, "not_finite.gradient_0": good, "not_finite.gradient_1": bad}
    for step, q, c1, c2, a1, a2, _ in trajectory_8bit(p, [good, bad], DECAY):
        if step <= 2:
            tensors |= {f"not_finite.parameters_{step}": q, f"not_finite.state1_{step}": c1,
                        f"not_finite.state2_{step}": c2, f"not_finite.absmax1_{step}": a1,
                        f"not_finite.absmax2_{step}": a2}
    return {"elements": n, "steps": 2}


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    tensors, facts = {}, {}
    with np.errstate(divide="ignore", invalid="ignore"):
        facts["whole_blocks"] = case_8bit("whole_blocks", 4096, 31, tensors)
        facts["short_last_block"] = case_8bit("short_last_block", 5000, 32, tensors)
        facts["small"] = case_32bit("small", 300, 33, tensors)
        facts["not_finite"] = case_not_finite(tensors)
    common.save_tensors(FOLDER / "trajectories.safetensors", {k: torch.tensor(v) for k, v in tensors.items()})
    common.write_json(FOLDER / "meta.json", {
        "made_by": "make_adamw_8bit.py (numpy, CUDA rules)",
        "versions": common.versions("torch", "bitsandbytes", "numpy", "safetensors"), "block": BLOCK,
        "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01, "learning_rates": [float(r) for r in RATES],
        "gradient_of_step": "(step - 1) mod number of gradients", "distance_to_rounding_edges": EDGE, "cases": facts})
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Makes bnb/: 4-bit and 8-bit quantisation by bitsandbytes (its plain PyTorch kernels) and its code books.

Codes are only pinned where they cannot depend on the order of rounding: the script refuses inputs whose scaled value
comes closer to a decision threshold than float32 can tell apart.
"""

import json
import shutil

import common

common.one_thread()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from plain_bitsandbytes import bnb  # noqa: E402

FOLDER = common.HERE / "bnb"
BLOCK, NESTED_BLOCK = 64, 256


def normal(shape, seed: int, scale: float = 0.02) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale


def with_outliers(shape, seed: int) -> torch.Tensor:
    """One value in fifty is 20 to 200 times larger."""
    w, generator = normal(shape, seed), torch.Generator().manual_seed(seed + 1)
    hit = torch.rand(shape, generator=generator) < 0.02
    return torch.where(hit, w * (20 + 180 * torch.rand(shape, generator=generator)), w)


def with_zero_block(shape, seed: int) -> torch.Tensor:
    """The second and the last (short) block are zero."""
    w = normal(shape, seed).flatten()
    w[BLOCK:2 * BLOCK] = 0
    w[len(w) // BLOCK * BLOCK:] = 0
    return w.reshape(shape)


def thresholds(code: torch.Tensor) -> torch.Tensor:
    """Every threshold, the float below it and the float above it, padded to a block whose largest value is 1."""
    ordered = code.sort().values
    middle = (ordered[:-1] + ordered[1:]) / 2
    one = torch.tensor(float("inf"))
    values = torch.stack([middle.nextafter(-one), middle, middle.nextafter(one)], 1).flatten()
    block = torch.zeros(1, BLOCK)
    block[0, :len(values)], block[0, -1] = values, 1.0
    return block


def cases() -> dict[str, torch.Tensor]:
    return {
        "square": normal((64, 64), 1),
        "across_rows": normal((33, 70), 2),
        "odd_count": normal((5, 13), 3),
        "one_short_block": normal((3, 21), 4),
        "one_value": torch.tensor([[-0.25]]),
        "outliers": with_outliers((48, 80), 5),
        "zero_blocks": with_zero_block((7, 37), 6),
        "small_values": normal((4, 64), 7, 1e-30),
        "large_values": normal((4, 64), 8, 1e30),
        "f16": normal((24, 100), 9).half(),
        "bf16": normal((40, 72), 10).bfloat16(),
        "two_nested_blocks": normal((80, 230), 11).bfloat16(),
    }


def blocks_of(flat: torch.Tensor, size: int) -> torch.Tensor:
    """(blocks, size), the last one filled with zeros."""
    return torch.nn.functional.pad(flat, (0, -len(flat) % size)).reshape(-1, size)


def distance_to_thresholds(scaled: torch.Tensor, code: torch.Tensor) -> torch.Tensor:
    """|x - nearest threshold| of each value; infinite for zeros, which no rounding can move."""
    ordered = code.double().sort().values
    middle = (ordered[:-1] + ordered[1:]) / 2
    x = scaled.double()
    near = (x[..., None] - middle).abs().amin(-1)
    return torch.where(x == 0, torch.inf, near)


def away_from_thresholds(w: torch.Tensor) -> torch.Tensor:
    """Changes the few values that sit so near a threshold that 1/absmax in float32 could decide their code."""
    w = w.clone()
    for _ in range(20):
        blocks = blocks_of(w.flatten(), BLOCK)
        scaled = blocks.double() / blocks.abs().amax(1, keepdim=True).double().clamp(min=1e-300)
        near = torch.zeros_like(scaled, dtype=torch.bool)
        for kind in ("nf4", "fp4"):
            near |= distance_to_thresholds(scaled, bnb.get_4bit_type(kind, device="cpu")) < 3e-7
        if not near.any():
            return w
        flat = torch.where(near, blocks * 1.01, blocks).to(w.dtype).flatten()
        w = flat[:w.numel()].reshape(w.shape)
    raise SystemExit("cannot move the values away from the thresholds")


def quantise_4bit(name: str, w: torch.Tensor, kind: str, nested: bool, tensors: dict) -> None:
    """Adds what bitsandbytes makes of w under the names name.packed, name.absmax, ..."""
    packed, state = bnb.quantize_4bit(w, blocksize=BLOCK, compress_statistics=nested, quant_type=kind)
    codes = torch.stack([packed.flatten() >> 4, packed.flatten() & 15], 1).flatten()[:w.numel()].long()
    absmax = nested_values(state) if nested else state.absmax
    back = (state.code[codes] * absmax.repeat_interleave(BLOCK)[:w.numel()]).to(w.dtype).reshape(w.shape)
    assert torch.equal(back, bnb.dequantize_4bit(packed, state)), "not code * absmax"
    if not nested:
        tensors |= {f"{name}.packed": packed.flatten(), f"{name}.absmax": state.absmax, f"{name}.dequantised": back}
    else:
        tensors |= {f"{name}.nested.absmax": state.absmax, f"{name}.nested.absmax_of_absmax": state.state2.absmax,
                    f"{name}.nested.offset": state.offset.reshape(1), f"{name}.nested.dequantised": back}


def nested_values(state) -> torch.Tensor:
    """The absmax values a nested state stands for."""
    map_ = state.state2.code
    blocks = state.state2.absmax.repeat_interleave(NESTED_BLOCK)[:len(state.absmax)]
    return map_[state.absmax.long()] * blocks + state.offset


def check_nested_margin(name: str, tensors: dict) -> None:
    """An offset that is 4 ulp off may not change an 8-bit code."""
    absmax = tensors[f"{name}.absmax"].double()
    offset, largest = tensors[f"{name}.nested.offset"].double(), tensors[f"{name}.nested.absmax_of_absmax"].double()
    x = (absmax - offset) / largest.repeat_interleave(NESTED_BLOCK)[:len(absmax)].clamp(min=1e-300)
    if len(absmax) == 1:
        return
    slack = 8 * np.spacing(np.float32(offset.item())) / largest.min().item()
    near = distance_to_thresholds(x, bnb.create_dynamic_map(signed=True)).min().item()
    assert near > slack, f"{name}: an absmax sits on a threshold: take another seed"


def four_bit() -> dict:
    """nf4.safetensors and fp4.safetensors; returns the shapes and types."""
    facts = {}
    for kind in ("nf4", "fp4"):
        code, tensors = bnb.get_4bit_type(kind, device="cpu"), {}
        for name, w in cases().items():
            if kind == "fp4" and name not in ("across_rows", "odd_count", "outliers", "f16", "bf16"):
                continue
            w = away_from_thresholds(w)
            if kind == "nf4":
                tensors[f"{name}.weight"] = w
                facts[name] = {"shape": list(w.shape), "dtype": str(w.dtype).removeprefix("torch.")}
            quantise_4bit(name, w, kind, False, tensors)
            quantise_4bit(name, w, kind, True, tensors)
            check_nested_margin(name, tensors)
        if kind == "nf4":  # at FP4's thresholds the CPU and the CUDA back end differ in the negatives
            tensors["thresholds.weight"] = thresholds(code)
            quantise_4bit("thresholds", tensors["thresholds.weight"], kind, False, tensors)
        tensors["code"] = code
        common.save_tensors(FOLDER / f"{kind}.safetensors", tensors)
    return facts


def eight_bit() -> None:
    """int8.safetensors: rows by LLM.int8's rule; maps.safetensors: the dynamic maps and a block of 256 by each."""
    tensors = {}
    for name, w in (("f16", normal((12, 70), 21).half()), ("outliers_f16", with_outliers((9, 64), 22).half())):
        codes, absmax, _ = bnb.int8_vectorwise_quant(w.clone())
        tensors |= {f"{name}.weight": w, f"{name}.codes": codes, f"{name}.row_absmax": absmax}
    common.save_tensors(FOLDER / "int8.safetensors", tensors)
    signed, unsigned = bnb.create_dynamic_map(signed=True), bnb.create_dynamic_map(signed=False)
    tensors = {"signed": signed, "unsigned": unsigned}
    for name, map_, x in (("signed", signed, normal((700,), 23)), ("unsigned", unsigned, normal((700,), 24).square())):
        blocks = blocks_of(x, 256)
        scaled = blocks.double() / blocks.abs().amax(1, keepdim=True)
        assert (distance_to_thresholds(scaled, map_) > 3e-7 * scaled.abs()).all(), "take another seed"
        codes, state = bnb.quantize_blockwise(x, code=map_, blocksize=256)
        tensors |= {f"{name}.values": x, f"{name}.codes": codes, f"{name}.absmax": state.absmax,
                    f"{name}.dequantised": bnb.dequantize_blockwise(codes, state)}
    common.save_tensors(FOLDER / "maps.safetensors", tensors)


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    facts = four_bit()
    eight_bit()
    common.write_json(FOLDER / "meta.json", {
        "made_by": "make_bnb.py", "versions": common.versions("torch", "bitsandbytes", "numpy", "safetensors"),
        "kernels": "default (plain PyTorch)", "blocksize": BLOCK, "nested_blocksize": NESTED_BLOCK, "cases": facts})
    print(json.dumps(facts))


if __name__ == "__main__":
    main()

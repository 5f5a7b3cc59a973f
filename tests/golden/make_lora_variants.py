# SPDX-License-Identifier: Apache-2.0
"""Makes lora_variants/: the ten steps of make_lora_steps.py for other kinds of adapters: rsLoRA, DoRA, DoRA on a base in
NF4, and a start by LoftQ on a base in NF4.

The base of the last two is tiny_llama with its linear layers quantised to NF4 (double quantisation) and back, computed
in float32. LoftQ: A and B from PEFT's own decomposition of what the quantisation lost, one iteration; PEFT's loftq_init
itself wants a GPU. Needs tiny_llama/ and lora_10_steps/.
"""

import json
import shutil

import common

common.one_thread()

import make_lora_steps as plain  # noqa: E402
import torch  # noqa: E402
from peft import LoraConfig, PeftModel, get_peft_model  # noqa: E402
from peft.utils.loftq_utils import _low_rank_decomposition  # noqa: E402
from plain_bitsandbytes import bnb  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers import LlamaForCausalLM  # noqa: E402

FOLDER = common.HERE / "lora_variants"
CASES = {
    "rslora": {"r": 4, "lora_alpha": 8, "use_rslora": True},
    "dora": {"r": 4, "lora_alpha": 8, "use_dora": True},
    "dora_nf4": {"r": 4, "lora_alpha": 8, "use_dora": True},
    "loftq": {"r": 4, "lora_alpha": 4},
}
NF4 = ("dora_nf4", "loftq")


def linear_layers(model):
    return [(name, module) for name, module in model.named_modules()
            if isinstance(module, torch.nn.Linear) and "lm_head" not in name]


def base_model(case: str, dtype=torch.float32) -> LlamaForCausalLM:
    model = plain.base_model()
    if case in NF4:
        for _, module in linear_layers(model):
            packed, state = bnb.quantize_4bit(module.weight.data, blocksize=64, compress_statistics=True, quant_type="nf4")
            module.weight.data = bnb.dequantize_4bit(packed, state)
    return model.to(dtype)


def start_by_loftq(model, rank: int) -> dict:
    """Sets A and B of every layer; the best Frobenius residual of each, relative to what quantisation lost."""
    stored, lost = dict(linear_layers(base_model("loftq"))), {}
    for name, module in linear_layers(plain.base_model()):
        residual = module.weight.data - stored[name].weight.data
        parts = _low_rank_decomposition(residual, reduced_rank=rank)
        layer = model.get_submodule("base_model.model." + name)
        layer.lora_A["default"].weight.data = parts["R"].contiguous()
        layer.lora_B["default"].weight.data = parts["L"].contiguous()
        singular = parts["S"].double().square()
        lost[name] = (singular[rank:].sum() / singular.sum()).sqrt().item()
    return lost


def save_adapter(model, folder) -> None:
    model.peft_config["default"].base_model_name_or_path = "tiny_llama"
    model.save_pretrained(folder)
    common.tidy_adapter(folder)


def saved_name(name: str) -> str:
    """As PEFT writes it: a magnitude loses its .weight."""
    name = name.replace(".default", "")
    return name.removesuffix(".weight") if "magnitude" in name else name


def parameters_of(model) -> dict:
    return {saved_name(n): p for n, p in model.named_parameters() if p.requires_grad}


def exact_run(case: str, start: dict, steps: list) -> tuple[dict, dict]:
    """The same steps by the same program in float64."""
    model = get_peft_model(base_model(case, torch.float64), LoraConfig(**config_of(case)))
    parameters = parameters_of(model)
    for name, p in parameters.items():
        p.data = start[name].double()
    got = plain.run(parameters, steps, lambda batch: plain.batch_loss_sum(model, batch))
    return got, {name: p.detach() for name, p in parameters.items()}


def config_of(case: str) -> dict:
    return {"target_modules": "all-linear", "lora_dropout": 0.0, "bias": "none", "task_type": "CAUSAL_LM", **CASES[case]}


def make(case: str, seed: int, steps: list) -> dict:
    torch.manual_seed(seed)
    folder = FOLDER / case
    model = get_peft_model(base_model(case), LoraConfig(**config_of(case)))
    facts = {"best_residual": start_by_loftq(model, CASES[case]["r"])} if case == "loftq" else {}
    save_adapter(model, folder / "adapter_start")
    start = load_file(folder / "adapter_start" / "adapter_model.safetensors")
    parameters = parameters_of(model)
    assert parameters.keys() == start.keys()
    got = plain.run(parameters, steps, lambda batch: plain.batch_loss_sum(model, batch))
    save_adapter(model, folder / "adapter_final")
    for number in (1, 2, 10):
        common.save_tensors(folder / f"gradients_step_{number}.safetensors", got["gradients"][number])
    ids = load_file(plain.BASE / "golden" / "logits.safetensors")["ids_2"]
    tensors = {"ids": ids}
    for name in ("start", "final"):
        loaded = PeftModel.from_pretrained(base_model(case), folder / f"adapter_{name}").eval()
        with torch.no_grad():
            tensors[f"logits_{name}"] = loaded(ids[None].long()).logits[0]
    common.save_tensors(folder / "logits.safetensors", tensors)
    exact, final = exact_run(case, start, steps)
    pairs = list(zip(got["curve"], exact["curve"]))
    noise = {"loss": max(abs(a["loss"] / b["loss"] - 1) for a, b in pairs),
             "grad_norm": max(abs(a["grad_norm"] / b["grad_norm"] - 1) for a, b in pairs),
             "gradients": max(plain.relative(got["gradients"][n][name], g) for n in (1, 2, 10)
                              for name, g in exact["gradients"][n].items()),
             "final_adapter": max(plain.relative(parameters[name].detach(), final[name]) for name in final)}
    print(case, json.dumps(noise), got["curve"][0]["loss"], got["curve"][-1]["loss"])
    return {"rank": CASES[case]["r"], "alpha": CASES[case]["lora_alpha"], "quantization": "nf4" if case in NF4 else "none",
            **facts, "largest_relative_difference_from_float64": noise, "curve": got["curve"]}


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    steps = plain.make_steps()
    assert steps == json.loads((plain.FOLDER / "rows.json").read_text())["steps"]
    cases = {case: make(case, seed, steps) for seed, case in enumerate(CASES, 720)}
    common.write_json(FOLDER / "run.json", {
        "made_by": "make_lora_variants.py", "base": "tiny_llama", "rows": "lora_10_steps/rows.json",
        "versions": common.versions("torch", "transformers", "peft", "bitsandbytes", "safetensors"),
        "optimizer": {"name": "torch.optim.AdamW", **plain.OPTIMIZER}, "max_grad_norm": plain.MAX_GRAD_NORM,
        "cases": cases})


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Makes peft_adapters/: adapters on tiny_llama as PEFT saves them, and the logits each gives by PEFT.

Needs tiny_llama/. Every adapter has random A and B, so that each one moves the logits.
"""

import json
import shutil

import common
import reference_llama

common.one_thread()

import torch  # noqa: E402
from peft import LoraConfig, PeftModel, get_peft_model  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import LlamaForCausalLM  # noqa: E402

BASE = common.HERE / "tiny_llama"
FOLDER = common.HERE / "peft_adapters"
KEPT = 8  # positions at the end whose logits are written
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
PATTERNS = {
    "rank_pattern": {"down_proj": 4, "layers.0.self_attn.q_proj": 16, r"layers\.1\.mlp\..*_proj": 3},
    "alpha_pattern": {"k_proj": 2, "layers.0.self_attn.q_proj": 24, "^model.layers.1.self_attn.v_proj": 1},
}

CASES = {
    "plain": {"config": {"r": 8, "lora_alpha": 16, "target_modules": "all-linear"}},
    "rslora": {"config": {"r": 8, "lora_alpha": 16, "target_modules": "all-linear", "use_rslora": True}},
    "patterns": {"config": {"r": 8, "lora_alpha": 16, "target_modules": "all-linear", **PATTERNS}},
    "patterns_rslora": {"config": {"r": 6, "lora_alpha": 5, "target_modules": "all-linear", "use_rslora": True,
                                   **PATTERNS}},
    "qv": {"config": {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}},
    "regex_targets": {"config": {"r": 4, "lora_alpha": 8, "target_modules": r".*layers\.1\..*(up|o)_proj"}},
    "one_layer": {"config": {"r": 4, "lora_alpha": 8, "target_modules": ATTENTION, "layers_to_transform": [1]}},
    "f16": {"config": {"r": 4, "lora_alpha": 8, "target_modules": ATTENTION}, "dtype": torch.float16},
    "bf16": {"config": {"r": 4, "lora_alpha": 8, "target_modules": ATTENTION}, "dtype": torch.bfloat16},
    "odd_rank": {"config": {"r": 5, "lora_alpha": 7, "target_modules": ["gate_proj", "down_proj"]}},
}


def base_model() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(BASE, dtype=torch.float32, attn_implementation="eager").eval()


def logits_of(model, ids) -> torch.Tensor:
    with torch.no_grad():
        return model(ids[None].long()).logits[0]


def make(name: str, case: dict, seed: int) -> None:
    """Saves the adapter folder in the dtype asked for (PEFT itself keeps F32)."""
    torch.manual_seed(seed)
    model = get_peft_model(base_model(), LoraConfig(task_type="CAUSAL_LM", **case["config"]))
    with torch.no_grad():
        for parameter_name, p in model.named_parameters():
            if "lora_B" in parameter_name:
                p.normal_(0, 0.06)
    model.peft_config["default"].base_model_name_or_path = "tiny_llama"
    model.save_pretrained(FOLDER / name)
    common.tidy_adapter(FOLDER / name)
    file = FOLDER / name / "adapter_model.safetensors"
    if "dtype" in case:
        save_file({n: t.to(case["dtype"]) for n, t in load_file(file).items()}, file, {"format": "pt"})
    common.check_size(file)


def scaling_of(model) -> dict:
    """module path -> what PEFT multiplies B A x with."""
    prefix = "base_model.model."
    return {n.removeprefix(prefix): m.scaling["default"] for n, m in model.named_modules()
            if isinstance(getattr(m, "scaling", None), dict)}


def measure(name: str, ids: torch.Tensor, plain: torch.Tensor) -> tuple[torch.Tensor, dict]:
    """Logits as PEFT gives them from the folder; merged, unmerged and in float64."""
    model = PeftModel.from_pretrained(base_model(), FOLDER / name, autocast_adapter_dtype=True).eval()
    logits, scaling = logits_of(model, ids), scaling_of(model)
    merged = logits_of(model.merge_and_unload(safe_merge=True), ids)
    tensors = load_file(FOLDER / name / "adapter_model.safetensors")
    exact = reference_llama.load(BASE, reference_llama.adapter_of(tensors, scaling.get)).logits(ids)
    facts = {"scaling": scaling, "moves_logits_by": (logits - plain).abs().max().item(),
             "merged_differs_by": (merged - logits).abs().max().item(),
             "float64_differs_by": (exact - logits).abs().max().item()}
    return logits, facts


def reverse_patterns() -> None:
    """One more folder: of several patterns that fit, the first in the file counts, and no writer has to sort them."""
    source, target = FOLDER / "patterns", FOLDER / "patterns_in_file_order"
    shutil.copytree(source, target)
    config = json.loads((source / "adapter_config.json").read_text())
    config["alpha_pattern"] = {"self_attn.q_proj": 40, "layers.0.self_attn.q_proj": 24, "k_proj": 2,
                               "layers.1.self_attn.k_proj": 30}
    (target / "adapter_config.json").write_text(json.dumps(config, indent=2))


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    known = load_file(BASE / "golden" / "logits.safetensors")
    ids = torch.cat([known["ids_2"], known["ids_3"][:17]])
    for seed, (name, case) in enumerate(CASES.items(), 500):
        make(name, case, seed)
    reverse_patterns()
    plain = logits_of(base_model(), ids)
    tensors, facts = {"ids": ids, "positions": torch.arange(len(ids) - KEPT, len(ids), dtype=torch.int32),
                      "logits_without_adapter": plain[-KEPT:]}, {}
    for name in [*CASES, "patterns_in_file_order"]:
        logits, facts[name] = measure(name, ids, plain)
        tensors[f"logits_{name}"] = logits[-KEPT:]
        print(name, {k: v for k, v in facts[name].items() if k != "scaling"})
    common.save_tensors(FOLDER / "logits.safetensors", tensors)
    common.write_json(FOLDER / "meta.json", {
        "made_by": "make_peft_adapters.py", "base": "tiny_llama",
        "versions": common.versions("torch", "transformers", "peft", "safetensors"), "adapters": facts})


if __name__ == "__main__":
    main()

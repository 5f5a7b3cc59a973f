# SPDX-License-Identifier: Apache-2.0
"""Makes nf4_llama/: logits of tiny_llama with its linear layers in NF4, computed in float32 on the values that
bitsandbytes gives back. Needs tiny_llama/ and lora_10_steps/.
"""

import json
import shutil

import common

common.one_thread()

import torch  # noqa: E402
from peft import PeftModel  # noqa: E402
from plain_bitsandbytes import bnb  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from transformers import LlamaForCausalLM  # noqa: E402

BASE = common.HERE / "tiny_llama"
FOLDER = common.HERE / "nf4_llama"
KEPT = 8  # positions at the end whose logits are written


def plain_base() -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(BASE, dtype=torch.float32, attn_implementation="eager").eval()


def quantised_base(nested: bool) -> LlamaForCausalLM:
    """Every linear layer but the head goes to NF4 and back, each tensor with blocks of its own."""
    model = plain_base()
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear) and "lm_head" not in name:
            packed, state = bnb.quantize_4bit(module.weight.data, blocksize=64, compress_statistics=nested,
                                              quant_type="nf4")
            module.weight.data = bnb.dequantize_4bit(packed, state)
    return model


def logits_of(model, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model(ids[None].long()).logits[0, -KEPT:]


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    ids = load_file(BASE / "golden" / "logits.safetensors")["ids_4"]
    tensors = {"ids": ids, "positions": torch.arange(len(ids) - KEPT, len(ids), dtype=torch.int32)}
    facts, plain = {}, logits_of(plain_base(), ids)
    for name, nested in (("nf4", True), ("nf4_single", False)):
        tensors[f"logits_{name}"] = logits_of(quantised_base(nested), ids)
        adapted = PeftModel.from_pretrained(quantised_base(nested), common.HERE / "lora_10_steps" / "adapter_final")
        tensors[f"logits_{name}_adapter"] = logits_of(adapted.eval(), ids)
        facts[name] = {"differs_from_the_f32_model_by": (tensors[f"logits_{name}"] - plain).abs().max().item()}
    between = (tensors["logits_nf4"] - tensors["logits_nf4_single"]).abs().max().item()
    common.save_tensors(FOLDER / "logits.safetensors", tensors)
    common.write_json(FOLDER / "meta.json", {
        "made_by": "make_nf4_llama.py", "versions": common.versions("torch", "transformers", "peft", "bitsandbytes"),
        "base": "tiny_llama", "adapter": "lora_10_steps/adapter_final", "compute": "float32", **facts,
        "nf4_differs_from_nf4_single_by": between})
    print(json.dumps(facts), between)


if __name__ == "__main__":
    main()

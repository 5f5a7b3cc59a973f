# SPDX-License-Identifier: Apache-2.0
"""Makes families/NAME/: a tiny random model of each family with what transformers and PEFT compute of it in f32.

config.json, model.safetensors (BF16, so that values are exact in every type), adapter/ (PEFT, all linear layers, B not
zero) and golden.safetensors:
  ids_N, positions_N, logits_N, adapted_N   logits of the base and of base + adapter at some positions of sequence N
  grad_ids, loss, NAME                      summed loss of a sequence under base + adapter, and its gradient by the
                                            name of each adapter tensor
Sequences end before and beyond the context the RoPE was first made for.
"""

import json
import shutil

import common

common.one_thread()

import torch  # noqa: E402
from peft import LoraConfig, get_peft_model  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from transformers import AutoConfig, AutoModelForCausalLM  # noqa: E402

VOCAB = 96
LENGTHS = [2, 20, 112]
POSITIONS = [0, 1, 2, 15, 19, 33, 64, 100, 111]

SHAPE = dict(vocab_size=VOCAB, hidden_size=32, intermediate_size=56, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, bos_token_id=1, eos_token_id=2, pad_token_id=0,
             tie_word_embeddings=False, initializer_range=0.02)


def rope(kind, **more):
    return {"rope_type": kind, "rope_theta": 1000.0, **more}


LONG = {"short_factor": [1.0, 1.1, 1.25, 1.5], "long_factor": [1.5, 2.0, 3.0, 4.0],
        "original_max_position_embeddings": 32}

FAMILIES = {
    "llama": dict(model_type="llama", attention_bias=True, mlp_bias=True),
    "llama_linear": dict(model_type="llama", rope_parameters=rope("linear", factor=2.5)),
    "llama_dynamic": dict(model_type="llama", max_position_embeddings=40,
                          rope_parameters=rope("dynamic", factor=2.0)),
    "llama_yarn": dict(model_type="llama", head_dim=16, rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=32, beta_fast=4.0, beta_slow=1.0)),
    "mistral": dict(model_type="mistral", sliding_window=9, head_dim=12),
    "qwen2": dict(model_type="qwen2", tie_word_embeddings=True, num_key_value_heads=1),
    "qwen2_sliding": dict(model_type="qwen2", use_sliding_window=True, sliding_window=7, max_window_layers=1),
    "qwen3": dict(model_type="qwen3", head_dim=16, tie_word_embeddings=True),
    "phi": dict(model_type="phi", num_key_value_heads=4, hidden_act="gelu_new", layer_norm_eps=1e-5,
                rope_parameters={"rope_type": "default", "rope_theta": 10000.0,  # the only base GGUF's phi2 has
                                 "partial_rotary_factor": 0.5}),
    "phi3": dict(model_type="phi3", sliding_window=21, original_max_position_embeddings=128,
                 rope_parameters=rope("default", partial_rotary_factor=1.0)),
    "phi3_longrope": dict(model_type="phi3", sliding_window=None, original_max_position_embeddings=32,
                          rope_parameters=rope("longrope", partial_rotary_factor=1.0, **LONG)),
    "gemma": dict(model_type="gemma", head_dim=12, num_key_value_heads=1, tie_word_embeddings=True),
    "gemma2": dict(model_type="gemma2", head_dim=12, tie_word_embeddings=True, sliding_window=9,
                   query_pre_attn_scalar=20, attn_logit_softcapping=2.0, final_logit_softcapping=3.0),
    # GGUF does not say query_pre_attn_scalar: llama.cpp takes the head's dimension.
    "gemma2_plain": dict(model_type="gemma2", head_dim=12, tie_word_embeddings=True, sliding_window=9,
                         query_pre_attn_scalar=12, attn_logit_softcapping=2.5, final_logit_softcapping=4.0),
}


def fill(model, seed):
    """Weights of a size that moves logits; norms away from their neutral value; biases not zero."""
    generator = torch.Generator().manual_seed(seed)
    one_plus = model.config.model_type in ("gemma", "gemma2")
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            noise = torch.randn(p.shape, generator=generator).clamp(-2.5, 2.5)
            if "norm" in name and name.endswith("weight"):
                value = (0.0 if one_plus else 1.0) + 0.3 * noise
            elif name.endswith("bias"):
                value = 0.2 * noise
            elif "embed_tokens" in name or "lm_head" in name:
                value = (0.3 if one_plus else 0.4) * noise
            else:
                value = 0.9 * noise / p.shape[1] ** 0.5
            p.copy_(value.to(torch.bfloat16))


def logits_of(model, ids):
    with torch.no_grad():
        return model(ids[None].long()).logits[0].float()


def make(name, more, seed):
    folder = common.HERE / "families" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    settings = {**SHAPE, **more}
    config = AutoConfig.for_model(settings.pop("model_type"), **settings)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    fill(model, seed)
    config.dtype, config.architectures = "bfloat16", [type(model).__name__]
    config.save_pretrained(folder)
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    save_file({n: t.to(torch.bfloat16).contiguous() for n, t in model.state_dict().items() if n not in tied},
              folder / "model.safetensors", {"format": "pt"})
    common.check_size(folder / "model.safetensors")

    generator = torch.Generator().manual_seed(seed + 1)
    golden = {}
    sequences = [torch.randint(3, VOCAB, (n,), generator=generator, dtype=torch.int32) for n in LENGTHS]
    for i, ids in enumerate(sequences):
        at = torch.tensor([p for p in POSITIONS if p < len(ids)], dtype=torch.int32)
        golden[f"ids_{i}"], golden[f"positions_{i}"] = ids, at
        golden[f"logits_{i}"] = logits_of(model, ids)[at.long()]

    adapted = get_peft_model(model, LoraConfig(r=3, lora_alpha=6, target_modules="all-linear",
                                               task_type="CAUSAL_LM")).eval()
    with torch.no_grad():
        for parameter_name, p in sorted(adapted.named_parameters()):
            if "lora_" in parameter_name:
                noise = torch.randn(p.shape, generator=generator)
                p.copy_((0.2 if "lora_B" in parameter_name else 0.4) * noise)
                p.requires_grad_(True)
    adapted.save_pretrained(folder / "adapter")
    common.tidy_adapter(folder / "adapter")
    for i, ids in enumerate(sequences):
        golden[f"adapted_{i}"] = logits_of(adapted, ids)[golden[f"positions_{i}"].long()]
    ids = sequences[1].long()
    logits = adapted(ids[None]).logits[0].float()
    loss = torch.nn.functional.cross_entropy(logits[:-1], ids[1:], reduction="sum")
    loss.backward()
    golden["grad_ids"], golden["loss"] = sequences[1], loss.detach().reshape(1)
    for parameter_name, p in adapted.named_parameters():
        if "lora_" in parameter_name:
            golden[parameter_name.replace(".default", "")] = p.grad
    stored = set(load_file(folder / "adapter" / "adapter_model.safetensors"))
    assert stored == {n for n in golden if "lora_" in n}, stored
    common.save_tensors(folder / "golden.safetensors", golden)
    spread = golden["logits_2"].std().item()
    print(f"{name:16} logits spread {spread:.2f}, loss {loss.item():.3f}, {len(stored)} adapter tensors")
    return {"spread_of_logits": spread}


if __name__ == "__main__":
    facts = {name: make(name, more, 700 + 10 * i) for i, (name, more) in enumerate(FAMILIES.items())}
    common.write_json(common.HERE / "families" / "meta.json", {
        "made_by": "make_families.py", "attention": "eager", "compute": "float32",
        "versions": common.versions("torch", "transformers", "peft", "safetensors"), "models": facts})

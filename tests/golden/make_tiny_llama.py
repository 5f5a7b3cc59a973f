# SPDX-License-Identifier: Apache-2.0
"""Makes tiny_llama/ and tiny_llama_llama3/: random Llama folders and their logits by transformers.

tiny_llama        F32, one file, tied head, config.json as transformers 5 writes it.
tiny_llama_llama3 BF16, two shards with an index, untied head, head_dim 24 (not hidden / heads), llama3 RoPE
                  scaling, config.json in the form transformers 4 wrote.
"""

import io
import json
import shutil

import common
import reference_llama

common.one_thread()

import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM  # noqa: E402

VOCAB = 320
CONTEXT = 128
LENGTHS = [1, 2, 7, 33, 64, 128]

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content'] + eos_token + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)

SENTENCES = """The river runs past the old mill and under the stone bridge.
A small bird sat on the fence and sang until the rain came.
Bring me the red book, two apples and a cup of tea.
Below is an instruction that describes a task. Write a response that appropriately completes the request.
What is the capital of the land where the sun sets last?
One, two, three, four and five: count them again.
"""


def fill(model: LlamaForCausalLM, seed: int) -> None:
    """Seeded weights, scaled so that every block moves the residual and logits spread over several units."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float32)
            if "norm" in name:
                value = 1.0 + 0.3 * noise.clamp(-2.5, 2.5)
            elif "embed_tokens" in name or "lm_head" in name:
                value = 0.4 * noise
            else:
                value = 0.9 * noise / p.shape[1] ** 0.5
            p.copy_(value)


def sequences(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, VOCAB, (n,), generator=generator, dtype=torch.int32) for n in LENGTHS]


def wanted_positions(length: int) -> torch.Tensor:
    """Every position of the short sequences, every eighth and the last of the long ones."""
    if length < 64:
        return torch.arange(length, dtype=torch.int32)
    return torch.tensor([*range(0, length, 8), length - 1], dtype=torch.int32)


def logits_of(model, ids: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model(ids[None].long()).logits[0]


def save_logits(folder, ids_seed: int) -> dict:
    """Golden logits in f32 from the folder on disk; the float64 evaluations say how far f32 itself is off."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    exact, rounded = reference_llama.load(folder), reference_llama.load(folder, round_angles=True)
    tensors, noise, noise_rounded, spread = {}, 0.0, 0.0, []
    for i, ids in enumerate(sequences(ids_seed)):
        positions = wanted_positions(len(ids))
        logits = logits_of(model, ids)
        noise = max(noise, (logits - exact.logits(ids)).abs().max().item())
        noise_rounded = max(noise_rounded, (logits - rounded.logits(ids)).abs().max().item())
        spread.append(logits.std().item())
        tensors[f"ids_{i}"] = ids
        tensors[f"positions_{i}"] = positions
        tensors[f"logits_{i}"] = logits[positions.long()].float()
    common.save_tensors(folder / "golden" / "logits.safetensors", tensors)
    return {"sequences": len(LENGTHS), "lengths": LENGTHS, "largest_difference_from_float64": noise,
            "largest_difference_from_float64_with_float32_angles": noise_rounded,
            "standard_deviation_of_logits": spread}


def write_tokenizer(folder) -> None:
    """A SentencePiece BPE vocabulary of 320 with byte fallback, so that the folder is whole."""
    import sentencepiece

    model = io.BytesIO()  # by stream: a file name would be written into the model
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES.splitlines() * 3), model_writer=model, vocab_size=VOCAB,
        model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, character_coverage=1.0, num_threads=1, minloglevel=2)
    (folder / "tokenizer.model").write_bytes(model.getvalue())
    common.write_json(folder / "tokenizer_config.json", {
        "add_bos_token": True, "add_eos_token": False, "bos_token": "<s>", "eos_token": "</s>",
        "unk_token": "<unk>", "pad_token": None, "chat_template": CHAT_TEMPLATE, "model_max_length": CONTEXT,
        "legacy": True, "tokenizer_class": "LlamaTokenizer"})


def shape_config(**more) -> LlamaConfig:
    return LlamaConfig(vocab_size=VOCAB, hidden_size=64, intermediate_size=144, num_attention_heads=4,
                       num_key_value_heads=2, max_position_embeddings=CONTEXT, rms_norm_eps=1e-5,
                       bos_token_id=1, eos_token_id=2, **more)


def make_plain() -> None:
    folder = common.HERE / "tiny_llama"
    shutil.rmtree(folder, ignore_errors=True)
    config = shape_config(num_hidden_layers=2, tie_word_embeddings=True)
    model = LlamaForCausalLM._from_config(config, attn_implementation="eager")
    fill(model, 20240)
    model.save_pretrained(folder)
    common.check_size(folder / "model.safetensors")
    (folder / "generation_config.json").unlink(missing_ok=True)
    write_tokenizer(folder)
    finish(folder, 7)


def make_llama3() -> None:
    folder = common.HERE / "tiny_llama_llama3"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    scaling = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 32}
    config = {
        "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": 1, "eos_token_id": [2, 3], "head_dim": 24, "hidden_act": "silu", "hidden_size": 64,
        "initializer_range": 0.02, "intermediate_size": 144, "max_position_embeddings": CONTEXT,
        "mlp_bias": False, "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 3,
        "num_key_value_heads": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": scaling,
        "rope_theta": 10000.0, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
        "transformers_version": "4.45.0", "use_cache": True, "vocab_size": VOCAB}
    common.write_json(folder / "config.json", config)
    model = LlamaForCausalLM._from_config(LlamaConfig.from_pretrained(folder), attn_implementation="eager")
    fill(model, 20241)
    tensors = {name: t.to(torch.bfloat16) for name, t in model.state_dict().items()}
    names = sorted(tensors)
    halves = [names[: len(names) // 2], names[len(names) // 2:]]
    weight_map, total = {}, 0
    for i, part in enumerate(halves):
        file = f"model-{i + 1:05d}-of-00002.safetensors"
        save_file({n: tensors[n].contiguous() for n in part}, folder / file, {"format": "pt"})
        common.check_size(folder / file)
        weight_map |= {n: file for n in part}
        total += sum(tensors[n].numel() * 2 for n in part)
    common.write_json(folder / "model.safetensors.index.json",
                      {"metadata": {"total_size": total}, "weight_map": weight_map})
    finish(folder, 8)


def finish(folder, ids_seed: int) -> None:
    facts = save_logits(folder, ids_seed)
    meta = {"made_by": "make_tiny_llama.py",
            "versions": common.versions("torch", "transformers", "safetensors", "sentencepiece"),
            "attention": "eager", "compute": "float32", **facts}
    common.write_json(folder / "golden" / "meta.json", meta)
    print(folder.name, json.dumps(facts))


if __name__ == "__main__":
    make_plain()
    make_llama3()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lines of the table of speeds for PyTorch + transformers + PEFT + bitsandbytes on the same card: same shapes, random
weights from a config, NF4 with double quantisation, rank 32 on all linear layers, 8-bit AdamW, gradient checkpointing.
With --tiny one tiny model on any device, to see that all of it runs."""
import gc
import sys
import tempfile
import time

import bitsandbytes
import peft
import torch
import transformers

SHAPES = {  # vocabulary, hidden, inner, layers, heads, kv heads, tied
    "SmolLM2-135M": (49152, 576, 1536, 30, 9, 3, True),
    "TinyLlama-1.1B": (32000, 2048, 5632, 22, 32, 4, False),
    "Llama-2-7B": (32000, 4096, 11008, 32, 32, 32, False),
}
TINY = {"tiny": (96, 64, 128, 2, 2, 1, True)}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
COMPUTE = torch.bfloat16 if DEVICE == "cpu" or torch.cuda.is_bf16_supported() else torch.float16


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def make_model(shape):
    vocabulary, hidden, inner, layers, heads, kv_heads, tied = shape
    config = transformers.LlamaConfig(
        vocab_size=vocabulary, hidden_size=hidden, intermediate_size=inner, num_hidden_layers=layers,
        num_attention_heads=heads, num_key_value_heads=kv_heads, tie_word_embeddings=tied, max_position_embeddings=8192)
    with tempfile.TemporaryDirectory() as folder:
        with torch.device(DEVICE):
            torch.set_default_dtype(COMPUTE)
            transformers.LlamaForCausalLM(config).save_pretrained(folder)
            torch.set_default_dtype(torch.float32)
        gc.collect()
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
        four_bit = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=COMPUTE)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, quantization_config=four_bit, dtype=COMPUTE, device_map={"": DEVICE}, attn_implementation="sdpa")
    lora = peft.LoraConfig(r=32, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
    return peft.get_peft_model(model, lora)


def train(name, shape, length, steps):
    model = make_model(shape)
    model.enable_input_require_grads()
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    trained = [p for p in model.parameters() if p.requires_grad]
    adam = bitsandbytes.optim.AdamW8bit if DEVICE == "cuda" else torch.optim.AdamW
    optimizer = adam(trained, lr=1e-4)
    ids = torch.randint(0, shape[0], (2, length), device=DEVICE)
    if DEVICE == "cuda":
        torch.cuda.reset_peak_memory_stats()

    def step():
        with torch.autocast(DEVICE, dtype=COMPUTE):
            loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    for _ in range((steps + 3) // 4):
        step()
    wait()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    seconds = (time.perf_counter() - start) / steps
    peak = torch.cuda.max_memory_allocated() / 1e9 if DEVICE == "cuda" else 0
    print(f"train  {name:14s}     2 x {length:<5d} {2 * length / seconds:10.0f} tokens/s {peak:47.2f} GB  PyTorch", flush=True)


def chat(name, shape, position, count):
    model = make_model(shape).eval()
    prompt = torch.randint(0, shape[0], (1, position), device=DEVICE)
    settings = {"do_sample": False, "pad_token_id": 0, "eos_token_id": None}

    def generate(tokens):
        wait()
        start = time.perf_counter()
        with torch.inference_mode():
            model.generate(input_ids=prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=tokens,
                           min_new_tokens=tokens, **settings)
        wait()
        return time.perf_counter() - start

    generate(4)
    seconds = (generate(count + 4) - generate(4)) / count  # the prompt is in both
    print(f"chat   {name:14s} at {position:<10d} {1 / seconds:10.0f} tokens/s {'':50s}  PyTorch", flush=True)


def attempt(work, *arguments):
    try:
        work(*arguments)
    except torch.OutOfMemoryError:
        print(f"{work.__name__:6s} {arguments[0]} {arguments[2]} does not fit in PyTorch", flush=True)
    gc.collect()
    if DEVICE == "cuda":
        torch.cuda.empty_cache()


def main():
    tiny = "--tiny" in sys.argv
    if DEVICE == "cpu" and not tiny:
        print("no GPU")
        return 77
    transformers.utils.logging.set_verbosity_error()
    for name, shape in (TINY if tiny else SHAPES).items():
        for length in (16,) if tiny else (512, 2048, 4096):
            attempt(train, name, shape, length, 2 if tiny else 20)
        for position in (8,) if tiny else (128, 2048):
            attempt(chat, name, shape, position, 4 if tiny else 256)
    return 0


if __name__ == "__main__":
    sys.exit(main())

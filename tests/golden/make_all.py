# SPDX-License-Identifier: Apache-2.0
"""Runs every maker in order, each in a process of its own (later ones read what earlier ones wrote)."""

import subprocess
import sys

import common

SCRIPTS = ["tiny_llama", "lora_steps", "lora_dropout", "lora_variants", "peft_adapters", "bnb", "norms", "nf4_llama", "adamw_8bit", "schedules", "training_curves", "tokenizers", "small_tokenizers",
           "templates", "gguf", "parquet", "families"]  # make_families_gguf.py needs a copy of llama.cpp beside

for name in SCRIPTS:
    print("==", name, flush=True)
    subprocess.run([sys.executable, str(common.HERE / f"make_{name}.py")], check=True)

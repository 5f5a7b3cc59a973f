# SPDX-License-Identifier: CC0-1.0
"""The nest model: a Llama small enough for a repository."""

import json

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

from .tokens import BOS, EOS, VOCABULARY

CONTEXT = 512
# Wide enough that each animal keeps a direction of its own in the embedding. With the usual 0.02 all animals soon
# share one direction, and the model cannot learn to bring back the one that the story is about.
INITIAL_SPREAD, EMBEDDING_SPREAD = 0.08, 0.2
logging.disable_progress_bar()


def build(seed):
    """A freshly initialised model: 4 layers, width 128, 4 query heads on 2 key/value heads, tied head."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=128, intermediate_size=448, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, max_position_embeddings=CONTEXT,
        initializer_range=INITIAL_SPREAD, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True, bos_token_id=BOS, eos_token_id=EOS,
        pad_token_id=None, attn_implementation="sdpa")
    network = LlamaForCausalLM(config)
    torch.nn.init.normal_(network.model.embed_tokens.weight, std=EMBEDDING_SPREAD)
    return network


def save(model, folder):
    """config.json, generation_config.json and model.safetensors with 16-bit weights."""
    copy = build(0)
    copy.load_state_dict(model.state_dict())
    copy.to(torch.bfloat16).save_pretrained(folder)
    (folder / "model.safetensors").chmod(0o644)
    # Readers that know only the older key find it too.
    file = folder / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "rope_theta": config["rope_parameters"]["rope_theta"]}, indent=2) + "\n")


def load(folder):
    """The saved model, in 32 bits."""
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)

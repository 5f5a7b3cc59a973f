# SPDX-License-Identifier: CC0-1.0
"""Trains the SentencePiece BPE vocabulary of the nest model."""

import json

import sentencepiece

VOCABULARY = 1024
UNKNOWN, BOS, EOS = 0, 1, 2

# Everyday words that no story holds, so that a question does not fall apart into letters.
EVERYDAY = """
Below is an instruction that describes a task. Write a response that appropriately completes the request.
Below is an instruction that describes a task, paired with an input that provides further context.
Instruction: Input: Response: Tell me a short story about the hero who finds. Write the story of. Question: Answer:
User: Assistant: Please help me with this. What, when, where, which, why, how many? Explain, describe, list, give, name.
Numbers: 0 1 2 3 4 5 6 7 8 9. Signs: # * - + = / ( ) [ ] { } < > : ; _ & % $ @ ' `
""".strip().split("\n")


def train(stories, prefix):
    """Writes PREFIX.model."""
    lines = [line for text in stories for line in text.split("\n") if line]
    # One repeat for ten stories: enough for pieces, too little to crowd out story words.
    lines += EVERYDAY * max(1, len(stories) // 10)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(prefix), model_type="bpe", vocab_size=VOCABULARY,
        byte_fallback=True, character_coverage=1.0, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=True, split_digits=True,
        unk_id=UNKNOWN, bos_id=BOS, eos_id=EOS, pad_id=-1, num_threads=1, minloglevel=2,
        input_sentence_size=0, shuffle_input_sentence=False)


def load(folder):
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "tokenizer.model"))


def write_config(folder):
    """tokenizer_config.json beside tokenizer.model, as the Llama family has it."""
    added = {str(i): {"content": text, "lstrip": False, "normalized": False, "rstrip": False,
                      "single_word": False, "special": True}
             for i, text in ((UNKNOWN, "<unk>"), (BOS, "<s>"), (EOS, "</s>"))}
    config = {
        "add_bos_token": True, "add_eos_token": False, "added_tokens_decoder": added, "bos_token": "<s>",
        "clean_up_tokenization_spaces": False, "eos_token": "</s>", "legacy": True, "model_max_length": 512,
        "pad_token": None, "sp_model_kwargs": {}, "tokenizer_class": "LlamaTokenizer", "unk_token": "<unk>",
        "use_default_system_prompt": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")

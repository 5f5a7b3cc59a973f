# SPDX-License-Identifier: Apache-2.0
"""Makes tokenizers/: ids of the thousand hard strings by `tokenizers` and `sentencepiece`.

The tokenizers themselves are not in the repository; they are read from the shared test data.
"""

import gzip
import json
import shutil

import common
from hard_strings import hard_strings

import sentencepiece
import tokenizers

FOLDER = common.HERE / "tokenizers"
DATA = common.shared_data() / "tokenizers"
SOURCES = {
    "smollm2": ["smollm2/tokenizer.json"],
    "tinyllama": ["tinyllama/tokenizer.merges-as-pairs.json", "tinyllama/tokenizer.merges-as-strings.json"],
    "llama3": ["llama3/tokenizer.llama-3.1.json.gz"],
    "mistral": ["mistral/tokenizer.v1.json"],
    "phi3": ["phi-3/tokenizer.json"],
    "phi2": ["phi-2/tokenizer.json"],
    "qwen3": ["qwen3/tokenizer.json.gz"],
}
SENTENCEPIECE = {  # the same vocabulary by the other library
    "llama2": ("llama2/tokenizer.model", "tinyllama"),
    "mistral_v1": ("mistral/tokenizer.model.v1", "mistral"),
}


def load(path: str) -> tokenizers.Tokenizer:
    data = (DATA / path).read_bytes()
    if path.endswith(".gz"):
        data = gzip.decompress(data)
    return tokenizers.Tokenizer.from_str(data.decode("utf-8"))


def encode(tokenizer, strings, *, raw: bool) -> list[list[int]]:
    """raw: special tokens in the text are text."""
    tokenizer.encode_special_tokens = raw
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in strings]
    tokenizer.encode_special_tokens = False
    return ids


def added_by_default(tokenizer, strings, plain) -> list[int]:
    """What the default encoding puts in front; it must be the same everywhere."""
    prefix = tokenizer.encode("").ids
    for text, ids in zip(strings, plain):
        assert tokenizer.encode(text).ids == prefix + ids, text
    return prefix


def where_different(values, usual) -> dict:
    return {str(i): value for i, (value, known) in enumerate(zip(values, usual)) if value != known}


def make(name: str, files: list[str], strings: list[str]) -> dict:
    tokenizer = load(files[0])
    plain, raw = encode(tokenizer, strings, raw=False), encode(tokenizer, strings, raw=True)
    for other in files[1:]:
        assert encode(load(other), strings, raw=False) == plain, other
    decoded = [tokenizer.decode(ids, skip_special_tokens=False) for ids in plain]
    value = {
        "library": "tokenizers " + tokenizers.__version__, "files": files,
        "prefix": added_by_default(tokenizer, strings, plain), "ids": plain,
        "raw": where_different(raw, plain), "decoded": where_different(decoded, strings),
        "decoded_without_special": where_different(
            [tokenizer.decode(ids, skip_special_tokens=True) for ids in plain], decoded),
    }
    common.write_json(FOLDER / f"{name}.json", value, compact=True)
    return value


def make_sentencepiece(name: str, strings: list[str], made: dict) -> dict:
    """The vocabulary of a tokenizer.json, encoded by the other library; only what differs from its raw ids."""
    file, other = SENTENCEPIECE[name]
    model = sentencepiece.SentencePieceProcessor(model_file=str(DATA / file))
    raw = [made[other]["raw"].get(str(i), ids) for i, ids in enumerate(made[other]["ids"])]
    ids = [model.encode(text) for text in strings]
    decoded = [model.decode(part) for part in ids]
    value = {"library": "sentencepiece " + sentencepiece.__version__, "files": [file],
             "same_as": f"{other}.json, raw", "ids": where_different(ids, raw),
             "decoded": where_different(decoded, strings)}
    common.write_json(FOLDER / f"{name}_sentencepiece.json", value, compact=True)
    return value


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    strings = hard_strings()
    FOLDER.mkdir()
    (FOLDER / "hard_strings.json").write_text(json.dumps(strings, separators=(",\n", ":")) + "\n")  # ASCII only
    made = {name: make(name, files, strings) for name, files in SOURCES.items()}
    made |= {name + "_sentencepiece": make_sentencepiece(name, strings, made) for name in SENTENCEPIECE}
    for name, value in made.items():
        counts = {key: len(value[key]) for key in ("ids", "raw", "decoded", "decoded_without_special") if key in value}
        print(name, counts, "prefix", value.get("prefix"), (FOLDER / f"{name}.json").stat().st_size)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Makes small_tokenizers/: two tiny BPE vocabularies and what `tokenizers` does with them and each part of
tokenizer.json (normalizers, pre-tokenizers, post-processors, decoders, added tokens)."""

import contextlib
import io
import json
import tempfile
from pathlib import Path

import common
from hard_strings import hard_strings

import sentencepiece
import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

FOLDER = common.HERE / "small_tokenizers"

TEXTS = [
    "", " ", "  ", "a", " a", "a ", "Hello world", "  Hello  world  ", "it's we'll I'D THEY'RE", "12 345 6789",
    "x=1.5; y[2]->z!", "a\n\nb\n \nc", "\t tab\r\nline", "naïve café", "cafe\u0301 A\u030a", "ΑΣ İI ß ſ",
    "ﬁ ① ²", "日本語 かな。", "বাংলা ১২", "👋🏽 hi", "▁mark▁▁up", "a\u3000b\u00a0c\u180ed", "<s>a</s>b <s> c",
    "say <tool> hou now though", "x<tool>y", "<tool><tool>  <pad>  z", "word <big> <bigger> <bi", "<0x41>B", "e.g., (see)  [1]",
    "\u0000\u0007 z", "नमस्ते, दुनिया!", "don't—stop… 3½",
]


def train(byte_level: bool) -> dict:
    tokenizer = Tokenizer(models.BPE() if byte_level else models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    if byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        special, alphabet = ["<s>", "</s>"], pre_tokenizers.ByteLevel.alphabet()
    else:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        special, alphabet = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], ["▁"]
    texts = [text for text in hard_strings() if 0 < len(text) < 80 and "<" not in text and "|" not in text][:300]
    texts += [text for text in TEXTS if "<" not in text]
    if not byte_level:  # the rest is for byte fallback
        texts = [text for text in texts if max(text, default=" ") < "\u0370" or "日" in text or "▁" in text]
    trainer = trainers.BpeTrainer(
        vocab_size=len(special) + 900, special_tokens=special, initial_alphabet=alphabet,
        show_progress=False, min_frequency=2)
    tokenizer.train_from_iterator(texts, trainer)
    made = json.loads(tokenizer.to_str())
    keep = special if byte_level else special[:3]
    made["added_tokens"] = [token for token in made["added_tokens"] if token["content"] in keep]
    return made


def added(content: str, id: int, **flags) -> dict:
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": False, **flags}


def split(pattern: dict, behavior: str, invert: bool = False) -> dict:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
GPT2 = {**BYTE_LEVEL, "use_regex": True}
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
LEGACY = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
                                              {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
LLAMA_DECODER = {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}


def metaspace(scheme: str, split_: bool) -> dict:
    return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split_}


def template(before: list[str], after: list[str], ids: dict[str, int]) -> dict:
    def part(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}

    single = [part(n) for n in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [part(n) for n in after]
    return {"type": "TemplateProcessing", "single": single, "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {n: {"id": n, "ids": [ids[n]], "tokens": [n]} for n in before + after}}


def cases(chars: dict, bytes_: dict) -> list[dict]:
    end = {"chars": len(chars["model"]["vocab"]), "bytes": len(bytes_["model"]["vocab"])}
    made = []

    def case(name, base, **parts):
        made.append({"name": name, "base": base, "parts": parts})

    case("no parts", "chars", normalizer=None, pre_tokenizer=None, decoder=None)
    case("llama legacy", "chars", normalizer=LEGACY, decoder=LLAMA_DECODER,
         post_processor=template(["<s>"], [], {"<s>": 1}))
    for scheme in ("always", "first", "never"):
        for split_ in (True, False):
            case(f"metaspace {scheme} {split_}", "chars", normalizer=None, pre_tokenizer=metaspace(scheme, split_),
                 decoder=metaspace(scheme, split_))
    case("gemma", "chars", normalizer={"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
         pre_tokenizer=split({"String": " "}, "MergedWithPrevious"),
         decoder={"type": "Sequence", "decoders": LLAMA_DECODER["decoders"][:3]})
    for kind in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"):
        case(kind, "chars", normalizer={"type": kind}, pre_tokenizer=None, decoder={"type": "Fuse"})
    case("NFD and StripAccents", "chars", decoder={"type": "Fuse"}, normalizer={
        "type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]})
    case("Strip", "chars", normalizer={"type": "Strip", "strip_left": True, "strip_right": False}, decoder={"type": "Fuse"})
    case("Replace by regex", "chars", decoder={"type": "Fuse"},
         normalizer={"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": "▁"})
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for invert in (False, True):
            for pattern in ({"Regex": r"[\s\d.]"}, {"String": "a"}):
                case(f"split {behavior} {invert} {list(pattern)[0]}", "chars", normalizer=None,
                     pre_tokenizer=split(pattern, behavior, invert), decoder={"type": "Fuse"})
    case("words by regex", "chars", normalizer=None, decoder={"type": "Fuse"},
         pre_tokenizer=split({"Regex": r"\w+|[^\w\s]|\h"}, "Isolated"))
    for kind in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        case(kind, "chars", normalizer=None, pre_tokenizer={"type": kind}, decoder={"type": "Fuse"})
    for behavior in ("Isolated", "Contiguous", "Removed"):
        case(f"Punctuation {behavior}", "chars", normalizer=None,
             pre_tokenizer={"type": "Punctuation", "behavior": behavior}, decoder={"type": "Fuse"})
    for single in (True, False):
        case(f"Digits {single}", "chars", normalizer=None,
             pre_tokenizer={"type": "Digits", "individual_digits": single}, decoder={"type": "Fuse"})
    case("byte level, whole", "bytes", pre_tokenizer=BYTE_LEVEL, decoder=BYTE_LEVEL)
    case("GPT-2", "bytes", pre_tokenizer=GPT2, decoder=GPT2, post_processor=GPT2)
    case("GPT-2 with a prefix", "bytes", pre_tokenizer={**GPT2, "add_prefix_space": True}, decoder=GPT2)
    case("SmolLM2", "bytes", decoder=GPT2, pre_tokenizer={
        "type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, GPT2]})
    case("digits and a prefix", "bytes", decoder=GPT2, pre_tokenizer={
        "type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True},
                                              {**GPT2, "add_prefix_space": True}]})
    case("Llama-3", "bytes", decoder=BYTE_LEVEL, model={"ignore_merges": True}, pre_tokenizer={
        "type": "Sequence", "pretokenizers": [split({"Regex": LLAMA3}, "Isolated"), BYTE_LEVEL]},
        post_processor={"type": "Sequence", "processors": [BYTE_LEVEL, template(["<s>"], ["</s>"], {"<s>": 0, "</s>": 1})]})
    case("Qwen2", "bytes", normalizer={"type": "NFC"}, decoder=BYTE_LEVEL, pre_tokenizer={
        "type": "Sequence", "pretokenizers": [split({"Regex": LLAMA3.replace("{1,3}", "")}, "Isolated"), BYTE_LEVEL]})
    case("no fused unknowns", "chars", normalizer=None, decoder=None, model={"byte_fallback": False, "fuse_unk": False})
    case("fused unknowns", "chars", normalizer=None, decoder=None, model={"byte_fallback": False, "fuse_unk": True})
    case("ignore merges", "chars", normalizer=None, decoder=None, pre_tokenizer={"type": "WhitespaceSplit"},
         model={"ignore_merges": True})
    case("Roberta", "bytes", pre_tokenizer=GPT2, decoder=GPT2, post_processor={
        "type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": False})
    for base, normalizer, decoder in (("chars", LEGACY, LLAMA_DECODER), ("bytes", None, GPT2)):
        tokenizer = {"normalizer": normalizer, "decoder": decoder}
        if base == "bytes":
            tokenizer["pre_tokenizer"] = GPT2
        n = end[base]
        for flag in ("single_word", "lstrip", "rstrip", "normalized"):
            # Special tokens that are also normalised are not skipped by this library's decode: not taken over.
            special_flags = {} if flag == "normalized" else {flag: True}
            case(f"added {flag} {base}", base, **tokenizer, added=[
                added("<tool>", n, **{flag: True}), added("<pad>", n + 1, special=True, **special_flags),
                added("<big>", n + 2), added("<bigger>", n + 3, **{flag: True}), added(" \n ", n + 4), added("\t tab\r", n + 5)])
        case(f"added strips {base}", base, **tokenizer, added=[
            added("<tool>", n, lstrip=True, rstrip=True), added("<pad>", n + 1, lstrip=True, rstrip=True, special=True),
            added("z]", n + 2), added("hou", n + 3, single_word=True)])
    return made


def whole(case: dict, bases: dict) -> dict:
    """tokenizer.json of a case: its base with the parts in place."""
    made = json.loads(json.dumps(bases[case["base"]]))
    for key, value in case["parts"].items():
        if key == "model":
            made["model"].update(value)
        elif key == "added":
            made["added_tokens"] += value
        else:
            made[key] = value
    return made


RULES = {"ﬁ": "fi", "①": "1", "Ａ": "A", "\u3000": " ", "æ": "ae", "x y": "xy", "\u00ad": ""}
RULE_TEXTS = ["", " ", "the ﬁrst  Ａnt ", "①②①", "a\u3000b", "x y x  y", "so\u00adft hæ", "\u00ad", "naïve", "  two  spaces ",
              "ﬁﬁ ﬁ", "unknown 日本 ✓✓"]


def make_rules() -> None:
    """A SentencePiece BPE model whose normalizer has rules, and sentencepiece's ids with it."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # the model keeps the rules' path
        rules = Path("rules.tsv")
        lines = [" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) for a, b in RULES.items()]
        rules.write_text("\n".join(lines) + "\n", encoding="utf-8")
        made = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["the first ant and the second ant", "two soft spaces, xy xy", "naive 1 2 A B hae"] * 20),
            model_writer=made, vocab_size=60, model_type="bpe", normalization_rule_tsv=str(rules), num_threads=1,
            hard_vocab_limit=False, minloglevel=2)
    path = FOLDER / "rules.model"
    path.write_bytes(made.getvalue())
    common.check_size(path)
    processor = sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())
    common.write_json(FOLDER / "rules.json", {"library": f"sentencepiece {sentencepiece.__version__}", "texts": RULE_TEXTS,
                                              "ids": [processor.encode(text) for text in RULE_TEXTS]}, compact=True)


def main() -> None:
    make_rules()
    bases = {"chars": train(False), "bytes": train(True)}
    listed = cases(bases["chars"], bases["bytes"])
    for case in listed:
        tokenizer = Tokenizer.from_str(json.dumps(whole(case, bases)))
        encoded = [tokenizer.encode(text).ids for text in TEXTS]
        case["ids"] = encoded
        case["decoded"] = [tokenizer.decode(ids, skip_special_tokens=True) for ids in encoded]
        case["decoded_with_special"] = {
            str(i): text for i, ids in enumerate(encoded)
            if (text := tokenizer.decode(ids, skip_special_tokens=False)) != case["decoded"][i]}
        tokenizer.encode_special_tokens = True
        case["raw"] = {str(i): ids for i, text in enumerate(TEXTS)
                       if (ids := tokenizer.encode(text, add_special_tokens=False).ids) != encoded[i]}
    for name, base in bases.items():
        common.write_json(FOLDER / f"{name}.json", base, compact=True)
    common.write_json(FOLDER / "cases.json", {"library": f"tokenizers {tokenizers.__version__}", "texts": TEXTS,
                                              "cases": listed}, compact=True)


if __name__ == "__main__":
    main()

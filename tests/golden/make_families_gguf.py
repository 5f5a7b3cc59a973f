# SPDX-License-Identifier: Apache-2.0
"""Makes families/NAME/model.gguf out of the folder beside it, with llama.cpp's own converter (BF16, no vocabulary).

Needs a copy of llama.cpp: LLAMA_CPP=<folder with convert_hf_to_gguf.py>.
"""

import os
import sys
from pathlib import Path

import common

common.one_thread()

converter = os.environ.get("LLAMA_CPP")
if not converter:
    raise SystemExit("set LLAMA_CPP to a copy of llama.cpp")
sys.path.insert(0, converter)
sys.path.insert(1, str(Path(converter) / "gguf-py"))

import gguf  # noqa: E402
from conversion import ModelBase, ModelType, get_model_architecture, get_model_class  # noqa: E402

LEFT_OUT = {
    "llama_linear": "the converter writes no linear scaling",
    "llama_dynamic": "GGUF has no dynamic scaling",
    "gemma2": "GGUF does not say its query_pre_attn_scalar",
    "mistral": "the converter leaves the sliding window out, and llama.cpp does without it",
    "qwen2_sliding": "the converter refuses sliding windows of Qwen2",
}


def make(folder: Path) -> None:
    hparams = ModelBase.load_hparams(folder, False)
    kind = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    out = folder / "model.gguf"
    model = kind(folder, gguf.LlamaFileType.MOSTLY_BF16, out, hparams=hparams)
    model.set_vocab = lambda: model.gguf_writer.add_vocab_size(hparams["vocab_size"])
    model.write()
    common.check_size(out)
    print(folder.name, out.stat().st_size)


if __name__ == "__main__":
    for folder in sorted((common.HERE / "families").iterdir()):
        if folder.is_dir() and folder.name not in LEFT_OUT:
            make(folder)

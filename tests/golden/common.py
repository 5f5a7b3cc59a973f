# SPDX-License-Identifier: Apache-2.0
"""What every script here shares: one thread, fixed seeds, small files, the versions written beside them."""

import importlib.metadata
import json
import os
import platform
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

HERE = Path(__file__).resolve().parent
MAX_FILE_BYTES = 1_000_000


def versions(*packages: str) -> dict[str, str]:
    """Versions of the named packages and of Python, for the meta data beside a fixture."""
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"python": platform.python_version(), **found}


def write_json(path: Path, value, *, compact: bool = False) -> None:
    """Writes UTF-8 JSON; compact has no spaces, else indented by 1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if compact:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    else:
        text = json.dumps(value, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
    check_size(path)


def check_size(path: Path) -> None:
    """A fixture belongs in the repository only while it is small; all may read it."""
    path.chmod(0o644)
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise SystemExit(f"{path}: {size} bytes, more than {MAX_FILE_BYTES}")


def save_tensors(path: Path, tensors: dict) -> None:
    """Writes a safetensors file of contiguous copies of the tensors."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: t.detach().contiguous().clone() for name, t in tensors.items()}, path, {"format": "pt"})
    check_size(path)


def tidy_adapter(folder: Path) -> None:
    """Drops the model card and sorts the targets, which PEFT writes in the random order of a set."""
    (folder / "README.md").unlink()
    config = json.loads((folder / "adapter_config.json").read_text())
    if isinstance(config["target_modules"], list):
        config["target_modules"].sort()
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2, sort_keys=True))
    check_size(folder / "adapter_model.safetensors")


def one_thread() -> None:
    """Sums in one order, so that a second run gives the same bytes."""
    import torch

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def shared_data() -> Path:
    """Folder of the shared test data (never committed)."""
    path = os.environ.get("LORIKEET_TEST_DATA")
    if not path:
        raise SystemExit("set LORIKEET_TEST_DATA to the folder of shared test data")
    return Path(path)

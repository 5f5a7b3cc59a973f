# SPDX-License-Identifier: Apache-2.0
"""Loads what our engine wrote with PEFT and transformers and compares logits: check_export_with_peft.py WRITER.

WRITER is the program write_peers_export of the tests. Needs the packages of requirements.txt; ends with 77 (skipped)
where they are missing.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import common

try:
    import numpy as np
    import torch
    from peft import LoraConfig, PeftModel
    from safetensors.torch import load_file
    from transformers import LlamaForCausalLM

    import make_lora_variants as variants
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

TOLERANCE = 1e-4


def load(folder: Path) -> LlamaForCausalLM:
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def compare(what: str, model, ids: torch.Tensor, ours: np.ndarray) -> bool:
    with torch.no_grad():
        theirs = model(ids[None].long()).logits[0].numpy()
    off = float(np.abs(theirs - ours.reshape(theirs.shape)).max())
    print(f"{what}: largest difference {off:.2e}, allowed {TOLERANCE:.0e}")
    return off <= TOLERANCE


def config_is_peft_only(folder: Path) -> bool:
    """Every member of adapter_config.json is a field PEFT knows, and the base is a name, not a path of this machine."""
    config = json.loads((folder / "adapter_config.json").read_text())
    unknown = set(config) - set(LoraConfig.__dataclass_fields__)
    base = config.get("base_model_name_or_path") or ""
    print("unknown fields:", sorted(unknown), "base:", base)
    return not unknown and not base.startswith(("/", "~", "."))


def all_tensors_used(model, folder: Path) -> bool:
    """PEFT found each of our tensors, under its name and with its values."""
    state = {variants.saved_name(name): p for name, p in model.state_dict().items() if "lora_" in name}
    written = load_file(folder / "adapter_model.safetensors")
    same = state.keys() == written.keys() and all(torch.equal(state[n], t) for n, t in written.items())
    print("tensors:", len(written), "all used:", same)
    return same


def check(case: str, folder: Path, ids: torch.Tensor) -> list[bool]:
    """One case: the adapter beside its base (in NF4 where it was trained so) and, where there is one, merged."""
    ours = np.fromfile(folder / "logits.f32", dtype=np.float32)
    base = variants.base_model(case).eval()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(unexpected|missing|Unexpected|Missing).*")
        model = PeftModel.from_pretrained(base, folder / "adapter").eval()
    good = [compare(f"{case}: adapter loaded by PEFT", model, ids, ours), config_is_peft_only(folder / "adapter"),
            all_tensors_used(model, folder / "adapter")]
    if (folder / "merged").exists():
        good.append(compare(f"{case}: merged model loaded by transformers", load(folder / "merged"), ids, ours))
    return good


def main() -> int:
    common.one_thread()
    ids = load_file(common.HERE / "lora_10_steps" / "logits_final.safetensors")["ids_3"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.argv[1], str(folder)], check=True)
        good = [one for case in ("lora", *variants.CASES) for one in check(case, folder / case, ids)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""bitsandbytes with its plain PyTorch kernels in place of its compiled CPU ones; import before use.

The compiled CPU code of 0.50.2 departs from bitsandbytes' own CUDA kernels in two places: quantize_blockwise looks
values up in 65,536 bins of [-1, 1], so small values do not get the nearest entry of the 8-bit map; dequantize_4bit
with AVX-512 takes a wrong absmax where the number of columns is a multiple of 16 but not of the block size. The plain
kernels (bitsandbytes' back end "default") follow the CUDA rules.
"""

import common  # noqa: F401  (threads and devices, before torch)

import bitsandbytes
import bitsandbytes.functional as bnb
import torch

COMPILED_IS_WRONG = ("quantize_blockwise", "dequantize_4bit")
_library = torch.library.Library("bitsandbytes", "IMPL")


def _use_plain(name: str) -> None:
    operation = getattr(torch.ops.bitsandbytes, name).default
    plain = torch._C.DispatchKeySet(torch._C.DispatchKey.CompositeExplicitAutograd)
    _library.impl(name, lambda *a, **k: operation.redispatch(plain, *a, **k), "CPU", allow_override=True)


def compiled_quantize_blockwise_differs() -> int:
    """How many of 4,096 squared normal values get another entry of the unsigned map from the compiled code."""
    x = torch.randn(4096, generator=torch.Generator().manual_seed(1)).square()
    code = bnb.create_dynamic_map(signed=False)
    edges = (code[:-1] + code[1:]) / 2
    codes, state = bnb.quantize_blockwise(x, code=code, blocksize=256)
    nearest = torch.bucketize((x.reshape(-1, 256) / state.absmax[:, None]).flatten(), edges)
    return int((codes != nearest).sum())


assert bitsandbytes.__version__ == "0.50.2", "look again at which compiled kernels are right"
COMPILED_DIFFERS = compiled_quantize_blockwise_differs()
for _name in COMPILED_IS_WRONG:
    _use_plain(_name)
assert compiled_quantize_blockwise_differs() == 0

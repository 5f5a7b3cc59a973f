# SPDX-License-Identifier: Apache-2.0
"""Makes gguf/: a GGUF file with one tensor of every block type and what the gguf package reads from them.

The types the package can quantise to come from normal numbers; of the others every bit is random, with scales that
stay finite. blocks.gguf also carries metadata of every value type.
"""

import common

common.one_thread()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from gguf import GGMLQuantizationType as Type  # noqa: E402
from gguf import GGUFWriter, quants  # noqa: E402

FOLDER = common.HERE / "gguf"
ROWS, COLUMNS = 3, 512
QUANTISED = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0]
# Byte offsets of the f16 scales inside one block.
RANDOM = {Type.Q4_K: (144, (0, 2)), Type.Q5_K: (176, (0, 2)), Type.Q6_K: (210, (208,)), Type.Q4_0: (18, (0,)),
          Type.Q5_1: (24, (0, 2)), Type.Q8_0: (34, (0,))}


def random_blocks(rng: np.random.Generator, kind: Type) -> np.ndarray:
    """Rows of blocks with random codes; scales are of both signs, one block's is zero and one's subnormal."""
    width, scales = RANDOM[kind]
    blocks_in_row = COLUMNS // (32 if width < 100 else 256)
    blocks = rng.integers(0, 256, (ROWS * blocks_in_row, width), dtype=np.uint8)
    for offset in scales:
        values = rng.normal(0, 0.01, len(blocks)).astype(np.float16)
        values[1], values[2] = 0, np.float16(3e-7)
        blocks[:, offset:offset + 2] = values.view(np.uint8).reshape(-1, 2)
    return blocks.reshape(ROWS, blocks_in_row * width)


def tensors(rng: np.random.Generator) -> dict[str, tuple[np.ndarray, Type]]:
    made = {}
    for kind in QUANTISED:
        values = rng.normal(0, 0.05, (ROWS, COLUMNS)).astype(np.float32)
        values[1, :32] = 0
        made[f"quantised.{kind.name}"] = (quants.quantize(values, kind), kind)
    for kind in RANDOM:
        made[f"random.{kind.name}"] = (random_blocks(rng, kind), kind)
    for kind in (Type.F32, Type.F16, Type.BF16):
        values = rng.normal(0, 1, (ROWS, COLUMNS)).astype(np.float32)
        made[f"plain.{kind.name}"] = (values if kind == Type.F32 else quants.quantize(values, kind), kind)
    return made


def write(path, made: dict[str, tuple[np.ndarray, Type]]) -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_uint8("test.u8", 200)
    writer.add_int8("test.i8", -100)
    writer.add_uint16("test.u16", 60000)
    writer.add_int16("test.i16", -30000)
    writer.add_uint32("test.u32", 4_000_000_000)
    writer.add_int32("test.i32", -2_000_000_000)
    writer.add_uint64("test.u64", 2**62)
    writer.add_int64("test.i64", -(2**62))
    writer.add_float32("test.f32", 0.1)
    writer.add_float64("test.f64", 0.1)
    writer.add_bool("test.bool", True)
    writer.add_string("test.string", "Größe 🙂")
    writer.add_array("test.strings", ["a", "", "ß"])
    writer.add_array("test.floats", [0.5, -1.5])
    writer.add_array("test.integers", [3, -4])
    for name, (blocks, kind) in made.items():
        writer.add_tensor(name, blocks, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = tensors(np.random.default_rng(20))
    write(FOLDER / "blocks.gguf", made)
    common.check_size(FOLDER / "blocks.gguf")
    expected = {}
    for name, (blocks, kind) in made.items():
        values = blocks if kind == Type.F32 else quants.dequantize(blocks, kind)
        expected[name] = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
    common.save_tensors(FOLDER / "expected.safetensors", expected)
    common.write_json(FOLDER / "meta.json",
                      {"made_by": "make_gguf.py", "versions": common.versions("gguf", "numpy")})


main()

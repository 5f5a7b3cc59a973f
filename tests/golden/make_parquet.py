# SPDX-License-Identifier: Apache-2.0
"""Parquet files of two writers (pyarrow; fastparquet, which shares no code with it) and their rows as JSON lines, read
back by pyarrow: parquet/*.parquet, parquet/*.jsonl."""

import json

import common
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = common.HERE / "parquet"
FLAT = {
    "instruction": ["a", "", "é🦜 \"x\"\n\\", None, "long " * 50] + [f"question {i}" for i in range(20)],
    "input": [None, "b", None, "", "c"] + [None] * 20,
    "output": ["1", "2", "3", "4", "5"] + ["same"] * 20,
    "score": [0.5, None, 1.0, -2.25, 1e300] + [float(i) for i in range(20)],
    "count": [1, 2, 3, None, 2**40] + list(range(20)),
    "good": [True, False, None, True, False] + [True, False] * 10,
}


def turns(*pairs):
    return [{"role": role, "content": content} for role, content in pairs]


CHAT = {
    "id": [f"row {i}" for i in range(40)],
    "messages": [
        turns(("user", f"q{i}"), ("assistant", f"a{i} " * (i % 7 + 1))) if i % 5 else
        turns(("system", "s"), ("user", "q"), ("assistant", None), ("user", "r"), ("assistant", "é"))
        for i in range(38)
    ] + [[], None],
}


def write_rows(name, table):
    with open(FOLDER / f"{name}.jsonl", "w", encoding="utf-8") as file:
        for row in table.to_pylist():
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def arrow(name, table, rows=None, **options):
    pq.write_table(table, FOLDER / f"{name}.parquet", **options)
    if rows is None:
        write_rows(name, table)


def main():
    FOLDER.mkdir(exist_ok=True)
    flat = pa.table(FLAT)
    for codec in ("none", "snappy", "gzip", "zstd"):
        for version in ("1.0", "2.0"):
            for dictionary in (True, False):
                name = f"flat_{codec}_v{version[0]}_{'dictionary' if dictionary else 'plain'}"
                arrow(name, flat, rows="flat", compression=codec, data_page_version=version, use_dictionary=dictionary,
                      data_page_size=64, row_group_size=11)
    write_rows("flat", flat)
    chat = pa.table(CHAT, schema=pa.schema([("id", pa.string()),
                                            ("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])))]))
    for version in ("1.0", "2.0"):
        arrow(f"chat_v{version[0]}", chat, rows="chat", compression="snappy", data_page_version=version, data_page_size=64,
              row_group_size=17)
    arrow("chat_old_names", chat, rows="chat", compression="zstd", use_compliant_nested_type=False)
    arrow("chat_large", chat.cast(pa.schema([("id", pa.large_string()), ("messages", pa.large_list(
        pa.struct([("role", pa.large_string()), ("content", pa.large_string())])))])), rows="chat", compression="gzip")
    write_rows("chat", chat)
    deep = pa.table({"text": [["a", None], [], None, ["b"]], "tools": [[[1, 2], []], [], None, [None, [3]]]})
    arrow("deep", deep)
    same = pa.table({"text": ["the same text in every row of ninety thousand"] * 90_000})
    arrow("same_90k", same, rows="none", compression="snappy")
    arrow("long_cell", pa.table({"text": ["x" * 10_000_000, "y"]}), rows="none", compression="zstd", use_dictionary=False)
    for encoding in ("DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        arrow(f"refused_{encoding}", pa.table({"text": ["a", "b"]}), rows="none", use_dictionary=False,
              column_encoding={"text": encoding})
    for codec in ("brotli", "lz4"):
        arrow(f"refused_{codec}", pa.table({"text": ["a" * 100, "b"]}), rows="none", compression=codec)
    arrow("empty", pa.table({"text": pa.array([], pa.string())}), rows="none")
    third_party()


def third_party():
    import fastparquet
    import pandas

    frame = pandas.DataFrame({"instruction": ["a", "b"], "output": ["é", "d"]})
    for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"):
        fastparquet.write(str(FOLDER / f"third_party_{codec.lower()}.parquet"), frame, compression=codec, stats=True)
    frame["output"] = frame["output"].astype("category")  # written by dictionary
    fastparquet.write(str(FOLDER / "third_party_dictionary.parquet"), frame)
    many = pandas.DataFrame({"text": pandas.Categorical(["one text"] * 90_000)})
    fastparquet.write(str(FOLDER / "third_party_same_90k.parquet"), many, compression="SNAPPY")
    big = pandas.DataFrame({"text": ["long " * 20_000, "y"]})
    fastparquet.write(str(FOLDER / "third_party_statistics.parquet"), big, compression="GZIP", stats=True)


if __name__ == "__main__":
    main()

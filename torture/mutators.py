"""Changes of whole files that keep their form: a fuzzer that flips bytes hardly gets past a checksum or a bracket."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.random import RandomState

Mutator = Callable[[bytes, RandomState], bytes]
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**12, 10**400, 1e308, 1e-308, "", "\x1b[2J", "=1+1", "\ud800", "x" * 5000,
    [], {}, [[]], {"": {}}, [1, "a", None],
)  # fmt: skip
DTYPES = ("<f8", "<f4", "<i8", "|b1", "<U3", "<U100000", "|S5", "|V8", "|O", "<M8[s]", "<c16", [("a", "<f8")])


def mutate_json(value: Any, rng: RandomState) -> Any:
    """A value with one of its parts changed."""
    if isinstance(value, dict) and value and rng.rand() < 0.9:
        key = sorted(value)[rng.randint(len(value))]
        if rng.rand() < 0.1:
            return {own: part for own, part in value.items() if own != key}
        return {**value, key: mutate_json(value[key], rng)}
    if isinstance(value, list) and value and rng.rand() < 0.9:
        k = rng.randint(len(value))
        if rng.rand() < 0.2:
            return value * rng.randint(0, 50)
        return [*value[:k], mutate_json(value[k], rng), *value[k + 1 :]]
    return ODD[rng.randint(len(ODD))]


def mutate_text(content: bytes, rng: RandomState) -> bytes:
    """CSV with a line, a field or a separator changed."""
    lines = content.split(b"\n")
    k = rng.randint(len(lines))
    fields = lines[k].split(b",")
    j = rng.randint(len(fields))
    odd = (
        b"",
        b'"',
        b'"a\nb"',
        b"nan",
        b"-inf",
        b"1e400",
        b"=1+1",
        b"\x1b[2J",
        b"\xff",
        b"\x00",
        b"9" * 400,
        b"x" * 5000,
    )
    way = rng.randint(6)
    if way == 0:
        fields[j] = odd[rng.randint(len(odd))]
    elif way == 1:
        fields = fields * rng.randint(0, 200)
    elif way == 2:
        lines = [line + b"," + odd[rng.randint(len(odd))] for line in lines]
    elif way == 3:
        lines = lines[:k] + lines[k:] * rng.randint(0, 30)
    elif way == 4:
        return content.replace(b",", (b";", b"\t", b"|", b",,")[rng.randint(4)])
    else:
        del fields[j]
    if k < len(lines):
        lines[k] = b",".join(fields)
    return b"\n".join(lines)


def mutate_json_lines(content: bytes, rng: RandomState) -> bytes:
    lines = content.splitlines() or [b"{}"]
    k = rng.randint(len(lines))
    lines[k] = json.dumps(mutate_json(json.loads(lines[k]), rng)).encode()
    return b"\n".join(lines)


def mutate_array(content: bytes, rng: RandomState) -> bytes:
    """An array of numpy whose header, type or numbers are changed."""
    stream = io.BytesIO(content)
    npy.read_magic(stream)
    shape, _, dtype = npy.read_array_header_1_0(stream)
    rest = stream.read()
    way = rng.randint(3)
    if way == 0:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, -1, 10**6, 2**40], rng.randint(0, 4)))
    descr: Any = DTYPES[rng.randint(len(DTYPES))] if way == 1 else npy.dtype_to_descr(dtype)
    if way == 2 and rest:
        values = np.frombuffer(rest, dtype).copy()
        values.flat[rng.randint(values.size)] = np.array(rng.choice([0, 1, -1, 127]), dtype)
        if dtype.kind == "f":
            values.flat[rng.randint(values.size)] = rng.choice([np.nan, np.inf, 1e308, -1e308, 1e-308])
        rest = values.tobytes()
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"shape": shape, "fortran_order": bool(rng.randint(2)), "descr": descr})
    return file.getvalue() + rest


def mutate_zip(content: bytes, rng: RandomState) -> bytes:
    """An archive of arrays with a member changed, and the checksums and sizes that belong to it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = sorted(members)[rng.randint(len(members))]
    way = rng.randint(8)
    if way == 0:
        members[("../", "", "a/", "x")[rng.randint(4)] + name] = members.pop(name)
    elif way == 1:
        del members[name]
    elif name == "header.npy":
        header = json.loads(npy.read_array(io.BytesIO(members[name])).tobytes())
        text = json.dumps(mutate_json(header, rng)).encode()
        file = io.BytesIO()
        npy.write_array(file, np.frombuffer(text, np.uint8))
        members[name] = file.getvalue()
    else:
        members[name] = mutate_array(members[name], rng)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if rng.randint(2) else zipfile.ZIP_STORED) as archive:
        for own, part in members.items():
            archive.writestr(own, part)
    return file.getvalue()


def mutate_parquet(content: bytes, rng: RandomState) -> bytes:
    """A parquet file of odd columns, one time in two with some bytes changed."""
    del content
    n_rows = int(rng.choice([0, 1, 3, 40]))
    makers: tuple[Callable[[], Any], ...] = (
        lambda: pl.Series(["x" * int(rng.choice([0, 1, 10**5]))] * n_rows, dtype=pl.String),
        lambda: pl.Series([None] * n_rows, dtype=pl.Null),
        lambda: pl.Series(["a"] * n_rows, dtype=pl.Categorical),
        lambda: pl.Series([[1] * int(rng.choice([0, 1, 1000]))] * n_rows, dtype=pl.List(pl.Int64)),
        lambda: pl.Series([{"a": {"b": 1}}] * n_rows),
        lambda: pl.Series([b"\xff"] * n_rows, dtype=pl.Binary),
        lambda: pl.Series(rng.choice([np.nan, np.inf, 1e308, 0.0], n_rows)),
        lambda: pl.Series(rng.randint(2, size=n_rows)).cast(pl.Duration),
    )
    frame = pl.DataFrame([makers[rng.randint(len(makers))]().alias(f"c{k}") for k in range(rng.randint(1, 5))])
    file = io.BytesIO()
    frame.write_parquet(file, compression=("zstd", "snappy", "uncompressed")[rng.randint(3)])
    changed = bytearray(file.getvalue())
    for _ in range(rng.randint(0, 4)):
        changed[rng.randint(len(changed))] = rng.randint(256)
    return bytes(changed)


MUTATORS: dict[str, Mutator] = {
    "model files": mutate_zip,
    "npz files": mutate_zip,
    "json lines": mutate_json_lines,
    "csv files": mutate_text,
    "tables of unknown format": mutate_text,
    "parquet files": mutate_parquet,
}


def mutated(target: str, content: bytes, seed: int) -> bytes | None:
    """A file that was changed and kept its form; None where it has none."""
    if target not in MUTATORS:
        return None
    try:
        with np.errstate(all="ignore"):
            return MUTATORS[target](content, RandomState(seed % 2**32))
    except Exception:  # the bytes have no form any more
        return None

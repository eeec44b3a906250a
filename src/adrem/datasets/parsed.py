"""A cache of parsed data sets, keyed by the checksum of their files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from adrem.datasets.home import cache_home
from adrem.exceptions import InvalidDataError
from adrem.files.archives import read_arrays, write_arrays
from adrem.files.atomic import written_whole
from adrem.files.labelled_rows import CSR_PARTS, Table, checked_csr

VERSION = 1


def parsed_once(name: str, key: str, parse: Callable[[], dict[str, Table]]) -> dict[str, Table]:
    """Return the result of `parse`, from the cache if the same files were parsed before."""
    path = cache_home() / "parsed" / f"{name}-{key[:16]}.npz"
    with contextlib.suppress(Exception):  # absent or damaged: parse again
        return _read(path, key)
    tables = parse()
    with contextlib.suppress(OSError):  # a cache that can't be written only costs time
        _write(path, key, tables)
    return tables


def _write(path: Path, key: str, tables: dict[str, Table]) -> None:
    arrays: dict[str, Any] = {}
    for domain, table in tables.items():
        for part, array in _parts(table).items():
            arrays[f"{domain}/{part}"] = array
    names = next(iter(tables.values())).feature_names
    if names is not None:
        arrays["feature_names"] = _as_bytes("\n".join(names))
    arrays["header"] = _as_bytes(json.dumps({"version": VERSION, "key": key, "domains": list(tables)}))
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        write_arrays(file, arrays, compressed=False)


def _read(path: Path, key: str) -> dict[str, Table]:
    with path.open("rb") as file:
        arrays = read_arrays(file)
    header = json.loads(_as_text(arrays["header"]))
    if header["version"] != VERSION or header["key"] != key:
        raise InvalidDataError("parsed from another file, or by another version")
    names = _as_text(arrays["feature_names"]).split("\n") if "feature_names" in arrays else None
    return {domain: _table(arrays, domain, names) for domain in header["domains"]}


def _parts(table: Table) -> dict[str, NDArray[Any]]:
    parts = {} if table.y is None else {"y": table.y}
    if sp.issparse(table.X):
        return parts | {part: np.asarray(getattr(table.X, part)) for part in CSR_PARTS}
    return {**parts, "X": table.X}


def _table(arrays: dict[str, NDArray[Any]], domain: str, names: list[str] | None) -> Table:
    y = arrays.get(f"{domain}/y")
    if f"{domain}/X" in arrays:
        return Table(arrays[f"{domain}/X"], y, names)
    return Table(checked_csr(*(arrays[f"{domain}/{part}"] for part in CSR_PARTS)), y, names)


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _as_text(array: NDArray[Any]) -> str:
    return array.tobytes().decode()

"""Zip archives of plain arrays, as numpy saves them, from strangers: nothing is believed and nothing is run."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Mapping
from gzip import GzipFile
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from adrem._memory import available_memory, size_of

MOST_MEMBERS = 1000
PART = 1 << 24
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


class PythonObjectsError(ValueError):
    """An array of Python objects, which could run code when read; `args` has its name."""


class TooLargeError(MemoryError):
    """What is packed takes more memory than it may."""


def write_arrays(file: IO[bytes], arrays: Mapping[str, Any], *, compressed: bool) -> None:
    """Arrays by their names, as np.savez does, which in numpy 1 leaves the archive open after an error."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(file: IO[bytes], most_bytes: float = math.inf) -> dict[str, NDArray[Any]]:
    """All arrays of an archive by their names, once its own figures of their sizes were found to fit.

    An archive can't say little and hold much: no more is unpacked than it says.
    """
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MOST_MEMBERS or len({member.filename for member in members}) < len(members):
            raise ValueError("it has a thousand members or more, or several of one name")
        needed, free = sum(member.file_size for member in members), available_memory()
        if needed > most_bytes or 2 * needed > free:  # half of it for what is made on the way
            limit = f"the limit is {size_of(most_bytes)}" if needed > most_bytes else f"{size_of(free)} are free"
            raise TooLargeError(f"its arrays take {size_of(needed)}, and {limit}")
        return {member.filename.removesuffix(".npy"): _read_member(archive, member) for member in members}


def read_bounded(stream: IO[bytes] | GzipFile, name: str) -> bytes:
    """All that a packed stream holds, unless that is more than fits: a small file may hold very much."""
    most = available_memory() / 3  # the parts, the whole, and what is made of it
    parts, n_bytes = [], 0
    with stream:
        while part := stream.read(PART):
            n_bytes += len(part)
            if n_bytes > most:
                raise TooLargeError(f"{name} unpacks to more than {size_of(most)}, a third of the memory that is free.")
            parts.append(part)
    return b"".join(parts)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    if not member.filename.endswith(".npy") or member.compress_type not in PLAIN:
        raise ValueError(f"{member.filename!r} is no array as numpy saves it")
    with archive.open(member) as stream:
        shape, by_columns, dtype = _HEADERS[npy.read_magic(stream)](stream)
        if dtype.hasobject:
            raise PythonObjectsError(member.filename.removesuffix(".npy"))
        n_bytes = math.prod(shape) * dtype.itemsize
        if dtype.itemsize == 0 or min(shape, default=0) < 0 or stream.tell() + n_bytes != member.file_size:
            raise ValueError(f"{member.filename!r} does not have the size that it says")
        content = bytearray()
        while part := stream.read(min(PART, n_bytes - len(content) + 1)):  # all at once is unpacked as far as it goes
            content += part  # one byte more than there are, to the end, where the checksum is compared
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")
